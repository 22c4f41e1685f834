"""A person saves while a bot works and is killed, and what is lost."""
