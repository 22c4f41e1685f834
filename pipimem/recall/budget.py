"""What of the candidates fits into a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from pipimem.recall.items import Item
from pipimem.recall.ranking import Candidate
from pipimem.text.secrets import redacted
from pipimem.text.token_count import MOST_PER_CHARACTER, clipped, estimate

# What the line around a text costs: keys, quotes, source, id, date. Measured on injected blocks; a
# little on the safe side.
_FRAME_CHARS = 110
_FRAME_TOKENS = 45
# An item that is cut to fit must still say something.
_LEAST_CHARS = 40


@dataclass(frozen=True, slots=True)
class Limits:
    """How many candidates are ranked, and how many items, characters and tokens are injected."""

    inject: int = 5
    candidates: int = 12
    max_chars: int = 5000
    max_tokens: int = 1800


def rows_of(items: Iterable[Item]) -> list[dict[str, str]]:
    """Items as the lines to inject; a secret that a person typed into a file is masked."""
    return [_row(item) for item in items]


def _row(item: Item) -> dict[str, str]:
    """An item as the line that is injected; `when` and `speaker` only where they are known."""
    row = {"id": item.id, "source": item.source.value, "section": item.section}
    if item.time:
        row["when"] = item.time
    if item.speaker:
        row["speaker"] = item.speaker
    row["text"] = redacted(item.text)
    return row


def within(
    candidates: Sequence[Candidate], limits: Limits, shown: Set[str]
) -> tuple[tuple[Item, ...], int]:
    """Returns the items to inject, best first, and how many had no room.

    What was `shown` already is passed over. Only whole items: one that does not fit is skipped and
    a smaller one may follow. One that is larger than the whole budget is cut at a sentence.
    """
    fresh = [one.item for one in candidates if not shown or one.item.id not in shown]
    first = tuple(fresh[: limits.inject])
    if _surely_fit(first, limits):
        return first, len(fresh) - len(first)
    chosen: list[Item] = []
    chars, tokens, left_out = limits.max_chars, limits.max_tokens, 0
    for item in fresh:
        if len(chosen) == limits.inject:
            left_out += 1
            continue
        item, size, cost = _cut(item, limits)
        if size <= chars and cost <= tokens:
            chosen.append(item)
            chars, tokens = chars - size, tokens - cost
        else:
            left_out += 1
    return tuple(chosen), left_out


def size_of(item: Item) -> tuple[int, int]:
    """The characters and tokens of an item as it is injected, with the frame around its text."""
    chars = len(item.text) + len(item.section) + len(item.id) + _FRAME_CHARS
    return chars, estimate(item.text) + estimate(item.section) + _FRAME_TOKENS


def _surely_fit(items: Sequence[Item], limits: Limits) -> bool:
    """Whether all fit however many tokens their texts have.

    Entries are short, and counting the tokens of five takes 50 µs of a turn.
    """
    texts = sum([len(item.text) + len(item.section) for item in items])
    chars = texts + sum([len(item.id) + _FRAME_CHARS for item in items])
    tokens = MOST_PER_CHARACTER * texts + _FRAME_TOKENS * len(items)
    return chars <= limits.max_chars and tokens <= limits.max_tokens


def _cut(item: Item, limits: Limits) -> tuple[Item, int, int]:
    """The item with its size, shortened only if it is larger than all there is room for."""
    size, cost = size_of(item)
    length = len(item.text)
    while (size > limits.max_chars or cost > limits.max_tokens) and length > _LEAST_CHARS:
        # By the worse of the two; the line around the text costs, too, so each round takes a little
        # more.
        keep = min(limits.max_chars / size, limits.max_tokens / cost)
        length = max(_LEAST_CHARS, int(length * keep * 0.95))
        item = replace(item, text=clipped(item.text, length))
        size, cost = size_of(item)
    return item, size, cost
