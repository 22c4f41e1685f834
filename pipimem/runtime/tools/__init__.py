"""Tools by which a bot's model searches and changes the memory of a conversation."""
