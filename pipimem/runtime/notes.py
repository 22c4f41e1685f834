"""The notes of a channel: entries listed, added, replaced and forgotten, and files edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from types import NoneType

from msgspec.structs import replace

from pipimem.errors import (
    ArgumentError,
    NothingFound,
    PipimemError,
    require_count,
    require_one_of,
    require_type,
)
from pipimem.memory.entry_changes import (
    kept_kind,
    rated,
    reworded,
    superseding,
    taken_in,
    taken_out,
    unless_it_stands,
    with_due,
)
from pipimem.memory.expire import is_pinned, with_pin, without_pins
from pipimem.memory.remember import remembered
from pipimem.memory.trust import is_group
from pipimem.memory.wishes_and_health import in_place_of_older_wishes
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import NOTE_FILES, File, Kind
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import (
    Add,
    Author,
    Change,
    Decision,
    Evidence,
    LeftOut,
    Move,
    Supersede,
    Trust,
)
from pipimem.runtime.agenda_list import AgendaItem, AgendaList
from pipimem.runtime.channel_access import PERSON, ChannelAccess
from pipimem.runtime.conflict_list import ConflictList, ListedConflict
from pipimem.runtime.forgetting import ForgetCounts, ForgetPreview, Forgetter, What
from pipimem.runtime.intake import Intake, rememberable
from pipimem.runtime.note_edits import (
    EditConflict,
    EntryPlace,
    SavedNote,
    carried,
    entry_words,
    hiding,
    replaced_entry,
    rewritten,
    successor,
    with_block,
    with_draft,
    with_newlines,
    with_predecessor,
    with_words,
)
from pipimem.runtime.note_view import (
    EntryFilter,
    EntryList,
    ListedEntry,
    NoteView,
    NoteViewer,
)
from pipimem.runtime.stored_files import StoredFiles
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.merge.three_way import clashing_lines, merged
from pipimem.store.schedule import STAMPED, channel_stamp
from pipimem.text.markdown.lines import split_lines

_ID_HINT = "Give the id of an entry, as `entries` and `search` have it."
_EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text to remember: the changes of MEMORY.md, or why it was `refused`.

    Neither where it stands there already. What reads like an instruction to the bot is `quoted`.
    """

    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """Something that an answer would have kept and memory did not, without secrets.

    `number` names it for `take_in`, `time` (ISO 8601) is when it was left out. `file` is where it
    would stand, `kind` that of a fact, and `sources` are ids of messages. The text is empty where
    it rests on what was masked.
    """

    number: int
    time: str
    reason: str
    text: str
    file: File
    kind: Kind | None
    speaker: str
    sources: tuple[str, ...]


