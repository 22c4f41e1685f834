"""Answers of models: the JSON in them, decoded strictly."""
