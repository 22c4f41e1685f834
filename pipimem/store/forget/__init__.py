"""A text removed from everything, and the proof that nothing is left."""
