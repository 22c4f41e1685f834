"""The three files of a channel as a person reads and edits them beside the bot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from anyio import CancelScope, to_thread

from pipimem.clock import Clock
from pipimem.errors import PipimemError, require_count, require_one_of, require_type
from pipimem.memory.expire import is_pinned, with_pin, without_pins
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import NOTE_FILES, File, Kind
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import Author, Change, Decision, Move, Trust
from pipimem.runtime.drafts import (
    entry_words,
    replaced_entry,
    with_block,
    with_draft,
    with_newlines,
    with_words,
)
from pipimem.runtime.forget_preview import going_with
from pipimem.runtime.note_edits import (
    EditConflict,
    EntryPlace,
    ForgetPreview,
    SavedNote,
    carried,
    hiding,
    rewritten,
    successor,
    with_predecessor,
)
from pipimem.runtime.note_view import EntryFilter, NoteView, NoteViewer
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.merge.three_way import clashing_lines, merged
from pipimem.store.schedule import STAMPED, channel_stamp
from pipimem.text.markdown.lines import split_lines
from pipimem.text.private import without_private
from pipimem.text.secrets import redacted

_TASK, _PERSON = "edit", "person"


class _IsStale(Exception):
    """The notes are not what an edit was made of; ends a commit with nothing written."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes


@dataclass(slots=True, init=False, eq=False, repr=False)
class NoteFiles:
    """The files of one channel's notes, as `Channel.files` has them."""

    _store: ChannelStore
    _settings: Settings
    _clock: Clock
    # By file: a text, and that text as it may be shown. Looking for secrets takes long.
    _masked: dict[File, tuple[str, str]] = field(default_factory=dict)

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
        return await to_thread.run_sync(
            self._view, file, begin, count, EntryFilter(kind, trust, words)
        )

    def _view(self, file: File, begin: int, count: int | None, wanted: EntryFilter) -> NoteView:
        notes = self._store.with_pending_recalls(self._store.notes())
        shown = self._shown_note(notes.note(file))
        viewer = NoteViewer(notes, file, shown, self.shown, is_pinned)
        return viewer.view(self._clock.now(), begin, count, wanted)

    def _shown_note(self, note: Note) -> str:
        """The text of a file as it may be shown, kept until it is another one."""
        text, shown = self._masked.get(note.file, ("", ""))
        if text != note.text:
            text, shown = note.text, self.shown(note.text)
            self._masked[note.file] = text, shown
        return shown

    def shown(self, text: str) -> str:
        """A text as it may be shown: secrets and private stretches masked, line for line."""
        private = replace(self._settings.private, keep_lines=True)
        return redacted(without_private(text, private), own=self._settings.secrets)

    async def stamp(self) -> str:
        """A mark that changes when a file, the journal or the transcript was written."""
        files = (*STAMPED, File.SESSION)
        return (await to_thread.run_sync(channel_stamp, self._store.folder, files)).mark

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
        file are none. Raises `PipimemError` as `save`, and if the draft is empty (see `take_out`)
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

    async def take_out(self, place: EntryPlace) -> SavedNote | EditConflict:
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
        notes = await to_thread.run_sync(self._store.notes)
        entry = self._found(place, notes)
        if entry is None or place.file is not File.MEMORY:
            return self._entry_conflict(place, place.source, notes)
        decision = Decision(_TASK, Author.PERSON, (Move(entry.target, Kind(kind)),))
        with CancelScope(shield=True):
            done = await to_thread.run_sync(
                self._store.commit, decision, self._clock.now(), _PERSON
            )
        if done.outcome.refused:
            raise PipimemError(f"Nothing was moved: {done.outcome.refused[0].reason}.")
        after = await to_thread.run_sync(self._store.notes)
        return SavedNote(done.sequence, after.memory.etag)

    async def forget_preview(self, what: str | Sequence[str]) -> ForgetPreview:
        """What `Channel.forget` would remove for a text or ids; raises `NothingFound` like it."""
        going = await to_thread.run_sync(going_with, self._store, what)
        return ForgetPreview(
            tuple(self.shown(entry.text) for entry in going.entries),
            tuple(map(self._said, going.messages)),
            tuple(sorted({self.shown(message.speaker) for message in going.named})),
        )

    def _said(self, message: Message) -> str:
        said = self.shown(message.content)
        return f"{self.shown(message.speaker)}: {said}" if message.speaker else said

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

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
            now, decision = self._clock.wall(), Decision(_TASK, Author.PERSON)
            try:
                done = self._store.commit(decision, now, _PERSON, carry_out=carry_out)
            except _IsStale as stale:
                return conflict(stale.notes)
            return SavedNote(done.sequence, self._store.notes().note(file).etag)

        with CancelScope(shield=True):
            saved = await to_thread.run_sync(committed)
        return saved  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow

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


@dataclass(slots=True, eq=False, repr=False)
class OpenFiles(NoteFiles):
    """A `NoteFiles` as the runtime makes it."""
