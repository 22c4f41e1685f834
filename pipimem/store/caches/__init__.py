"""Files that only save time: each is used if it is whole and fits, and may be deleted."""
