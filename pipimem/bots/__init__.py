"""Bots on platforms of chat, a package for each; their libraries are extras."""
