"""One table of what this code does and costs, beside another commit of it."""
