"""Raced saves: people and bots at one file, and what is lost."""
