"""The entries of a channel's MEMORY.md: listed, added, replaced, taken out, rated."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from types import NoneType

from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import ArgumentError, NothingFound, require_one_of, require_type
from pipimem.memory.bot_conduct import is_group
from pipimem.memory.entry_changes import (
    kept_kind,
    rated,
    reworded,
    superseding,
    taken_out,
    unless_it_stands,
)
from pipimem.memory.remember import remembered
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Add, Change, Decision, Supersede, Trust
from pipimem.runtime.entry_list import ListedEntry, listed_entries
from pipimem.runtime.intake import Intake
from pipimem.runtime.job_runner import JobRunner
from pipimem.store.channel import ChannelStore
from pipimem.text.private import without_marks
from pipimem.text.secrets import redacted

# What stands in the place of what may not be written.
_MARKS = re.compile(r"\[secret:[a-z0-9 :-]{1,40}\]")
# A label and its secret: "the door code is [secret:password]", 门锁密码 [secret:password].
_NOTHING_BUT_A_SECRET = re.compile(
    rf"(?=.*\w)(?:[^,;.!?\n，；。！？\[]*+{_MARKS.pattern}|{_MARKS.pattern}[^,;.!?\n，；。！？\[]*+)"
    r"[\s#.!。！]*"
)
_ID_HINT = "Give the id of an entry, as `entries` and `search` have it."
_PERSON = "person"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text to remember: the changes of MEMORY.md, or why it was `refused`.

    Neither where it stands there already. What reads like an instruction to the bot is `quoted`.
    """

    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()
    quoted: bool = False


