"""Names of people in a text, replaced by placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipimem.text.characters import HAN, has_han

# A letter or digit of any script but Chinese, where words stand without blanks between them.
_LETTER = rf"[^\W{HAN}]"


def without_names(text: str, placeholders: Mapping[str, str]) -> str:
    """The text with each name replaced by its placeholder, also inside Chinese text.

    Longer names go first; `Tom` is no part of `tomorrow`. Capitals make no difference.
    """
    names = sorted(filter(str.strip, placeholders), key=len, reverse=True)
    if not names:
        return text
    folded = {name.casefold(): placeholders[name] for name in names}
    pattern = re.compile("|".join(map(_bounded, names)), re.IGNORECASE)
    return pattern.sub(lambda found: folded.get(found[0].casefold(), "[?]"), text)


def _bounded(name: str) -> str:
    """The pattern of a name: as a word of its own, unless it is Chinese."""
    if has_han(name):
        return re.escape(name)
    return rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})"
