"""A quote: what somebody said in their own words, with who said it and on which day in front.

`Tom (2026-11-12): we never deploy on Fridays`, `林晓（2026-11-12）：以后周五下午不开会`. The day in
front settles every relative day behind it. Who and when are no part of what is said: texts are
compared without them.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from pipimem.text.characters import is_chinese
from pipimem.text.patterns import Pattern

# A name as chats have them, up to a line of them; no bracket or colon may stand in it.
_PREFIX = Pattern(
    r"\s{0,3}(?:[-*+]\s)?(?P<name>[^()（）:：\n]{1,80}?)\s?"
    r"[(（](?P<day>(?:19|20)\d\d-\d\d-\d\d)[)）]\s?[:：]\s*(?=\S)"
)
_FIRST_PERSON = Pattern(
    r"\b(?:i|i['’]\w+|me|my|mine|myself)\b|我(?!们)|本人|咱(?!们)|俺", re.IGNORECASE
)


class QuoteParts(NamedTuple):
    """Who said it, the day as it is written, and the words."""

    name: str
    day: str
    said: str


def quoted(name: str, day: date | None, said: str) -> str:
    """The words with who and when in front, in the signs of their language.

    Without a day the name alone.
    """
    if is_chinese(said):
        return f"{name}（{day:%Y-%m-%d}）：{said}" if day else f"{name}：{said}"
    return f"{name} ({day:%Y-%m-%d}): {said}" if day else f"{name}: {said}"


def read_quote(text: str) -> QuoteParts:
    """A text taken apart; name and day are empty where it does not begin with both."""
    found = _PREFIX().match(text)
    if found is None:
        return QuoteParts("", "", text)
    return QuoteParts(found["name"].strip(), found["day"], text[found.end() :])


def words_said(text: str) -> str:
    """The text without who and when."""
    return read_quote(text).said


def of_different_people(one: QuoteParts, other: QuoteParts) -> bool:
    """Whether two quotes are by two people, and one of them speaks of itself.

    The same words are two facts then.
    """
    if not one.name or not other.name or one.name == other.name:
        return False
    return speaks_of_itself(one.said) or speaks_of_itself(other.said)


def speaks_of_itself(said: str) -> bool:
    """Whether the words are in the first person of one ("I", 我), not of several."""
    return _FIRST_PERSON().search(said) is not None


def begins_with_itself(said: str, name: str = "") -> bool:
    """Whether the words begin in the first person of one, or with the `name` of who said them."""
    plain = said.lstrip(" \t“\"「'")
    found = _FIRST_PERSON().match(plain)
    return found is not None or (bool(name) and plain.casefold().startswith(name.casefold()))


def day_of(text: str) -> date | None:
    """The day a quote was said, `None` where the text is no quote or the day is impossible."""
    try:
        return date.fromisoformat(read_quote(text).day)
    except ValueError:  # none, or 2026-02-30, typed by hand
        return None
