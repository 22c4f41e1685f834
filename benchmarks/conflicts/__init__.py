"""Pairs of entries that contradict each other, or only look alike, and how many are told apart."""
