"""Operations, the changes that pipimem makes to notes, and the decisions that carry them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import ClassVar, NamedTuple

from msgspec import Struct, field

from pipimem.notes.kinds import File, Kind


class Trust(StrEnum):
    """How an entry came to be: typed by a person, asked for, or concluded by a model.

    `QUOTED` are somebody's words that read like an instruction to the bot, or a rule that one
    member of a group alone said: they are data only.
    """

    HUMAN = "human"
    EXPLICIT = "explicit"
    INFERRED = "inferred"
    QUOTED = "quoted"


class Author(StrEnum):
    """Who decided: only `MODEL` is bound by the limits on what a run may remove."""

    MODEL = "model"  # a sidecar's decision, by a model or by the offline rules
    RULE = "rule"  # a clock's or a check's doing: expiry, probation
    PERSON = "person"  # a command or tool call that a person asked for
    EDITOR = "editor"  # a hand in the file itself


class Target(Struct, frozen=True):
    """One entry as it was when the operation was decided; not found once reworded or moved."""

    file: File
    section: str
    id: str
    ordinal: int = 1


class Evidence(Struct, frozen=True):
    """Where a text comes from: message ids, the newest of their numbers, who spoke and when.

    `learnt` is the day it was taken in, long after `when` where old talk is replayed."""

    sources: tuple[str, ...] = ()
    newest: int = 0
    speaker: str = ""
    when: datetime | None = None
    learnt: datetime | None = None


class Add(Struct, frozen=True):
    """A new entry of MEMORY.md under the heading of its kind; one that is there is confirmed.

    Of a quote `quote_reason` is the value of its `QuoteReason`.
    """

    kind: Kind
    text: str
    trust: Trust
    evidence: Evidence = Evidence()
    probation_until: datetime | None = None
    expires: date | None = None  # the last day it holds
    quote_reason: str = ""
    due: date | None = None  # of an open loop, the day it is due


class Supersede(Struct, frozen=True):
    """One text for one or several entries of MEMORY.md: a newer value, or a merge.

    `quote_reason` and `due` as in `Add`.
    """

    targets: tuple[Target, ...]
    text: str
    trust: Trust
    evidence: Evidence = Evidence()
    reason: str = ""
    kind: Kind | None = None
    expires: date | None = None
    # It holds instead of them from now on, also where it rests on no message, as a merge does.
    is_newer: bool = False
    quote_reason: str = ""
    due: date | None = None


class Move(Struct, frozen=True):
    """An entry of MEMORY.md goes to the section of another kind, its words untouched."""

    target: Target
    kind: Kind


class Invalidate(Struct, frozen=True):
    """An entry leaves MEMORY.md; it stays in the changes and can be brought back.

    Usually it is no longer so, and lines of SESSION and HISTORY that say it are recalled no more;
    not where it is `still_so` and only stands elsewhere too, or has grown stale. `archived` also
    puts it into the archive. Where another entry `holds` instead, nothing leaves without that one.
    """

    target: Target
    reason: str
    still_so: bool = False
    archived: bool = False
    holds: Target | None = None


class Confirm(Struct, frozen=True):
    """An entry was said or used again: its probation ends, its file is untouched.

    A quote has the `trust` from then on, if one is given: it has its second voice. What
    `was_helpful` counts as recalled once more.
    """

    target: Target
    evidence: Evidence = Evidence()
    trust: Trust | None = None
    was_helpful: bool = False


class Doubt(Struct, frozen=True):
    """An entry was of no help: its recalls count no more, and it is on probation again.

    What somebody asked for ranks lower until it is recalled, and does not expire. What a person
    typed, or is kept as a quote, is left as it is.
    """

    target: Target
    probation_until: datetime


class Settle(Struct, frozen=True):
    """A person says that two entries, which may contradict each other, both hold."""

    one: Target
    other: Target


class SetSection(Struct, frozen=True):
    """The bullets of one section of SESSION.md, replaced as a whole; none empties it."""

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line of history and the message ids it rests on; a quote has a `weight` above 0.

    `when` the newest of these messages was said, ISO 8601; empty where unknown. The runtime fills
    it in.
    """

    text: str
    sources: tuple[str, ...] = ()
    weight: int = 0
    when: str = ""


class AddBlock(Struct, frozen=True):
    """A new block of HISTORY.md for the time between two boundaries."""

    start: datetime
    end: datetime
    title: str
    bullets: tuple[Bullet, ...]


class FoldBlocks(Struct, frozen=True):
    """The blocks with these headings become one block; their text goes to the archive.

    `originals` are the bullets that the fold was made of, each with its own id as its source.
    """

    month: str
    title: str
    bullets: tuple[Bullet, ...]
    headings: tuple[str, ...]
    originals: tuple[Bullet, ...] = ()


