"""Whether questions can be answered from what memory supplies."""
