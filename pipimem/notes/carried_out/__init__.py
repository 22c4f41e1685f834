"""What each operation does to the text it is about."""
