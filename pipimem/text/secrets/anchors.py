"""Find the rules whose hint stands in a text: thousands of positions are passed over at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct

from pipimem import resources
from pipimem.text.secrets.keys import formats
from pipimem.text.secrets.normalized import Normalized
from pipimem.text.word_lists import HintedPattern


class Cue(Struct, frozen=True):
    """A word that announces a secret, and the expression for it with its ending."""

    kind: str
    pattern: re.Pattern[str]


Rule = HintedPattern | Cue


class _Pass(Struct, frozen=True):
    """One expression for many hints; its longest hint stands for those that begin it."""

    pattern: re.Pattern[str]
    rules: dict[str, tuple[Rule, ...]]


def anchored(lowered: str) -> Iterator[tuple[int, Rule]]:
    """Yield each rule whose hint begins in a text in lower case, with its index."""
    lowered = "\n" + lowered  # a character stands before every word
    for search in _passes():
        for found in search.pattern.finditer(lowered):
            for rule in search.rules[found[1]]:
                yield found.start(1) - 1, rule


def cues() -> Iterator[tuple[str, Cue]]:
    """Yield the words of `spoken.txt`, with `*` where letters may stand in front."""
    for kind, lines in resources.sections("secrets/spoken").items():
        for line in lines if kind not in ("links", "places", "no places") else ():
            word = Normalized(line.strip("*+")).lowered
            source = re.escape(word) + (r"[^\W\d_]{0,3}" if line.endswith("+") else "")
            if len(word) == len("sk"):  # "sk-…" is a format
                source += "(?!-)"
            if word[-1].isascii():
                source += r"(?![a-z])(?![-_][a-z]{3})"
            yield "*" * line.startswith("*") + word, Cue(kind, re.compile(source))


@cache
def _passes() -> tuple[_Pass, ...]:
    """Return the searches: at the beginning of words, inside words, and of other scripts.

    A search for 700 words one after another would cost 3 ms for 4 KB of chat.
    """
    groups: tuple[dict[str, list[Rule]], ...] = ({}, {}, {})
    hinted: list[tuple[str, Rule]] = [(hint, found) for found in formats() for hint in found.hints]
    for hint, rule in (*hinted, *cues()):
        group = 1 if hint[0] == "*" else 0 if hint[0].isascii() else 2
        groups[group].setdefault(hint.lstrip("*"), []).append(rule)
    around = ("[^a-z0-9](?=({}))", "({})", "({})")
    return tuple(map(_pass, around, groups))


def _pass(around: str, rules: dict[str, list[Rule]]) -> _Pass:
    with_shorter = {
        hint: tuple(rule for size in range(len(hint), 0, -1) for rule in rules.get(hint[:size], ()))
        for hint in rules
    }
    return _Pass(re.compile(around.replace("{}", _alternatives(rules))), with_shorter)


def _alternatives(words: Iterable[str]) -> str:
    """Return an expression for the longest of the words, which branches at each character once."""
    below: dict[str, list[str]] = {}
    for word in words:
        below.setdefault(word[:1], []).append(word[1:])
    ends = "" in below
    branches = [
        re.escape(sign) + _alternatives(rest) for sign, rest in sorted(below.items()) if sign
    ]
    return (f"(?:{'|'.join(branches)})" + ("?" if ends else "")) if branches else ""
