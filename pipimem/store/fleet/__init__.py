"""What several hosts that share a workspace agree on in a database; never loaded on one host."""
