"""How well recall and search find things, how long they take, and what each part gives."""
