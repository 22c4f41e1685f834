"""What was found or said, as commands show it: a table of hits, lines of messages, both as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from pipimem.cli.options import BatchQuery
from pipimem.cli.output import counted, fields, one_line, record, say, table
from pipimem.runtime.recall_preview import (
    Candidate,
    Item,
    Recall,
    SearchHit,
    Source,
    explained,
    headed,
)
from pipimem.runtime.turns import NOTHING_NEW, Receipt
from pipimem.text.secrets import redacted
from pipimem.text.token_count import clipped, estimate

T = TypeVar("T")

# Any message at all: it makes the first timed query find the index built and the dictionaries
# loaded.
WARMING = "warm up 预热"
# Five messages of a timeline are about 200 tokens; three lines of 80 columns hold one.
_CHARS = 200
FORGOTTEN = "(forgotten)"


def plain_id(item: Item) -> str:
    """A message's own id, as the transcript has it; an entry's with its source in front."""
    return item.id.removeprefix(f"{Source.LOG}:")


def hit_json(hit: Candidate | SearchHit, rank: int) -> dict[str, object]:
    """A hit for scripts; a message goes by its own id, a secret typed into a file is masked.

    The content of a long message is the passage that was found.
    """
    item = hit.item
    return {
        "rank": rank,
        "id": plain_id(item),
        **fields(item, "source", "section", "speaker"),
        "score": round(hit.score, 6),
        "content": redacted(hit.said if isinstance(hit, SearchHit) else item.text),
        "when": item.time if item.by_day else item.when,
        **_mark(item),
    }


def hit_rows(
    hits: Sequence[Candidate | SearchHit],
    texts: Iterable[str],
    injected: Collection[str] = (),
    *,
    explain: bool = False,
) -> Iterator[tuple[str, ...]]:
    """A row for each hit: rank (`*` if injected), score, id, text.

    With `explain` the parts of the score stand below it.
    """
    for rank, (hit, text) in enumerate(zip(hits, texts, strict=True), 1):
        mark = "*" if hit.item.id in injected else ""
        yield f"{rank}{mark}", f"{hit.score:.3f}", plain_id(hit.item), text
        if explain and not isinstance(hit, SearchHit):
            yield "", "", "", f"= {explained(hit.parts)}"


def recalled_rows(
    found: Recall, count: int | None = None, *, explain: bool = False
) -> Iterator[tuple[str, ...]]:
    """The rows of what was recalled, each text under its section and speaker."""
    hits = found.candidates[:count]
    return hit_rows(
        hits,
        [_placed(hit.item) for hit in hits],
        {item.id for item in found.injected},
        explain=explain,
    )


def _placed(item: Item) -> str:
    speaker = "" if item.text.startswith(item.speaker) else item.speaker
    place = f"{item.section} {speaker}".strip()
    text = redacted(item.text)
    return one_line(f"{place}: {text}" if place else text, _CHARS)


def show_hits(rows: Iterable[Sequence[str]]) -> None:
    """The rows of hits as a table."""
    table(("#", "score", "id", "what"), rows)


def message_json(item: Item, *, whole: bool = False) -> dict[str, object]:
    """One message for scripts; `tokens` is what all of it costs."""
    text = redacted(item.text)
    return {
        "id": plain_id(item),
        **fields(item, "when", "speaker", "role"),
        "content": text if whole else _short(text),
        "tokens": estimate(text),
        **_mark(item),
    }


def _mark(item: Item) -> dict[str, object]:
    return {"off_the_record": True} if item.off_the_record else {}


def show_messages(items: Iterable[Item], asked: str = "", *, whole: bool = False) -> None:
    """Messages, a line each with its id.

    The message with the id `asked` is marked with `>`, its neighbours with `·`.
    """
    neighbour = "·" if asked else " "
    for item in items:
        text = redacted(item.text)
        mark = ">" if item.id == asked else neighbour
        shown = text if whole else _short(text)
        say(f"{mark} {plain_id(item)}  {headed(item, shown or FORGOTTEN)}")


def tokens_of(items: Iterable[Item]) -> int:
    """About what a timeline of these messages costs."""
    return sum(estimate(headed(item, _short(item.text))) for item in items)


def _short(text: str) -> str:
    return clipped(" ".join(text.split()), _CHARS)


def answer_all(
    asked: Sequence[BatchQuery],
    warm: Callable[[str], object],
    ask: Callable[[BatchQuery], T],
    as_fields: Callable[[T], dict[str, object]],
) -> None:
    """Print a line for each query of a batch, in their order.

    `warm` prepares a channel, `ask` is timed in milliseconds, `as_fields` makes JSON of what it
    found.
    """
    for channel in dict.fromkeys(query.channel for query in asked):
        warm(channel)
    for query in asked:
        started = time.perf_counter()
        found = ask(query)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        record({**query.fields, **as_fields(found), "elapsed_ms": elapsed})


def receipt_lines(receipt: Receipt, *, with_reason: bool = True) -> list[str]:
    """The receipt for eyes; the reason stands in one of its lines at most."""
    covered = counted(receipt.covered, "message")
    if receipt.steps == (NOTHING_NEW,):
        return [f"nothing new: {covered} covered before"]
    lines = [f"{receipt.state}: {covered} covered, consolidated up to message {receipt.cursor}"]
    reason = receipt.reason
    lines += [f"  {step}" for step in receipt.steps if not reason or reason not in step]
    if reason and with_reason:
        lines.append(f"  reason: {receipt.reason}")
    return lines
