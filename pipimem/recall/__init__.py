"""What of a memory matters for a message."""
