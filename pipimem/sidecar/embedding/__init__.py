"""Texts as vectors: what an embedder is, and the two that come with pipimem."""
