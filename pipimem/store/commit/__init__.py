"""A commit: the freshest texts, what a person changed in them, and all files in their places."""
