"""What people say around a secret, by its heading in data/secrets/phrases.txt."""

from __future__ import annotations

from pipimem import resources


def phrases(heading: str) -> str:
    """The alternatives under a heading as one piece of an expression: `a|b|c`."""
    return "|".join(resources.sections("secrets/phrases")[heading])
