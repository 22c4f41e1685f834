"""The transcript of a channel: its file, and readers that go on where they stopped."""
