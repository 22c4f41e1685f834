"""Memory for agent frameworks, a module for each. Their libraries are extras, and load on use."""
