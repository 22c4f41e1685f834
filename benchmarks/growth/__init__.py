"""How the time of every public call grows with what people paste."""
