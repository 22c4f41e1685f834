"""The notes of a channel, and what can be done to them, as pure values."""
