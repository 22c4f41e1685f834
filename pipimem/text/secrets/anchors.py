"""Find the rules whose hint stands in a text: thousands of positions are passed over at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from msgspec import Struct

from pipimem import resources
from pipimem.text.secrets.folding import Folded
from pipimem.text.secrets.keys import formats
from pipimem.text.word_lists import HintedPattern

_ENDING = r"[^\W\d_]{0,3}"
_NO_CUES = ("links", "places", "no places")


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
        if kind in _NO_CUES:
            continue
        for line in lines:
            word = Folded(line.strip("*+")).lowered
            source = re.escape(word) + (_ENDING if line.endswith("+") else "")
            if word[-1].isascii():
                source += r"(?![a-z])(?!-[a-z]{4})"
            yield ("*" if line[0] == "*" else "") + word, Cue(kind, re.compile(source))


@cache
def _passes() -> tuple[_Pass, ...]:
    """Return the searches: at the beginning of words, inside words, and of other scripts.

    A search for 700 words one after another would cost 3 ms for 4 KB of chat.
    """
    word: dict[str, list[Rule]] = {}
    inside: dict[str, list[Rule]] = {}
    other: dict[str, list[Rule]] = {}
    rules: Iterable[tuple[str, Rule]] = chain(
        ((hint, rule) for rule in formats() for hint in rule.hints), cues()
    )
    for hint, rule in rules:
        group = inside if hint[0] == "*" else word if hint[0].isascii() else other
        group.setdefault(hint.lstrip("*"), []).append(rule)
    return _pass("[^a-z0-9](?=({}))", word), _pass("({})", inside), _pass("({})", other)


def _pass(around: str, rules: dict[str, list[Rule]]) -> _Pass:
    with_shorter: dict[str, tuple[Rule, ...]] = {}
    for hint in rules:
        beginnings: Sequence[list[Rule]] = [
            rules[hint[:size]] for size in range(len(hint), 0, -1) if hint[:size] in rules
        ]
        with_shorter[hint] = tuple(chain.from_iterable(beginnings))
    return _Pass(re.compile(around.replace("{}", _alternatives(rules))), with_shorter)


def _alternatives(words: Iterable[str]) -> str:
    """Return an expression for the longest of the words, which branches at each character once."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return _branches(root)


def _branches(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    branches = [re.escape(sign) + _branches(below) for sign, below in sorted(node.items()) if sign]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in node else "")
