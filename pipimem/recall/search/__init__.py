"""Search on purpose over a whole transcript: an index, a formula and a table of words of its own."""
