"""The model door: what memory may ask, and who answers."""
