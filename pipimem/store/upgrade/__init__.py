"""Takes a channel of format 1 or 2 over, whose state lay in a journal and files beside it."""
