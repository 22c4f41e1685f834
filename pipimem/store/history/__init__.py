"""Looking back: who wrote each entry, and one change or all since a moment undone."""
