"""Whatever pipimem does beside its host raises, and whether the host lives."""
