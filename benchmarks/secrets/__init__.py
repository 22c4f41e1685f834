"""How many known kinds of secrets are masked whole, and how many ordinary lines are left alone."""