Operation = (
    Add
    | Supersede
    | Move
    | Invalidate
    | Confirm
    | Doubt
    | Settle
    | SetSection
    | AddBlock
    | FoldBlocks
)


def targets_of(op: Operation) -> tuple[Target, ...]:
    """The entries of MEMORY.md that an operation ends or moves."""
    match op:
        case Supersede(targets=targets):
            return targets
        case Invalidate(target=target) | Move(target=target):
            return (target,)
        case _:
            return ()


class Hole(NamedTuple):
    """Messages `first` to `last` that could not be consolidated: recallable as they are."""

    first: int
    last: int
    reason: str = ""


class Narrowed(Struct, frozen=True):
    """Smaller windows after failures: up to message `upto` they have at most `chars` characters.

    `failures` is how often the next window failed in a row; the default value means that nothing
    fails.
    """

    upto: int = 0
    chars: int = 0
    failures: int = 0


class Progress(Struct, frozen=True):
    """How far a decision brings the channel; `None` leaves a counter as it is.

    `cursor` and `refreshed` are message numbers, `pending` the history bullets waiting for the next
    boundary, `boundary` the number up to which HISTORY.md has its block, `holes` all that is set
    aside from now on, `speakers` all who spoke so far in the order of their first word.
    """

    # Checked before it is recorded, so no change has them.
    NOT_WRITTEN: ClassVar = frozenset({"expect_cursor", "expect_holes", "expect_forgotten"})

    cursor: int | None = None
    boundary: int | None = None
    refreshed: int | None = None
    epoch_start: int | None = None
    epoch: int | None = None
    pending: tuple[Bullet, ...] | None = None
    holes: tuple[Hole, ...] | None = None
    narrowed: Narrowed | None = None
    speakers: tuple[str, ...] | None = None
    # The cursor, the holes and the newest forgetting this was decided on; others now refuse the
    # whole decision.
    expect_cursor: int | None = None
    expect_holes: tuple[Hole, ...] | None = None
    expect_forgotten: int | None = None


class Job(Struct, frozen=True):
    """When an idle job ran and may run again, its failures in a row, the stamp it last saw."""

    ran: str = ""
    due: str = ""
    failures: int = 0
    stamp: str = ""


class Tokens(Struct, frozen=True):
    """Tokens of model calls, in and out: of this `run`, and of its task in this channel `today`."""

    run: int = 0
    today: int = 0


class LeftOut(Struct, frozen=True):
    """Something that an answer would have kept and memory did not, and why; without secrets.

    `kind` is that of a fact, empty for a line of `file`. It rests on `sources`, ids of messages;
    `newest` is the greatest of their numbers, 0 where unknown.
    """

    reason: str
    text: str
    file: File = File.MEMORY
    kind: Kind | None = None
    sources: tuple[str, ...] = ()
    newest: int = 0
    speaker: str = ""
    when: datetime | None = None

    @property
    def sentence(self) -> str:
        """The reason with the beginning of the text, as a change notes it."""
        if not self.text:
            return f"{self.reason} ({', '.join(self.sources)})" if self.sources else self.reason
        return f"{self.reason}: {self.text[:80]}"


def refused_text(operation: Operation, reason: str) -> LeftOut | None:
    """Return what memory lacks because an operation was refused; `None` where that is no text."""
    if not isinstance(operation, Add | Supersede):
        return None
    evidence = operation.evidence
    return LeftOut(
        reason,
        operation.text,
        kind=operation.kind,
        sources=evidence.sources,
        newest=evidence.newest,
        speaker=evidence.speaker,
        when=evidence.when,
    )


class Decision(Struct, frozen=True):
    """Operations and progress that are committed together or not at all."""

    task: str
    author: Author
    operations: tuple[Operation, ...] = ()
    progress: Progress = field(default_factory=Progress)
    why: str = ""
    correlation: str = ""
    notes: tuple[str, ...] = ()  # what was decided about the rest, for the change
    left_out: tuple[LeftOut, ...] = ()
    taken_in: tuple[int, ...] = ()  # numbers of left-out items that this writes after all
    job: Job | None = None  # how the idle job of this task stands once this is committed
    tokens: Tokens | None = None
    taken: int = 0  # entries that earlier decisions of the same run took out
    # The job's stamp becomes the etag of this file as the decision leaves it.
    looked_at: File | None = None
    speakers: tuple[str, ...] = ()  # who spoke in what it was decided on, in that order


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done, as a change and `pipimem log` tell it."""

    verb: str  # added, confirmed, superseded, moved, invalidated, section, block, folded, edited
    file: File
    section: str = ""
    before: str = ""
    after: str = ""
    id: str = ""
    reason: str = ""
