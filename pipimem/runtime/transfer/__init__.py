"""Moving in and moving out: exports, and imports from archives and from other programs."""
