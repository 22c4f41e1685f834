"""The system calls of the store, and what is built on one file at a time."""
