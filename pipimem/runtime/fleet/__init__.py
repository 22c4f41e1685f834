"""Idle work of a workspace that several hosts share; nothing of it loads on one host."""
