"""Which candidates fit into a turn, and the block of context they become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache

from msgspec import Struct

from pipimem.recall.items import Candidate, Item, Source
from pipimem.settings import RecallSettings
from pipimem.text.fence import NOTE, bracketed, bullet, escaped, fenced
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted
from pipimem.text.token_count import MOST_PER_CHARACTER, clipped, estimate

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
    if item.is_attributed:
        return text + _attribution(item, text, speaker)
    about = _about(item, text, speaker, dated=dated)
    return f"({about}) {text}" if about else text


def _about(item: Item, text: str, speaker: str, *, dated: bool) -> str:
    """Return who said an entry, and the day, as far as its text does not tell."""
    about = []
    if item.speaker and item.speaker not in text:
        about.append(speaker)
    # A block of history has its day in its heading, a quote in front of its words.
    if dated and item.when and item.source is Source.MEMORY and not read_quote(text).day:
        about.append(f"{item.when:%Y-%m-%d}")
    return ", ".join(about)


def _attribution(item: Item, text: str, speaker: str) -> str:
    """Return who said an entry and when, as it is shown behind it; a quote has both in front."""
    quote = read_quote(text)
    if quote.day and quote.name == speaker:
        return ""
    known = [speaker] if speaker and not text.startswith(speaker) else []
    if item.when and not quote.day:
        known.append(f"{item.when:%Y-%m-%d}")
    return f" — {', '.join(known)}" if known else ""


def _minute(item: Item) -> str:
    return f" {item.when:%H:%M}" if item.when else ""


@lru_cache(maxsize=_MASKED_TEXTS)
def _masked(text: str) -> str:
    return redacted(text)


# The two tags, the note and the line of what was left out.
FENCE_CHARS = 160
FENCE_TOKENS = 42
# An item that is cut to fit must still say something.
_LEAST_CHARS = 40


class Limits(Struct, frozen=True):
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
