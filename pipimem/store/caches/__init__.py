"""Files that only save time: each is believed when whole and fitting, and may be deleted."""
