"""Items as a model reads them: lines grouped by file and section, in one fenced block."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pipimem.recall.items import Item, Source
from pipimem.text.fence import NOTE, bracketed, bullet, escaped, fenced
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted
from pipimem.text.token_count import clipped

# What is remembered stands under its file, what was only said under the transcript.
_FILES = {
    Source.SESSION: "SESSION",
    Source.MEMORY: "MEMORY",
    Source.WORKSPACE: "shared MEMORY",
    Source.HISTORY: "HISTORY",
    Source.LOG: "transcript",
}
# A name or a heading is shown as far as this.
NAME_CHARS = 80
# A text is masked when it is measured and when it is shown: a turn has 8 entries and 24 excerpts.
_MASKED_TEXTS = 64


def context_block(
    items: Iterable[Item],
    key: bytes,
    *,
    note: str = NOTE,
    left_out: int = 0,
    dated: bool = True,
) -> str:
    """The block that holds items, its tag a hash under the channel's `key`; empty without items.

    Sections stand in the order of their first item. `dated` puts the day before a text that names
    none; `left_out` is told in the last line.
    """
    sections: dict[str, list[str]] = {}
    for item in items:
        sections.setdefault(heading_of(item), []).append(line_of(item, dated=dated))
    if not sections:
        return ""
    end = f"({left_out} more not shown)" if left_out else ""
    return fenced(sections.items(), key, note, end)


def heading_of(item: Item) -> str:
    """The file and section that an item is shown under, a secret in its heading masked."""
    file = _FILES[item.source]
    return f"{file}: {clipped(_masked(item.section), NAME_CHARS)}" if item.section else file


def lines_of(item: Item, *, headed: bool = True, dated: bool = True) -> str:
    """What an item adds to a block, as it stands there: its lines, `headed` below their heading."""
    lines = bullet(line_of(item, dated=dated)) + "\n"
    if headed:
        lines = f"{bracketed(heading_of(item))}\n{lines}"
    return escaped(lines)


def line_of(item: Item, *, dated: bool = True) -> str:
    """The text of an item, with who said it, and the day, where the text does not tell.

    A secret that a person typed into a file is masked.
    """
    text, speaker = _masked(item.text), clipped(_masked(item.speaker), NAME_CHARS)
    if item.source is Source.LOG:
        return f"{speaker or item.role}{_minute(item)}: {text}"
    about = []
    if item.speaker and item.speaker not in text:
        about.append(speaker)
    # A block of history has its day in its heading, a quote in front of its words.
    if dated and item.when and item.source is Source.MEMORY and not read_quote(text).day:
        about.append(f"{item.when:%Y-%m-%d}")
    return f"({', '.join(about)}) {text}" if about else text


def _minute(item: Item) -> str:
    return f" {item.when:%H:%M}" if item.when else ""


@lru_cache(maxsize=_MASKED_TEXTS)
def _masked(text: str) -> str:
    return redacted(text)
