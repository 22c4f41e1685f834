"""Texts that people and pipimem changed at the same time, brought together."""
