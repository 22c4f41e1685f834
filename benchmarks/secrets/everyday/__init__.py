"""Sentences as people type them, and formats of keys as providers document them."""
