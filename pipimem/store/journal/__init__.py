"""The journal of a channel, and all that can be read out of it."""
