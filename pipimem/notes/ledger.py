"""What is known of a channel beside its texts: records of entries, tombstones, and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from pipimem.notes.operations import Bullet, Hole, Job, Narrowed, Progress, Trust


class QuoteReason(StrEnum):
    """Why a text is a quote.

    It reads like an `INSTRUCTION` to the bot, was `CITED` by somebody who asked to keep it, only
    the `BOT` said it, or it binds others while `ONE_MEMBER` of a group alone says so. `LOST` is
    that of an entry whose record is gone. Only records of earlier versions have the others.
    """

    INSTRUCTION = "instruction"
    CITED = "cited"
    BOT = "bot"
    ONE_MEMBER = "one member"
    LOST = "lost"
    CONDUCT = "conduct"
    NEWCOMER = "newcomer"


# What becomes a rule once another member agrees.
AWAITING = (QuoteReason.ONE_MEMBER, QuoteReason.NEWCOMER)

UNKNOWN = "said by: unknown"
"""The speaker of an entry whose record is lost, as it is shown."""


class Record(Struct, frozen=True):
    """What is known of one entry; times are ISO 8601 with offset, empty where unknown.

    `when` it was said, `learnt` when it was taken in or confirmed on a later day, `expires` the
    last day it holds. `since`: when the first of the wordings came in that models replaced by this
    one; empty where it is the first. `stands_for`: how many entries were merged into this one,
    itself counted. `heard`: so many of the ledger's speakers had spoken when it was learnt;
    0 where that is unknown. `sections`: of a line of SESSION.md the sections into which the runtime
    wrote it; empty where that is unknown. `quote_reason`: of a quote the value of its
    `QuoteReason`; empty in records of earlier versions. `due`: the day (ISO 8601) that an open
    loop is due, as it was said; never read out of its text.
    """

    trust: Trust
    kind: str = ""
    sources: tuple[str, ...] = ()
    speaker: str = ""
    when: str = ""
    recalls: int = 0
    recalled: str = ""
    probation_until: str = ""
    predecessor: str = ""
    learnt: str = ""
    expires: str = ""
    since: str = ""
    stands_for: int = 1
    heard: int = 0
    sections: tuple[str, ...] = ()
    quote_reason: str = ""
    due: str = ""

    @property
    def awaits_second_voice(self) -> bool:
        """Whether it is a quote until another member agrees."""
        return self.trust is Trust.QUOTED and self.quote_reason in AWAITING

    @property
    def why_awaiting(self) -> str:
        """Who alone said what awaits a second voice, and on which day, as far as known."""
        known = ", ".join(filter(None, (self.speaker, self.when[:10])))
        return f"one member alone said it ({known})" if known else "one member alone said it"


class Loss(Struct, frozen=True):
    """An entry that a model took out or reworded.

    `id` is that of its text, `time` the day it went, `since` the day it came. `lost` is the share
    of its characters that is gone, times the entries it stood for. `gone` is how many entries it
    stood for where no other text stands in its place, else 0.
    """

    id: str
    time: str
    since: str
    lost: float
    gone: int


class Tombstone(Struct, frozen=True):
    """A text that was taken out: it is not learned again from messages up to number `upto`.

    Under the text's id it also keeps lines with this text in SESSION and HISTORY out of recall;
    under `still(id)` they are recalled as before, for it only left MEMORY.md.
    """

    reason: str
    upto: int


def still(name: str) -> str:
    """The name of the tombstone of a text that is still so."""
    return f"still:{name}"


def tombstone_names(name: str) -> tuple[str, str]:
    """The names that tombstones of a text may have."""
    return name, still(name)


class Asked(Struct, frozen=True):
    """A question of a turn, without secrets, when it came, and the ids of what was shown for it."""

    text: str
    when: str = ""
    found: tuple[str, ...] = ()


def pair_name(one: str, other: str) -> str:
    """Return the name under which two entries, given by id, are settled."""
    return " ".join(sorted((one, other)))


def sources_by_name(records: Mapping[str, Record], name: str) -> tuple[str, ...]:
    """The ids of the messages that an entry rests on, by the name of its record.

    A line that the runtime put into SESSION.md keeps none: those of the same text in MEMORY.md or
    HISTORY.md are its own. Of equal texts there is one record.
    """
    bare = name.partition(".")[0]
    names = [name, bare]
    if bare.startswith("session:"):
        text = bare.removeprefix("session:")
        names += [text, f"history:{text}"]
    found = (records[known].sources for known in names if known in records)
    return next(filter(None, found), ())


V = TypeVar("V")

# The newest questions say what a channel's memory is asked for; more would only make the check of a
# tidying slower.
_MOST_ASKED = 50

_LOSSES_KEPT = timedelta(days=60)

# What of a `Progress` stays in the ledger.
PROGRESSED = (
    "cursor",
    "boundary",
    "refreshed",
    "epoch",
    "epoch_start",
    "pending",
    "holes",
    "narrowed",
    "speakers",
)


class Delta(Struct, frozen=True):
    """A change of the ledger, as its change keeps it; `None` as a value takes the record out."""

    records: Mapping[str, Record | None] = field(default_factory=dict)
    tombstones: Mapping[str, Tombstone | None] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    asked: tuple[Asked, ...] = ()  # what came since the last change
    forgets_asked: bool = False  # all that was asked before is dropped
    losses: tuple[Loss, ...] = ()  # what models took out
    settled: Mapping[str, str | None] = field(default_factory=dict)


class Ledger(Struct, frozen=True):
    """The state of a channel beside its texts: a fold of the deltas of its changes.

    `records` are by id for MEMORY.md, by `session:<id>` and `history:<id>` for what the runtime
    wrote in the other files. `sequence` is the number of the newest change. Message numbers:
    `cursor` consolidated up to here, `boundary` in HISTORY.md up to here, `refreshed` in SESSION.md
    up to here, `epoch_start` the last message before the current epoch of the host's context.
    `speakers` are all who spoke, in the order of their first word; a name that was forgotten is
    empty, and keeps its place. `settled` has, by `pair_name`, the day on which a person said that
    two entries do not contradict each other.
    """

    sequence: int = 0
    cursor: int = 0
    boundary: int = 0
    refreshed: int = 0
    epoch: int = 0
    epoch_start: int = 0
    pending: tuple[Bullet, ...] = ()
    holes: tuple[Hole, ...] = ()
    narrowed: Narrowed = field(default_factory=Narrowed)
    records: Mapping[str, Record] = field(default_factory=dict)
    tombstones: Mapping[str, Tombstone] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()  # the newest questions, each text once
    # The change of the newest forgetting: what was seen before it may not be written after it.
    forgotten: int = 0
    losses: tuple[Loss, ...] = ()  # what models took out, of the last 60 days
    speakers: tuple[str, ...] = ()
    settled: Mapping[str, str] = field(default_factory=dict)

    @property
    def newest_message(self) -> int:
        """The greatest number of a message in the ledger, 0 where there is none."""
        numbers = (self.cursor, self.boundary, self.refreshed, self.epoch_start)
        return max(*numbers, *(stone.upto for stone in self.tombstones.values()))

    def heard_by(self, record: Record) -> tuple[str, ...]:
        """Who was there when an entry was learnt: all who had spoken by then."""
        return tuple(filter(None, self.speakers[: record.heard]))

    def as_delta(self) -> Delta:
        """Return the rows of the ledger as a change of an empty one."""
        return Delta(self.records, self.tombstones, self.jobs, settled=self.settled)

    def after(self, delta: Delta, sequence: int | None = None) -> Ledger:
        """The ledger with one more change folded in."""
        progress = delta.progress
        values = {name: getattr(progress, name) for name in PROGRESSED}
        moved = {name: value for name, value in values.items() if value is not None}
        return replace(
            self,
            sequence=self.sequence if sequence is None else sequence,
            records=_merged(self.records, delta.records),
            tombstones=_merged(self.tombstones, delta.tombstones),
            jobs=_merged(self.jobs, delta.jobs),
            settled=_merged(self.settled, delta.settled),
            asked=_newest(() if delta.forgets_asked else self.asked, delta.asked),
            forgotten=sequence if delta.forgets_asked and sequence is not None else self.forgotten,
            losses=_recent((*self.losses, *delta.losses)) if delta.losses else self.losses,
            **moved,
        )


def _recent(losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """Those of the 60 days before the newest: the bound looks back 30, a clock may be set back."""
    newest = max(date.fromisoformat(loss.time) for loss in losses)
    first = (newest - _LOSSES_KEPT).isoformat() if newest - date.min > _LOSSES_KEPT else ""
    return tuple(loss for loss in losses if loss.time >= first)


def _newest(old: tuple[Asked, ...], fresh: tuple[Asked, ...]) -> tuple[Asked, ...]:
    if not fresh:
        return old
    by_text = {one.text: one for one in old}
    for one in fresh:
        by_text.pop(one.text, None)
        by_text[one.text] = one
    return tuple(by_text.values())[-_MOST_ASKED:]


def _merged(old: Mapping[str, V], changes: Mapping[str, V | None]) -> Mapping[str, V]:
    """The values with changes made; `None` takes one out."""
    if not changes:
        return old
    return {name: value for name, value in {**old, **changes}.items() if value is not None}
