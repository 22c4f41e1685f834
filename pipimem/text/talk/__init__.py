"""What people say, by its language alone: sentences, what they ask, what belongs together."""
