"""Faults at every file call of every journey, and what a fresh process finds afterwards."""
