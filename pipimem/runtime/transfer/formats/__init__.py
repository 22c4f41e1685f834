"""What other programs keep, read: one format a file, which writes nothing."""
