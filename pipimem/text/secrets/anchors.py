"""Where in a text a rule may begin: each hint of each rule, found in three passes over the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from pipimem.text.hinted_patterns import HintedPattern, hinted

FILES = ("secrets/key_formats", "secrets/contexts", "secrets/announcements")
"""The rules that are tried where one of their hints begins."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One expression for many hints; its longest hint stands for those that begin it."""

    pattern: re.Pattern[str]
    rules: dict[str, tuple[tuple[str, HintedPattern], ...]]


def anchored(text: str, lowered: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """The rules that match where a hint stands: the file, the kind, the match.

    `lowered` is the text in lower case, character by character.
    """
    lowered = "\n" + lowered  # what stands before a word is then always a character
    # How far a rule matched: a run of a thousand prefixes is one match, not a thousand.
    reached: dict[HintedPattern, int] = {}
    for one in _passes():
        for found in one.pattern.finditer(lowered):
            start = found.start(1) - 1
            for name, rule in one.rules[found[1]]:
                if start < reached.get(rule, 0):
                    continue
                match = rule.pattern().match(text, start)
                if match is not None:
                    reached[rule] = match.end()
                    yield name, rule.kind, match


@cache
def _passes() -> tuple[_Pass, ...]:
    """A search for 300 words one after another costs 1 ms for 4 KB of chat.

    So: those at the beginning of a word, which few positions are; the few that stand inside words;
    those in Chinese, whose characters are rare in code.
    """
    word: dict[str, list[tuple[str, HintedPattern]]] = {}
    inside: dict[str, list[tuple[str, HintedPattern]]] = {}
    han: dict[str, list[tuple[str, HintedPattern]]] = {}
    for name in FILES:
        for rule in hinted(name, "(?i:{})" if name.endswith("announcements") else "{}"):
            for hint in rule.hints:
                if hint[0] == "*":
                    place = inside
                elif hint[0].isascii():
                    place = word
                else:
                    place = han
                place.setdefault(hint.lstrip("*"), []).append((name, rule))
    return (
        _pass("[^a-z0-9](?=({}))", word),
        _pass("({})", inside),
        _pass("({})", han),
    )


def _pass(around: str, rules: dict[str, list[tuple[str, HintedPattern]]]) -> _Pass:
    with_shorter: dict[str, tuple[tuple[str, HintedPattern], ...]] = {}
    for hint in rules:
        beginnings = [rules[other] for other in rules if hint.startswith(other)]
        with_shorter[hint] = tuple(chain.from_iterable(beginnings))
    return _Pass(re.compile(around.replace("{}", _alternatives(rules))), with_shorter)


def _alternatives(words: Iterable[str]) -> str:
    """An expression for the longest of the words, which branches at each character once."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return _branches(root)


def _branches(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    branches = [re.escape(one) + _branches(below) for one, below in sorted(node.items()) if one]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in node else "")
