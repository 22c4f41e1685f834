"""The messages of a channel as `search`, `timeline` and `detail` read and tell them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

from pipimem.cli.candidates import plain_id
from pipimem.cli.options import Chosen
from pipimem.cli.printing import fields, progress, say
from pipimem.recall.items import Item
from pipimem.recall.search.excerpts import headed
from pipimem.runtime.library import Library
from pipimem.text.secrets import redacted
from pipimem.text.tokens import clipped, estimate

# Five messages of a timeline are about 200 tokens.
_CHARS = 200
# A bar that is gone again at once only flickers.
_SECONDS = 1.0


@contextmanager
def library(chosen: Chosen) -> Iterator[Library]:
    """Transcripts and archives to be searched, with a bar where reading them takes long; their indexes are kept."""
    begun, stack = time.monotonic(), ExitStack()
    bars: list[Callable[[int], None]] = []

    def report(read: int, newest: int) -> None:
        if read == newest:
            stack.close()
            bars.clear()
        elif not bars and time.monotonic() - begun > _SECONDS:
            bars.append(stack.enter_context(progress("indexing what was said", newest)))
        for bar in bars:
            bar(read)

    with stack:
        found = Library(chosen.store(), archive=True, report=report)
        yield found
        found.keep()


def passage_json(item: Item, *, whole: bool = False) -> dict[str, object]:
    """One message for scripts; `tokens` is what all of it costs."""
    text = redacted(item.text)
    return {
        "id": plain_id(item),
        **fields(item, "when", "speaker", "role"),
        "content": text if whole else _short(text),
        "tokens": estimate(text),
    }


def passage_text(items: Iterable[Item], asked: str = "", *, whole: bool = False) -> None:
    """Messages for eyes, a line each with its id; the one that was asked for is marked."""
    for item in items:
        text = redacted(item.text)
        mark = ">" if item.id == asked else " "
        say(f"{mark} {plain_id(item)}  {headed(item, text if whole else _short(text))}")


def tokens_of(items: Iterable[Item]) -> int:
    """About what a timeline of these messages costs."""
    return sum(estimate(headed(item, _short(item.text))) for item in items)


def _short(text: str) -> str:
    return clipped(" ".join(text.split()), _CHARS)
