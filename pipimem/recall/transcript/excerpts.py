"""A message made short: from the sentence on that holds most of the words that were asked for."""

from __future__ import annotations

from collections.abc import Collection

from pipimem.recall.context_block import NAME_CHARS
from pipimem.recall.items import Item, Source
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import read_quote
from pipimem.text.token_count import ELLIPSIS, clipped
from pipimem.text.words.index_words import Words

# About 60 tokens of English and of Chinese: with id, time and speaker a hit takes 50 to 100.
_LATIN_CHARS, _HAN_CHARS = 220, 80
# Above this share of other letters a text is Chinese, whose characters are words.
_MOSTLY_HAN = 0.3
_SENTENCES = Pattern(r"[^。！？!?\n.]+(?:[。！？!?\n.]+[”’\"'）)]*\s*|\Z)")


def excerpt(text: str, wanted: Collection[str], words: Words, times: int = 1) -> str:
    """A short text as it is; of a longer one, as much as fits `times` the room of a list's line.

    It begins at the sentence that holds most of the wanted words.
    """
    text = " ".join(text.split())
    room = times * chars_for(text)
    if len(text) <= room:
        return text
    start = _start(text, wanted, words)
    # Near the end of a message: what stands before it says more than an empty line.
    if len(text) - start < room // 2:
        start = max(0, len(text) - room)
    return (ELLIPSIS if start else "") + clipped(text[start:], room)


def headed(item: Item, text: str) -> str:
    """A text under when it was said and by whom; a quote says that itself."""
    if read_quote(text).name:
        return text
    clock = "%Y-%m-%d" if item.source is Source.SESSION or item.by_day else "%Y-%m-%d %H:%M"
    when = f"{item.when:{clock}}" if item.when else ""
    who = clipped(item.speaker, NAME_CHARS) or item.role
    head = " ".join(part for part in (when, who) if part)
    return f"{head}: {text}" if head else text


def chars_for(text: str) -> int:
    """How many characters of such a text an index shows."""
    han = sum(not character.isascii() for character in text)
    return _HAN_CHARS if han > _MOSTLY_HAN * len(text) else _LATIN_CHARS


def _start(text: str, wanted: Collection[str], words: Words) -> int:
    best, start, asked = 0, 0, frozenset(wanted)
    for sentence in _SENTENCES().finditer(text):
        shared = len(asked.intersection(words.words(sentence[0])))
        if shared > best:
            best, start = shared, sentence.start()
    return start
