"""Pure functions on strings: Markdown, words, dates, secrets, the fence."""
