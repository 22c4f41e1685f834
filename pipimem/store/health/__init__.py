"""What can be wrong with a workspace, one kind of check a file; looking writes nothing."""
