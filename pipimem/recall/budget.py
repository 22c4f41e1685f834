"""What of the candidates fits into a turn."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from pipimem.recall.items import Item
from pipimem.recall.ranking import Candidate
from pipimem.text.fence import escaped
from pipimem.text.token_count import MOST_PER_CHARACTER, clipped, estimate

# What stands around a text: its heading's file, brackets, hyphen, a day. An item may be alone under
# its heading.
_FRAME_CHARS = 50
_FRAME_TOKENS = 24
# The two tags, the note and the line of what was left out.
FENCE_CHARS = 160
FENCE_TOKENS = 42
# An item that is cut to fit must still say something.
_LEAST_CHARS = 40


@dataclass(frozen=True, slots=True)
class Limits:
    """How many candidates are ranked, and how many items, characters and tokens are injected."""

    inject: int = 8
    candidates: int = 12
    max_chars: int = 5000
    max_tokens: int = 1800


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
    chars, tokens = limits.max_chars - FENCE_CHARS, limits.max_tokens - FENCE_TOKENS
    left_out = 0
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
    """The characters and tokens of an item under a heading of its own; at least what it costs."""
    texts = _shown_texts(item)
    chars = sum(map(len, texts)) + _FRAME_CHARS
    return chars, sum(map(estimate, texts)) + _FRAME_TOKENS


def _shown_texts(item: Item) -> tuple[str, str, str]:
    return escaped(item.text), item.section, item.speaker


def _surely_fit(items: Sequence[Item], limits: Limits) -> bool:
    """Whether all fit however many tokens their texts have.

    Entries are short, and counting the tokens of five takes 50 µs of a turn.
    """
    texts = 0
    for item in items:
        texts += sum(map(len, _shown_texts(item)))
    chars = texts + _FRAME_CHARS * len(items) + FENCE_CHARS
    tokens = MOST_PER_CHARACTER * texts + _FRAME_TOKENS * len(items) + FENCE_TOKENS
    return chars <= limits.max_chars and tokens <= limits.max_tokens


def _cut(item: Item, limits: Limits) -> tuple[Item, int, int]:
    """The item with its size, shortened only if it is larger than all there is room for.

    Its id stands behind what is left, so that one can ask for the rest.
    """
    chars, tokens = limits.max_chars - FENCE_CHARS, limits.max_tokens - FENCE_TOKENS
    size, cost = size_of(item)
    whole, length = item.text, len(item.text)
    while (size > chars or cost > tokens) and length > _LEAST_CHARS:
        # By the worse of the two; the line around the text costs, too, so each round takes a little
        # more.
        length = max(_LEAST_CHARS, int(length * min(chars / size, tokens / cost) * 0.95))
        item = replace(item, text=f"{clipped(whole, length)} ({item.id})")
        size, cost = size_of(item)
    return item, size, cost
