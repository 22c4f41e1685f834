"""Whether two statements are about one subject: what they share beside values and the words of grammar."""

from __future__ import annotations

import re

from pipimem.text.han import HAN_CHARACTER
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import words_said
from pipimem.text.similarity import SAME_SUBJECT, bigrams, share_in
from pipimem.text.weekdays import WEEKDAY_EN, WEEKDAY_ZH

# What a newer value changes: numbers, dates, days.
_VALUE = Pattern(
    rf"\d+(?:[-:/.,]\d+)*|\b{WEEKDAY_EN}s?\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    rf"|{WEEKDAY_ZH}|[一二三四五六七八九十两]+[点号日月年]",
    re.IGNORECASE,
)
# The commonest words of any sentence; rarer ones of grammar hardly count among the pairs of a text.
_GRAMMAR = Pattern(
    r"\b(?:the|an?|is|are|was|were|be|been|to|of|in|on|at|for|and|or|with|by|it|its|this|that|has|have|had|will|from|as"
    r"|not|no|until|since)\b|[的了是在和与及也都把被]",
    re.IGNORECASE,
)
_LATIN = Pattern(r"[A-Za-z]")


def same_subject(old: str, new: str) -> bool:
    """Whether `new` may be a newer word on what `old` says, in one language; two that only share a date may not."""
    return share_in(_matter(old), _matter(new)) >= SAME_SUBJECT


def same_script(a: str, b: str) -> bool:
    """Whether both are Chinese or neither is: letters can tell nothing of two texts in different scripts."""
    return _is_chinese(a) is _is_chinese(b)


def _is_chinese(text: str) -> bool:
    # A Chinese word is about two characters, an English one about five.
    return 5 * len(HAN_CHARACTER().findall(text)) > 2 * len(_LATIN().findall(text))


def _matter(text: str) -> frozenset[str]:
    return bigrams(_GRAMMAR().sub(" ", _VALUE().sub(" ", words_said(text))))
