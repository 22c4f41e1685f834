"""Search on purpose over a whole transcript, with an index and a formula of its own."""
