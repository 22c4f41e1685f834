"""What of the candidates fits into a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

from pipimem.recall.candidate import Candidate
from pipimem.recall.context_block import heading_of, lines_of
from pipimem.recall.items import Item
from pipimem.settings import RecallSettings
from pipimem.text.token_count import MOST_PER_CHARACTER, clipped, estimate

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


def limits_of(settings: RecallSettings, most: int | None = None) -> Limits:
    """How much a turn is shown: the settings, or `most` entries."""
    return Limits(
        inject=most or settings.inject,
        candidates=max(most or 0, settings.candidates),
        max_chars=settings.max_chars,
        max_tokens=settings.max_tokens,
    )


@dataclass(slots=True)
class BlockBudget:
    """The characters and tokens that are left for lines of one block; its fence has its own.

    Counted is what stands in the block: escaped, a heading once, with `dated` the day of each text.
    """

    chars: int
    tokens: int
    dated: bool = True
    _headings: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chars -= FENCE_CHARS
        self.tokens -= FENCE_TOKENS

    def takes(self, item: Item, least: int = 0) -> bool:
        """Takes the room of an item, if there is so much and `least` tokens are left then."""
        size, cost = self._size_of(item)
        if size > self.chars or self.tokens - cost < least:
            return False
        self._take(item, size, cost)
        return True

    def take(self, items: Iterable[Item]) -> None:
        """Takes the room of items that are shown in any case."""
        for item in items:
            self._take(item, *self._size_of(item))

    def _size_of(self, item: Item) -> tuple[int, int]:
        lines = lines_of(item, headed=heading_of(item) not in self._headings, dated=self.dated)
        return len(lines), estimate(lines)

    def _take(self, item: Item, size: int, cost: int) -> None:
        self._headings.add(heading_of(item))
        self.chars, self.tokens = self.chars - size, self.tokens - cost


def within(
    candidates: Sequence[Candidate], limits: Limits, shown: Set[str], beside: Sequence[Item] = ()
) -> tuple[tuple[Item, ...], int]:
    """Returns the items to inject, best first, and how many had no room.

    What was `shown` already is passed over, what stands `beside` them takes its room first. Only
    whole items: one that does not fit is skipped and a smaller one may follow. One that is larger
    than the whole budget is cut at a sentence.
    """
    fresh = [one.item for one in candidates if not shown or one.item.id not in shown]
    first = tuple(fresh[: limits.inject])
    if _surely_fit((*first, *beside), limits):
        return first, len(fresh) - len(first)
    budget = BlockBudget(limits.max_chars, limits.max_tokens)
    budget.take(beside)
    chosen: list[Item] = []
    for item in fresh:
        if len(chosen) == limits.inject:
            break
        if not budget.takes(item):
            item = _cut(item, limits)
            if not budget.takes(item):
                continue
        chosen.append(item)
    return tuple(chosen), len(fresh) - len(chosen)


def _surely_fit(items: Sequence[Item], limits: Limits) -> bool:
    """Whether all fit however many tokens their lines have.

    Entries are short, and counting the tokens of five takes 50 µs of a turn.
    """
    chars = sum(len(lines_of(item)) for item in items)
    tokens = MOST_PER_CHARACTER * chars + FENCE_TOKENS
    return chars + FENCE_CHARS <= limits.max_chars and tokens <= limits.max_tokens


def _cut(item: Item, limits: Limits) -> Item:
    """The item, shortened only if it is larger than all there is room for.

    Its id stands behind what is left, so that one can ask for the rest.
    """
    chars, tokens = limits.max_chars - FENCE_CHARS, limits.max_tokens - FENCE_TOKENS
    whole, length = item.text, len(item.text)
    while length > _LEAST_CHARS:
        lines = lines_of(item)
        share = min(chars / len(lines), tokens / estimate(lines))
        if share >= 1:
            break
        # By the worse of the two; the line around the text costs, too, so each round takes a little
        # more.
        length = max(_LEAST_CHARS, int(length * share * 0.95))
        item = replace(item, text=f"{clipped(whole, length)} ({item.id})")
    return item
