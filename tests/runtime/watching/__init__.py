"""The watch on the files, and where it would hear nothing."""
