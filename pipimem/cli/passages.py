"""Messages one after the other, as `timeline`, `detail` and `search --smart` tell them."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.cli.candidates import plain_id
from pipimem.cli.printing import say
from pipimem.recall.items import Item
from pipimem.recall.search.excerpts import headed
from pipimem.text.secrets import redacted
from pipimem.text.tokens import clipped, estimate

# Five messages of a timeline are about 200 tokens.
_CHARS = 200


def passage_json(item: Item, *, whole: bool = False) -> dict[str, object]:
    """One message for scripts; `tokens` is what all of it costs."""
    text = redacted(item.text)
    return {
        "id": plain_id(item),
        "when": item.when.isoformat(timespec="seconds") if item.when else None,
        "speaker": item.speaker,
        "role": item.role,
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
