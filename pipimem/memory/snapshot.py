"""Snapshot: what a session's first turn is shown, and its standing part, which every turn is."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime

from msgspec import Struct

from pipimem.memory.prompt_memory import STALE_DAYS, days_past
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.operations import Trust
from pipimem.recall.budget import BlockBudget
from pipimem.recall.items import Item, Source
from pipimem.text.quotes import words_said

# It comes with every turn, so it is to cost little.
_STANDING_TOKENS = 600
# The workspace's shared background has room of its own, so that it cannot crowd out the channel's
# memory.
_WORKSPACE_TOKENS = 500
# Of a memory that does not fit as a whole most has nothing to do with what the session is about:
# what a message needs is recalled for it. Of 60 questions about one conversation as many have their
# evidence in a turn with 400, 250 and 150 tokens; 250 hold the state of things.
_REST_OF_LARGE_TOKENS = 250
# What each may take before all others had theirs; then they take what is left, in this order.
_STANDING_SHARES = ((Kind.CONSTRAINT, 0.4), (Kind.PREFERENCE, 0.25), (Kind.IDENTITY, 0.15))
_STANDING_SHARE_OF_WORKSPACE = 0.2
_SESSION = (
    "Session Title",
    "Current State",
    "Next Steps",
    "User Intent",
    "Errors & Corrections",
)
# Sections of SESSION.md that bind as the same kinds of MEMORY.md do.
_KINDS_OF_SESSION = {"Constraints": Kind.CONSTRAINT, "Decisions": Kind.DECISION}
# History is long; its newest bullets say where things were left.
_NEWEST_BULLETS = 8
# So many that do not fit or are stale, and no other is tried.
_PASSED_OVER = 20

Items = Mapping[Source, Sequence[Item]]
_Group = tuple[list[Item], float]


class Snapshot(Struct, frozen=True):
    """What is shown, what binds first, and how much of the memory had no room.

    `standing` is what holds whatever is asked; it is the same with and without the rest.
    """

    standing: tuple[Item, ...] = ()
    standing_left_out: int = 0
    rest: tuple[Item, ...] = ()
    left_out: int = 0


def standing_part(items: Items, max_chars: int, max_tokens: int) -> Snapshot:
    """Constraints, preferences, and who is who: the channel's, and what all channels share."""
    return _standing(items, max_chars, max_tokens, set())


def snapshot(items: Items, max_chars: int, max_tokens: int) -> Snapshot:
    """The memory as far as it fits, the most binding first; whole items only, a sentence once.

    Every kind has its share before the others take what is left, so that a long list of decisions
    cannot push out the state of things.
    """
    said: set[str] = set()
    standing = _standing(items, max_chars, max_tokens, said)
    of_channel = [item for item in standing.standing if item.source is not Source.WORKSPACE]
    shown_chars, shown_tokens = _cost(of_channel)
    tokens = max_tokens - shown_tokens
    if _is_large(items, max_chars):
        tokens = min(tokens, _REST_OF_LARGE_TOKENS)
    room = _room(max_chars - shown_chars, tokens, said)
    room.newest = _newest(items)
    rest = room.filled(_rest(items))
    of_workspace = [item for item in standing.standing if item.source is Source.WORKSPACE]
    shared = _room(max_chars, _WORKSPACE_TOKENS - _cost(of_workspace)[1], said)
    rest += shared.filled([(list(items.get(Source.WORKSPACE, ())), 1.0)])
    notes = (items.get(source, ()) for source in Source if source is not Source.LOG)
    left_out = _unsaid(itertools.chain(*notes), said)
    return Snapshot(standing.standing, standing.standing_left_out, tuple(rest), left_out)


def _standing(items: Items, max_chars: int, max_tokens: int, said: set[str]) -> Snapshot:
    """The standing part; what it shows is put into `said`."""
    room = _room(max_chars, min(_STANDING_TOKENS, max_tokens), said)
    groups: list[_Group] = []
    for kind, share in _STANDING_SHARES:
        groups.append((_of_kind(items, kind), share))
    shared = [item for item in items.get(Source.WORKSPACE, ()) if item.kind in STANDING]
    groups.append((shared, _STANDING_SHARE_OF_WORKSPACE))
    shown = room.filled(groups)
    known = itertools.chain(*(group for group, _ in groups))
    return Snapshot(tuple(shown), _unsaid(known, said))


def _unsaid(items: Iterable[Item], said: Set[str]) -> int:
    return len(set(map(_key, items)) - said)