@dataclass(slots=True, init=False, eq=False, repr=False)
class ChannelEntries:
    """The entries of one conversation's MEMORY.md, by their ids."""

    _store: ChannelStore
    _jobs: JobRunner
    _clock: Clock

    async def entries(
        self,
        *,
        kind: Kind | None = None,
        trust: Trust | None = None,
        older_than: timedelta | None = None,
    ) -> tuple[ListedEntry, ...]:
        """The entries of MEMORY.md in their order: of a kind, of a trust, older than that."""
        if kind is not None:
            require_one_of(kind, Kind, "kind")
        if trust is not None:
            require_one_of(trust, Trust, "trust")
        require_type(older_than, (timedelta, NoneType), "older_than", "Give a timedelta.")
        notes, now = await self._jobs.notes(), self._clock.now()
        return tuple(listed_entries(notes, now, kind, trust, older_than))

    def masked(self, text: str) -> str:
        """A text as it may be shown: without secrets, known or of the workspace's own list."""
        require_type(text, str, "text")
        return redacted(text, own=self._jobs.settings.secrets)

    async def remember(
        self,
        text: str,
        *,
        kind: Kind = Kind.FACT,
        speaker: str = "",
        until: date | None = None,
        supersedes: Sequence[str] = (),
        as_quote: bool = False,
    ) -> Remembered:
        """Add an entry with the text word for word, but without secrets.

        `until` is the last day on which it holds; `supersedes` are ids of entries that it takes the
        place of. `as_quote` puts the `speaker` and today in front, as in what was learnt of talk.
        An entry with the same words is not added again, though its days be written otherwise.
        Raises `NothingFound` for a text with nothing to keep or an unknown id, and `PipimemError`
        where it would take the place of what a person typed.
        """
        _require_text(text, kind, until)
        if isinstance(supersedes, str):
            raise ArgumentError("supersedes must be several ids: give a list of them.")
        for name in supersedes:
            require_type(name, str, "supersedes", _ID_HINT)

        def decided(notes: Notes) -> Decision:
            decision = self._remembered(
                text, Kind(kind), speaker, until, notes.ledger, as_quote=as_quote
            )
            if not supersedes:
                return unless_it_stands(decision, notes, self._clock.now())
            return superseding(decision, notes, supersedes, Kind(kind))

        return await self._changed(decided)

    async def update(
        self, entry: str, text: str, *, kind: Kind | None = None, speaker: str = ""
    ) -> Remembered:
        """Put another text in the place of an entry, under the heading of `kind` if one is given.

        Raises `NothingFound` for an unknown id or a text with nothing to keep, and `PipimemError`
        for what a person typed into the file.
        """
        require_type(entry, str, "entry", _ID_HINT)
        _require_text(text, Kind.FACT if kind is None else kind, None)

        def decided(notes: Notes) -> Decision:
            stays = kept_kind(notes, entry) if kind is None else Kind(kind)
            decision = self._remembered(text, stays, speaker, None, notes.ledger)
            return reworded(decision, notes, entry, kind)

        return await self._changed(decided)

    async def take_out(self, *entries: str) -> Remembered:
        """Take entries out of MEMORY.md; `history.undo` brings them back, as `forget` does not.

        Raises `NothingFound` for an unknown id, and `PipimemError` for what a person typed into the
        file.
        """
        for entry in entries:
            require_type(entry, str, "entries", _ID_HINT)
        return await self._changed(lambda notes: taken_out(notes, entries))

    async def rate(self, entry: str, *, helpful: bool) -> Remembered:
        """Say whether an entry was of help: that ends its probation, or begins one of 14 days.

        Only what was inferred is put on probation. Raises `NothingFound` for an unknown id.
        """
        require_type(entry, str, "entry", _ID_HINT)
        require_type(helpful, bool, "helpful", "Say True or False.")
        now = self._clock.now()
        return await self._changed(lambda notes: rated(notes, entry, now, helpful=helpful))

    def _remembered(
        self,
        text: str,
        kind: Kind,
        speaker: str,
        until: date | None,
        ledger: Ledger,
        *,
        as_quote: bool = False,
    ) -> Decision:
        now = self._clock.now()
        settings = self._jobs.settings
        intake = Intake(settings.private, self._jobs.store.key, settings.secrets)
        message = rememberable(text, speaker, now, intake)
        who = message.speaker
        among_others = bool(who) and is_group((), (who, *ledger.speakers))
        return remembered(
            message.content,
            kind,
            now,
            speaker=who,
            until=until,
            as_quote=as_quote,
            among_others=among_others,
        )

    async def _changed(self, decided: Callable[[Notes], Decision]) -> Remembered:
        """What became of a decision on the notes as they stand, which is made in a thread."""
        notes = await self._jobs.notes()
        decision = await to_thread.run_sync(decided, notes)
        outcome = (await self._jobs.commit(decision, _asked_by(decision))).outcome
        refused = tuple(refusal.reason for refusal in outcome.refused)
        is_quoted = any(
            isinstance(operation, (Add, Supersede)) and operation.trust is Trust.QUOTED
            for operation in decision.operations
        )
        return Remembered(outcome.changes, refused, is_quoted)


def _asked_by(decision: Decision) -> str:
    """Whose word a decision is, as it may be written."""
    for operation in decision.operations:
        if isinstance(operation, (Add, Supersede)) and operation.evidence.speaker:
            return operation.evidence.speaker
    return _PERSON


def _require_text(text: str, kind: Kind, until: date | None) -> None:
    require_type(text, str, "text")
    require_one_of(kind, Kind, "kind")
    require_type(until, (date, NoneType), "until", "Give the last day it holds.")
    if isinstance(until, datetime):
        raise ArgumentError("until must be a day, not a time: give `until.date()`.")


def rememberable(text: str, speaker: str, now: datetime, intake: Intake) -> Message:
    """A text to remember word for word, and who said it, as both may be written.

    Where something private was taken out nothing stands in its place. Raises `NothingFound` where
    nothing of it may be kept.
    """
    if not text.strip():
        raise NothingFound("there is nothing to remember: the text is empty; give a sentence")
    clean = intake.cleaned([Message.user(text, speaker=speaker)], now)
    kept = without_marks(clean[0].content).strip() if clean else ""
    if _NOTHING_BUT_A_SECRET.fullmatch(kept):
        raise NothingFound(
            "there is nothing left to remember once the secret is taken out: say where it is kept "
            "or who knows it, not what it is"
        )
    if not _MARKS.sub("", kept).strip():
        raise NothingFound(
            "there is nothing left to remember once secrets and private stretches are taken out"
        )
    return replace(clean[0], content=kept)
