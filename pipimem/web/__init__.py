"""The memory of a workspace as pages in a browser."""
