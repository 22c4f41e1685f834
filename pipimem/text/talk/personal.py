"""Wishes and health: what a sentence asks of the bot for good, or says of a person's health.

The patterns stand in `data/rules/personal.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.talk.sentence_rules import matches, rules, without_quotes

# The same entries are asked about each time that notes change.
_TEXTS_READ = 8192
# A longer text is a page that somebody pasted.
_LONGEST = 320
_CLAUSE_END = Pattern(rf"[,，;；。！!？?…—\n]+\s*|\.(?=\s|$)\s*|(?<=[{HAN}])\s+(?=[{HAN}])")
_SUBJECTS = "about "


@lru_cache(maxsize=_TEXTS_READ)
def is_wish(text: str, *, in_question: bool = False) -> bool:
    """Return whether a sentence asks something of the bot for good.

    Of a question only a sentence counts that says so ("could you always …?").
    """
    if not 0 < len(text) <= _LONGEST:
        return False
    plain = without_quotes(text)
    is_found = _is("wish for good", plain) or (not in_question and _is("wish", plain))
    return is_found and not matches("personal", "once", text)


@lru_cache(maxsize=_TEXTS_READ)
def health_statement(text: str) -> str:
    """Return the stretch of a sentence that states a person's health; empty where none does.

    Of a question ("I'm allergic to peanuts, can we skip the satay?") that is the clause that asks
    nothing.
    """
    if len(text) > _LONGEST or not names_health(text):
        return ""
    if matches("left_out", "imagined", text) or matches("personal", "no health", text):
        return ""
    spans = [(start, end) for start, end, clause in _clauses(text) if _states_health(clause)]
    return text[spans[0][0] : spans[-1][1]].strip() if spans else ""


def _is(section: str, text: str) -> bool:
    """Return whether a pattern of a section fits; those for Chinese are tried where it may be."""
    if matches("personal", section, text):
        return True
    return not text.isascii() and matches("personal", f"chinese {section}", text)


def _states_health(clause: str) -> bool:
    if not names_health(clause) or not matches("personal", "somebody", clause):
        return False
    return not matches("left_out", "question", clause)


def names_health(text: str) -> bool:
    """Return whether a text names something of health, whoever has it and whether it asks."""
    return _is("health", text)


def wish_subject(text: str) -> str:
    """Return what a wish is about, of which a person has one; empty where that is not known.

    Only a wish that says nothing else has a subject: "no emojis in release notes" has none.
    """
    bare = text if len(text) <= _LONGEST else ""
    for rule in rules("personal")["around a wish"]:
        bare = rule.pattern.sub("", bare)
    names = [name for name in rules("personal") if name.startswith(_SUBJECTS)]
    about = (name for name in names if matches("personal", name, bare))
    return next(about, "").removeprefix(_SUBJECTS)


def _clauses(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each clause starts and ends, and its words; a closing "?" belongs to it."""
    plain, start = without_quotes(text), 0
    for end in (*_CLAUSE_END().finditer(plain), None):
        words_end = end.start() if end else len(plain)
        sign = end[0].strip() if end and "?" in end[0].replace("？", "?") else ""
        yield start, words_end, plain[start:words_end] + sign
        start = end.end() if end else len(plain)