class _IsStale(Exception):
    """The notes are not what an edit was made of; ends a commit with nothing written."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes


@dataclass(slots=True, eq=False, repr=False)
class ChannelNotes:
    """The notes of one conversation: the entries of MEMORY.md, and the three files."""

    _access: ChannelAccess
    # By file: a text, and that text as it may be shown. Looking for secrets takes long.
    _masked: dict[File, tuple[str, str]] = field(default_factory=dict)

    async def entries(
        self,
        *,
        kind: Kind | None = None,
        trust: Trust | None = None,
        older_than: timedelta | None = None,
    ) -> tuple[ListedEntry, ...]:
        """The entries of MEMORY.md in their order: of a kind, of a trust, older than that."""
        listed = EntryList(self._access)
        return await listed.entries(kind=kind, trust=trust, older_than=older_than)

    async def remember(
        self,
        text: str,
        *,
        kind: Kind = Kind.FACT,
        speaker: str = "",
        until: date | None = None,
        due: date | None = None,
        supersedes: Sequence[str] = (),
        as_quote: bool = False,
    ) -> Remembered:
        """Add an entry with the text word for word, but without secrets.

        `until` is the last day on which it holds. `due` is the day on which it is to be done: it is
        an open loop then, unless another `kind` than a fact is given. `supersedes` are ids of
        entries that it takes the place of. `as_quote` puts the `speaker` and today in front, as in
        what was learnt of talk.
        An entry with the same words is not added again, though its days be written otherwise.
        Raises `NothingFound` for a text with nothing to keep or an unknown id, and `PipimemError`
        where it would take the place of what a person typed.
        """
        _require_text(text, kind, until)
        _require_day(due, "due", "Give the day on which it is to be done.")
        if due is not None and kind == Kind.FACT:
            kind = Kind.OPEN_LOOP
        if isinstance(supersedes, str):
            raise ArgumentError("supersedes must be several ids: give a list of them.")
        for name in supersedes:
            require_type(name, str, "supersedes", _ID_HINT)

        def decided(notes: Notes) -> Decision:
            decision = self._remembered(
                text, Kind(kind), speaker, until, notes.ledger, as_quote=as_quote
            )
            if due is not None:
                decision = with_due(decision, due)
            if supersedes:
                return superseding(decision, notes, supersedes, Kind(kind))
            if due is None:
                decision = unless_it_stands(decision, notes, self._access.clock.now())
            return in_place_of_older_wishes(decision, notes)

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
        """Take entries out of MEMORY.md; `ChannelHistory.undo` brings them back, `forget` does not.

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
        now = self._access.clock.now()
        return await self._changed(lambda notes: rated(notes, entry, now, helpful=helpful))

    async def left_out(self) -> tuple[LeftOutItem, ...]:
        """Return what models would have kept and memory did not, oldest first, of 30 days."""
        return await run_in_thread(self._left_out)

    def _left_out(self) -> tuple[LeftOutItem, ...]:
        return tuple(
            LeftOutItem(
                stored.number,
                stored.time,
                self.shown(stored.item.reason),
                self.shown(stored.item.text),
                stored.item.file,
                stored.item.kind,
                self.shown(stored.item.speaker),
                stored.item.sources,
            )
            for stored in self._access.store.left_out()
        )

    async def take_in(self, number: int) -> Remembered:
        """Write an item of `left_out` after all, as `remember` would; it is listed no more.

        A line of the sheet becomes an entry, a line of history a block of its day. Raises
        `NothingFound` for an unknown number, and `PipimemError` where its text is not kept.
        """
        require_count(number, "number")
        found = await run_in_thread(self._access.store.left_out)
        stored = next((one for one in found if one.number == number), None)
        if stored is None:
            raise NothingFound(f"There is no number {number} among what was left out.")
        return await self._changed(partial(self._taken_in, number, stored.item))

    def _taken_in(self, number: int, item: LeftOut, notes: Notes) -> Decision:
        now = self._access.clock.now()

        def entry(kind: Kind, evidence: Evidence) -> Decision:
            decision = self._remembered(
                item.text, kind, item.speaker, None, notes.ledger, evidence=evidence
            )
            return in_place_of_older_wishes(unless_it_stands(decision, notes, now), notes)

        return taken_in(number, item, now, entry)

    def _remembered(
        self,
        text: str,
        kind: Kind,
        speaker: str,
        until: date | None,
        ledger: Ledger,
        *,
        as_quote: bool = False,
        evidence: Evidence | None = None,
    ) -> Decision:
        """Return the decision to add a text; with `evidence` it was said before, maybe by a bot."""
        now = self._access.clock.now()
        settings = self._access.settings
        intake = Intake(settings.private, self._access.store.key, settings.secrets)
        message = rememberable(text, speaker, now, intake)
        who = message.speaker
        needs_second_voice = (
            settings.groups.rules == "two"
            and bool(who or evidence)
            and is_group((), (who, *ledger.speakers))
        )
        return remembered(
            message.content,
            kind,
            now,
            speaker=who,
            until=until,
            as_quote=as_quote,
            needs_second_voice=needs_second_voice,
            evidence=evidence,
        )

    # ── contradictions and due days ───────────────────────────────────────────────────────────────

    async def conflicts(self) -> tuple[ListedConflict, ...]:
        """The pairs of entries that may contradict each other, and that nobody settled."""
        return await ConflictList(self._access).conflicts()

    async def settle(self, keep: str, other: str, *, both: bool = False) -> tuple[Change, ...]:
        """Keep the entry `keep` and take the other one out, or keep both of them for good.

        Returns what was changed. Raises `NothingFound` for an unknown id.
        """
        return await ConflictList(self._access).settle(keep, other, both=both)

    async def agenda(self) -> tuple[AgendaItem, ...]:
        """The open loops by day and person: overdue ones first, those without a day last."""
        return await AgendaList(self._access).agenda()

    async def _changed(self, decided: Callable[[Notes], Decision]) -> Remembered:
        """What became of a decision on the notes as they stand, which is made in a thread."""
        notes = await self._access.read_notes()
        decision = await run_in_thread(decided, notes)
        outcome = (await self._access.commit(decision, _asked_by(decision))).outcome
        refused = tuple(refusal.reason for refusal in outcome.refused)
        is_quoted = any(
            isinstance(operation, (Add, Supersede)) and operation.trust is Trust.QUOTED
            for operation in decision.operations
        )
        return Remembered(outcome.changes, refused, is_quoted)

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────

    async def forget(
        self, what: What, *, keep_transcript: bool = False, with_learnt: bool = True
    ) -> ForgetCounts:
        """Remove something from all files for good; returns counts by place.

        `what` is a `Text`, all that is said `By` a person, an entry or a message, itself or
        `ById`, or a list of such, in which a bare text is an id. With a message goes what was
        learnt from it alone, unless `with_learnt` is false. Raises `NothingFound` for an id of
        nothing, and with nothing forgotten where a text stands in nothing but a request to forget
        it.
        """
        forgetter = Forgetter(self._access)
        return await forgetter.forget(
            what, keep_transcript=keep_transcript, with_learnt=with_learnt
        )

    async def preview_forget(
        self, what: What, *, keep_transcript: bool = False, with_learnt: bool = True
    ) -> ForgetPreview:
        """What `forget` would remove; raises `NothingFound` like it."""
        forgetter = Forgetter(self._access)
        return await forgetter.preview(
            what, keep_transcript=keep_transcript, with_learnt=with_learnt
        )

    # ── looking at a file ─────────────────────────────────────────────────────────────────────────

    def masked(self, text: str) -> str:
        """A text without secrets, known or of the workspace's own list."""
        require_type(text, str, "text")
        return self._access.masked(text)

    def shown(self, text: str) -> str:
        """A text as it may be shown: secrets and private stretches masked, line for line."""
        return self._access.shown(text)

    def path(self, file: File) -> Path:
        """Where a file is on disk, or will be."""
        return StoredFiles(self._access).path(file)

    async def text(self, file: File) -> str:
        """A file as it is on disk, with all that it hides; empty where there is none."""
        return await StoredFiles(self._access).text(file)

    async def view(
        self,
        file: File,
        *,
        begin: int = 0,
        count: int | None = None,
        kind: Kind | None = None,
        trust: Trust | None = None,
        words: str = "",
    ) -> NoteView:
        """A file as it stands, without secrets and private stretches; all its blocks, or a part.

        With a kind, a trust or words those of the entries that have it, under their headings.
        """
        require_one_of(file, NOTE_FILES, "file")
        require_count(begin, "begin", least=0)
        require_type(words, str, "words")
        return await run_in_thread(self._view, file, begin, count, EntryFilter(kind, trust, words))

    def _view(self, file: File, begin: int, count: int | None, wanted: EntryFilter) -> NoteView:
        notes = self._access.notes()
        shown = self._shown_note(notes.note(file))
        viewer = NoteViewer(notes, file, shown, self.shown, is_pinned)
        return viewer.view(self._access.clock.now(), begin, count, wanted)

    def _shown_note(self, note: Note) -> str:
        """The text of a file as it may be shown, kept until it is another one."""
        text, shown = self._masked.get(note.file, ("", ""))
        if text != note.text:
            text, shown = note.text, self.shown(note.text)
            self._masked[note.file] = text, shown
        return shown

    async def stamp(self) -> str:
        """A mark that changes when a file, the state or the transcript was written."""
        files = (*STAMPED, File.SESSION)
        folder = self._access.store.folder
        return (await run_in_thread(channel_stamp, folder, files)).mark

    # ── editing ───────────────────────────────────────────────────────────────────────────────────

    async def save(
        self, file: File, draft: str, *, base: str, etag: str
    ) -> SavedNote | EditConflict:
        """Save a whole file; `base` is the text that the draft was made of, `etag` its mark.

        Secrets of a known kind are not written, and neither is what the draft marks as private.
        Raises `PipimemError` where a changed line hides something, `StoreError` with nothing saved.
        """
        require_one_of(file, NOTE_FILES, "file")
        require_type(draft, str, "draft")
        clean = with_newlines(self.shown(draft))

        def changed(notes: Notes) -> Outcome:
            note = notes.note(file)
            if note.etag != etag:
                raise _IsStale(notes)
            text = with_draft(note.text, self._shown_note(note), clean)
            return rewritten(notes, file, text)

        def conflict(notes: Notes) -> EditConflict:
            current = with_newlines(self._shown_note(notes.note(file)))
            made_of = with_newlines(base)
            return EditConflict(
                file,
                notes.note(file).etag,
                current,
                merged(made_of, current, clean),
                clashing_lines(made_of, current, clean),
            )

        saved = await self._saved(file, changed, conflict)
        return hiding(saved, clean != with_newlines(draft))

    async def save_entry(self, place: EntryPlace, draft: str) -> SavedNote | EditConflict:
        """Give an entry other words: `draft` as `NoteBlock.words` has them, without the bullet.

        Returns a conflict if the entry was reworded, moved or taken out since; other changes of the
        file are none. Raises `PipimemError` as `save`, if the draft is empty (see `remove_entry`)
        or the file would not have one entry in that place and all else as before.
        """
        require_type(draft, str, "draft")
        clean = with_newlines(self.shown(draft))
        lines = with_words(place.source, clean)

        def change(raw: str, shown: str) -> str:
            return with_draft(raw, shown, lines)

        def changed(notes: Notes) -> Outcome:
            return with_predecessor(notes, self._entry_changed(place, change, notes), place)

        saved = await self._saved(place.file, changed, partial(self._entry_conflict, place, lines))
        return hiding(saved, clean != with_newlines(draft))

    async def remove_entry(self, place: EntryPlace) -> SavedNote | EditConflict:
        """Remove an entry from its file; `ChannelHistory.undo` brings it back.

        Returns a conflict as `save_entry` does.
        """
        changed = partial(self._entry_changed, place, lambda _raw, _shown: "")
        return await self._saved(place.file, changed, partial(self._entry_conflict, place, ""))

    async def pin(self, place: EntryPlace, *, pinned: bool) -> SavedNote | EditConflict:
        """Mark an entry of MEMORY.md so that it does not expire, or take its marks away.

        Who said it and when stays known. A conflict as `save_entry` has it.
        """

        def change(raw: str, _shown: str) -> str:
            if not pinned:
                return without_pins(raw)
            return raw if is_pinned(raw) else with_pin(raw)

        def changed(notes: Notes) -> Outcome:
            outcome = self._entry_changed(place, change, notes)
            return replace(outcome, delta=carried(notes, outcome, place))

        return await self._saved(
            place.file, changed, partial(self._entry_conflict, place, place.source)
        )

    async def move(self, place: EntryPlace, kind: Kind) -> SavedNote | EditConflict:
        """Put an entry of MEMORY.md under the heading of another kind.

        Returns a conflict, with nothing written, where the entry is no longer as it was shown.
        """
        require_one_of(kind, Kind, "kind")
        store = self._access.store
        notes = await run_in_thread(store.notes)
        entry = self._found(place, notes)
        if entry is None or place.file is not File.MEMORY:
            return self._entry_conflict(place, place.source, notes)
        decision = Decision(_EDIT, Author.PERSON, (Move(entry.target, Kind(kind)),))
        done = await finish_in_thread(store.commit, decision, self._access.clock.now(), PERSON)
        if done.outcome.refused:
            raise PipimemError(f"Nothing was moved: {done.outcome.refused[0].reason}.")
        after = await run_in_thread(store.notes)
        return SavedNote(done.sequence, after.memory.etag)

    async def _saved(
        self,
        file: File,
        changed: Callable[[Notes], Outcome],
        conflict: Callable[[Notes], EditConflict],
    ) -> SavedNote | EditConflict:
        """What became of a change of the freshest notes, as one commit by a person."""

        def carry_out(_working_copy: WorkingCopy, view: View) -> Outcome:
            return changed(view.current)

        def committed() -> SavedNote | EditConflict:
            now, decision = self._access.clock.wall(), Decision(_EDIT, Author.PERSON)
            try:
                done = self._access.store.commit(decision, now, PERSON, carry_out=carry_out)
            except _IsStale as stale:
                return conflict(stale.notes)
            return SavedNote(done.sequence, self._access.store.notes().note(file).etag)

        return await finish_in_thread(committed)

    def _entry_changed(
        self, place: EntryPlace, change: Callable[[str, str], str], notes: Notes
    ) -> Outcome:
        """The notes with the lines of one entry changed: `change` takes them raw and as shown."""
        entry = self._found(place, notes)
        if entry is None:
            raise _IsStale(notes)
        note = notes.note(place.file)
        raw = "".join(note.document.lines[entry.start : entry.end])
        after = change(raw, place.source)
        text = replaced_entry(note.document, entry.start, entry.end, after)
        verb = "edited" if after else "taken out"
        done = Change(verb, place.file, place.section, entry.text, after.strip(), entry.id)
        return rewritten(notes, place.file, text, done)

    def _found(self, place: EntryPlace, notes: Notes) -> Entry | None:
        """The entry as it stands; `None` if it is not there with the lines that were shown."""
        note = notes.note(place.file)
        for entry in note.entries:
            is_there = place.section in (entry.section, self.shown(entry.section))
            if is_there and entry.ref == place.id:
                shown = with_newlines(self._shown_lines(note, entry))
                return entry if shown == place.source else None
        return None

    def _shown_lines(self, note: Note, entry: Entry) -> str:
        """The lines of an entry as a view of the whole file shows them."""
        lines, shown = note.document.lines, split_lines(self._shown_note(note))
        if len(lines) == len(shown):
            return "".join(shown[entry.start : entry.end])
        return self.shown("".join(lines[entry.start : entry.end]))

    def _entry_conflict(self, place: EntryPlace, draft: str, notes: Notes) -> EditConflict:
        """The file as it stands, and with the draft as one more entry of the section."""
        note = notes.note(place.file)
        current = with_newlines(self._shown_note(note))
        both = with_block(current, place.section, draft) if draft.strip() else current
        found = successor(notes, place)
        theirs = entry_words(self._shown_lines(note, found)) if found is not None else ""
        return EditConflict(place.file, note.etag, current, both, (place.source,), theirs)


def _asked_by(decision: Decision) -> str:
    """Whose word a decision is, as it may be written."""
    for operation in decision.operations:
        if isinstance(operation, (Add, Supersede)) and operation.evidence.speaker:
            return operation.evidence.speaker
    return PERSON


def _require_text(text: str, kind: Kind, until: date | None) -> None:
    require_type(text, str, "text")
    require_one_of(kind, Kind, "kind")
    _require_day(until, "until", "Give the last day it holds.")


def _require_day(day: date | None, name: str, hint: str) -> None:
    require_type(day, (date, NoneType), name, hint)
    if isinstance(day, datetime):
        raise ArgumentError(f"{name} must be a day, not a time: give `{name}.date()`.")