def _rest(items: Items) -> list[_Group]:
    """What does not stand: decisions, open loops, the state of things, then the newest."""
    rank = {name: place for place, name in enumerate(_SESSION)}
    session = [item for item in items.get(Source.SESSION, ()) if item.kind not in _KINDS_OF_SESSION]
    session.sort(key=lambda item: rank.get(item.kind, len(rank)))
    memory = items.get(Source.MEMORY, ())
    waiting = [item for item in memory if item.awaits_second_voice]
    others = [item for item in memory if not item.awaits_second_voice and not _has_a_pile(item)]
    history = list(items.get(Source.HISTORY, ()))[-_NEWEST_BULLETS:]
    return [
        (_newest_first(waiting), 0.2),
        (_of_kind(items, Kind.DECISION), 0.25),
        (_of_kind(items, Kind.OPEN_LOOP), 0.2),
        (session, 0.35),
        (_newest_first([*others, *history]), 0.2),
    ]


def _has_a_pile(item: Item) -> bool:
    """Whether an entry stands, or is shown among those of its kind.

    A quote does not, whatever heading a person has moved it to.
    """
    piles = (*STANDING, Kind.DECISION, Kind.OPEN_LOOP)
    return item.kind in piles and item.trust != Trust.QUOTED


def _of_kind(items: Items, kind: Kind) -> list[Item]:
    """What the channel has of a kind, the newest first; then what is so in this session alone."""
    session = [
        item for item in items.get(Source.SESSION, ()) if _KINDS_OF_SESSION.get(item.kind) is kind
    ]
    memory = [item for item in items.get(Source.MEMORY, ()) if item.kind == kind]
    # A quote binds nobody, wherever a person has moved it.
    memory = [item for item in memory if item.trust != Trust.QUOTED]
    return [*_newest_first(memory), *session]


def _newest_first(items: Sequence[Item]) -> list[Item]:
    """By the time they were said; one without a time is as new as the one above it."""
    times: list[float] = []
    for item in items:
        above = times[-1] if times else 0.0
        times.append(item.when.timestamp() if item.when else above)
    # New entries go to the end of their section: of equals the lower is the newer.
    places = sorted(range(len(items)), key=lambda place: (times[place], place), reverse=True)
    return [items[place] for place in places]


def _newest(items: Items) -> datetime | None:
    """When the newest entry of the channel was said."""
    return max((item.when for item in items.get(Source.MEMORY, ()) if item.when), default=None)


def _is_stale(item: Item, newest: datetime | None) -> bool:
    """Whether it is a plan whose day was long past when the newest entry was said."""
    # What a person typed stands until a person takes it out.
    typed = item.source is not Source.MEMORY or item.trust in ("", Trust.HUMAN)
    if typed or item.when is None or newest is None:
        return False
    return days_past(item.kind, item.text, item.when, newest.date()) > STALE_DAYS


def _is_large(items: Items, max_chars: int) -> bool:
    """Whether the channel's memory is surely more than there is room for."""
    chars = 0
    for source in (Source.SESSION, Source.MEMORY, Source.HISTORY):
        for item in items.get(source, ()):
            chars += len(item.text)
            if chars > max_chars:
                return True
    return False


def _key(item: Item) -> str:
    """What a sentence is known by, wherever and by whom it is repeated on whatever day."""
    return " ".join(words_said(item.text).casefold().split()).rstrip(".。!！")


def _cost(items: Sequence[Item]) -> tuple[int, int]:
    """The characters and tokens of a block with these items, its fence included; none for none."""
    if not items:
        return 0, 0
    budget = BlockBudget(0, 0, dated=False)
    budget.take(items)
    return -budget.chars, -budget.tokens


def _room(max_chars: int, max_tokens: int, said: set[str]) -> _Room:
    return _Room(BlockBudget(max_chars, max_tokens, dated=False), said)


class _Room(Struct):
    """What is left for one block, and the sentences it need not say.

    With `newest`, the time of the newest entry, it has none for plans that were stale by then.
    """

    budget: BlockBudget
    said: set[str]
    newest: datetime | None = None

    def filled(self, groups: Sequence[_Group]) -> list[Item]:
        """What fits of the groups in their order: of each its share, then what is left to take."""
        chosen: list[list[Item]] = []
        whole = self.budget.tokens
        for group, share in groups:
            chosen.append(self._taken(group, int(whole * share)))
        found: list[Item] = []
        for (group, _), first in zip(groups, chosen, strict=True):
            found += first
            found += self._taken(group, self.budget.tokens)
        return found

    def _taken(self, group: Iterable[Item], tokens: int) -> list[Item]:
        """The items of a group that fit into a share of the tokens, and were not said yet."""
        taken: list[Item] = []
        passed_over = 0
        end = max(0, self.budget.tokens - tokens)
        for item in group:
            if passed_over == _PASSED_OVER or self.budget.tokens <= end:
                break
            key = _key(item)
            if key in self.said:
                continue
            if not _is_stale(item, self.newest) and self.budget.takes(item, end):
                self.said.add(key)
                taken.append(item)
            else:
                passed_over += 1
        return taken
