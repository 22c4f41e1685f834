"""The disk door: the only code that touches a workspace's files."""
