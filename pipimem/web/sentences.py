"""Sentences of pipimem's, which are English, in the language of a page."""

from __future__ import annotations

import re
from functools import cache

from pipimem.resources import web_sentences, web_texts

_SLOT = re.compile(r"\{(\w+)\}")
# A part of a sentence is looked up in its turn: why a job failed, what is on a line of a file.
_DEEPEST = 3
# A longer text quotes somebody: to try all ways in which it may fall into parts takes too long.
_LONGEST = 600


def sentence(text: str, language: str, depth: int = 0) -> str:
    """A sentence in this language; as it is where `data/web/sentences-*.toml` does not have it."""
    if depth > _DEEPEST or len(text) > _LONGEST:
        return text
    for pattern, translated in _patterns(language):
        found = pattern.fullmatch(text)
        if found is not None:
            parts = found.groupdict()
            return translated.format_map(
                {name: _part(name, part, language, depth) for name, part in parts.items()}
            )
    return text


def _part(name: str, text: str, language: str, depth: int) -> str:
    """A part of a sentence; that of the name of a job or task is called as the pages call it."""
    if name == "task":
        return web_texts(language)["task"].get(text, text)
    return sentence(text, language, depth + 1)


@cache  # the texts travel with the package and do not change while it runs
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The sentences as patterns, those with the most words of their own first."""
    texts = web_sentences(language)
    pairs = [pair for group in texts.values() for pair in group.items()]
    pairs.sort(key=lambda pair: -len(_SLOT.sub("", pair[0])))
    return tuple((_pattern(english), translated) for english, translated in pairs)


def _pattern(english: str) -> re.Pattern[str]:
    parts = _SLOT.split(english)
    words = [re.escape(part) for part in parts[::2]]
    slots = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    whole = "".join(word + slot for word, slot in zip(words, [*slots, ""], strict=True))
    return re.compile(whole, re.DOTALL)
