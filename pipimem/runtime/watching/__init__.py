"""Watching the files: what tells that somebody may have changed a channel, by the system it runs on."""
