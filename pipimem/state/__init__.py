"""The database of a channel or a workspace: texts, changes, records, usage."""
