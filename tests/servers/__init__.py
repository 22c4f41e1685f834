"""Servers for the tests, on loopback."""
