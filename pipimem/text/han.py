"""The range of Chinese characters, for all patterns and questions about them."""

from __future__ import annotations

from pipimem.text.patterns import Pattern

# To stand between brackets: 々 and 〇, the unified ideographs with extension A, those for compatibility, and all
# beyond the basic plane.
HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"

HAN_CHARACTER = Pattern(rf"[{HAN}]")


def has_han(text: str) -> bool:
    """Whether there is a Chinese character in a text."""
    return not text.isascii() and HAN_CHARACTER().search(text) is not None
