"""Snapshot: what a session's first turn is shown, and its standing part, which every turn is."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

from msgspec import Struct

from pipimem.memory.prompt_memory import STALE_DAYS, days_past
from pipimem.memory.wishes_and_health import personal_items
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.operations import Trust
from pipimem.recall.budget import BlockBudget
from pipimem.recall.items import Item, Source, said_by
from pipimem.settings import SnapshotSettings
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import shared_words_with_each

# What each may take before all others had theirs; then they take what is left, in this order.
_STANDING_SHARES = (
    (Kind.CONSTRAINT, 0.35),
    (Kind.WISH, 0.15),
    (Kind.IDENTITY, 0.15),
    (Kind.PREFERENCE, 0.2),
)
_STANDING_SHARE_OF_WORKSPACE = 0.15
_PERSONAL = (Kind.WISH, Kind.HEALTH)
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


def standing_part(items: Items, limits: SnapshotSettings, *, is_direct: bool = False) -> Snapshot:
    """Return health (of a direct chat), constraints, wishes of all, who is who, and preferences.

    Of the channel, and of what all channels share. Health is never left out.
    """
    return _standing(items, limits, set(), is_direct=is_direct)


def snapshot(items: Items, limits: SnapshotSettings, *, is_direct: bool = False) -> Snapshot:
    """Return the memory as far as it fits, the most binding first; a sentence once.

    Whole items only. Every kind has its share before the others take what is left, so that a long
    list of decisions cannot push out the state of things. A person's wishes, and health in a group,
    come with the turns of those whom they concern.
    """
    said: set[str] = set()
    standing = _standing(items, limits, said, is_direct=is_direct)
    # Neither is repeated from HISTORY, whoever's turn it is.
    said.update(_key(item) for item in items.get(Source.MEMORY, ()) if _is_personal(item))
    of_channel = [item for item in standing.standing if item.source is not Source.WORKSPACE]
    shown_chars, shown_tokens = _cost(of_channel)
    room = _room(limits.max_chars - shown_chars, limits.max_tokens - shown_tokens, said)
    room.newest = _newest(items)
    rest = room.filled(_rest(items))
    of_workspace = [item for item in standing.standing if item.source is Source.WORKSPACE]
    shared_tokens = limits.workspace_tokens - _cost(of_workspace)[1]
    shared = _room(limits.max_chars, shared_tokens, said)
    rest += shared.filled([(list(items.get(Source.WORKSPACE, ())), 1.0)])
    left_out = _unsaid(_select_impersonal(items), said)
    return Snapshot(standing.standing, standing.standing_left_out, tuple(rest), left_out)


def _standing(
    items: Items, limits: SnapshotSettings, said: set[str], *, is_direct: bool
) -> Snapshot:
    """Return the standing part; what it shows is put into `said`.

    Its room is what the largest opening of a recalled block leaves, so that its bytes are the same
    whoever speaks.
    """
    personal = personal_items(newest_first(items.get(Source.MEMORY, ())), is_direct=is_direct)
    opening = max((_cost(shown)[1] for shown in personal.of_each_person()), default=0)
    tokens = min(limits.standing_tokens - opening, limits.max_tokens)
    room = _room(limits.max_chars, tokens, said)
    shown = room.placed(personal.standing_health)
    groups: list[_Group] = []
    for kind, share in _STANDING_SHARES:
        groups.append((_of_kind(items, kind), share))
    kinds = (*STANDING, *_PERSONAL)
    shared = [item for item in items.get(Source.WORKSPACE, ()) if item.kind in kinds]
    groups.append((shared, _STANDING_SHARE_OF_WORKSPACE))
    shown += room.filled(groups)
    known = itertools.chain(*(group for group, _ in groups))
    return Snapshot(tuple(shown), _unsaid(known, said))


def _select_impersonal(items: Items) -> Iterator[Item]:
    """Yield the items of the notes that are shown whoever speaks."""
    for source in Source:
        if source is not Source.LOG:
            yield from (item for item in items.get(source, ()) if not _is_personal(item))


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
        (newest_first(waiting), 0.2),
        (_of_kind(items, Kind.DECISION), 0.25),
        (_of_kind(items, Kind.OPEN_LOOP), 0.2),
        (session, 0.35),
        (newest_first([*others, *history]), 0.2),
    ]


def _is_personal(item: Item) -> bool:
    """Return whether an item comes with the turns of those whom it concerns."""
    return item.kind in _PERSONAL and item.trust != Trust.QUOTED


def _has_a_pile(item: Item) -> bool:
    """Whether an entry stands, or is shown among those of its kind.

    A quote does not, whatever heading a person has moved it to.
    """
    piles = (*STANDING, *_PERSONAL, Kind.DECISION, Kind.OPEN_LOOP)
    return item.kind in piles and item.trust != Trust.QUOTED


def _of_kind(items: Items, kind: Kind) -> list[Item]:
    """What the channel has of a kind, the newest first; then what is so in this session alone."""
    session = [
        item for item in items.get(Source.SESSION, ()) if _KINDS_OF_SESSION.get(item.kind) is kind
    ]
    memory = [item for item in items.get(Source.MEMORY, ()) if item.kind == kind]
    # A quote binds nobody, wherever a person has moved it.
    memory = [item for item in memory if item.trust != Trust.QUOTED]
    if kind is Kind.WISH:  # those of a person come with that person's turns
        memory = [item for item in memory if not said_by(item)]
    return [*newest_first(memory), *session]


def newest_first(items: Sequence[Item]) -> list[Item]:
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
    return _Room(BlockBudget(max_chars, max_tokens, dated=False), said, max_tokens)


def _may_overrule(newer: Item, older: Item) -> bool:
    """Return whether a longer text has a word of an older one that means something."""
    (shared,) = shared_words_with_each([words_said(older.text)], [words_said(newer.text)])
    return bool(shared)


class _Room(Struct):
    """What is left for one block of `whole` tokens, and the sentences it need not say.

    With `newest`, the time of the newest entry, it has none for plans that were stale by then.
    """

    budget: BlockBudget
    said: set[str]
    whole: int
    newest: datetime | None = None

    def placed(self, items: Iterable[Item]) -> list[Item]:
        """Return the items, each sentence once, whether there is room for them or not."""
        placed: list[Item] = []
        for item in items:
            if _key(item) not in self.said:
                self.said.add(_key(item))
                placed.append(item)
        self.budget.take(placed)
        return placed

    def filled(self, groups: Sequence[_Group]) -> list[Item]:
        """Return what fits of the groups in their order: of each its share, then what is left."""
        chosen: list[list[Item]] = []
        whole = max(0, self.budget.tokens)
        for group, share in groups:
            chosen.append(self._share(group, int(whole * share)))
        found: list[Item] = []
        for (group, _), first in zip(groups, chosen, strict=True):
            found += first
            found += self._remainder(group)
        return found

    def _share(self, group: Iterable[Item], tokens: int) -> list[Item]:
        """Return the first items of a group that fit into a share of the tokens.

        The first may be larger than the share. Nothing is passed over here: what comes behind is
        older, and may have been overruled by what has no room.
        """
        taken: list[Item] = []
        end = max(0, self.budget.tokens - tokens)
        for item in self._unsaid(group):
            if not self.budget.takes(item, end if taken else 0):
                break
            self.said.add(_key(item))
            taken.append(item)
        return taken

    def _remainder(self, group: Iterable[Item]) -> list[Item]:
        """Return the items of a group that fit into what is left, up to the first that does not.

        An item that would not fit into the empty block is passed over, with what it may overrule.
        """
        taken: list[Item] = []
        too_long: list[Item] = []
        for item in self._unsaid(group):
            if any(_may_overrule(newer, item) for newer in too_long):
                continue
            if self.budget.takes(item):
                self.said.add(_key(item))
                taken.append(item)
            elif _cost([item])[1] > self.whole:
                too_long.append(item)
            else:
                break
        return taken

    def _unsaid(self, group: Iterable[Item]) -> Iterator[Item]:
        """Yield the items that are neither said nor stale."""
        for item in group:
            if _key(item) not in self.said and not _is_stale(item, self.newest):
                yield item
