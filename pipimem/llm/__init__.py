"""Requests to language models: admission by budgets, retries, costs, and errors."""
