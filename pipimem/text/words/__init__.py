"""Words of a text as they are indexed and compared."""
