"""What a person edits of the notes, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Notes, Outcome
from pipimem.notes.operations import Change
from pipimem.notes.reconcile import reconciled
from pipimem.store.commit.manual_edits import described_edit, file_change
from pipimem.text.words.similarity import REWORDED, alike, bigrams


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """One entry of a file as a page showed it: its section, its id, its lines as it showed them."""

    file: File
    section: str
    id: str
    source: str


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A file was saved: the number of the change in the log, and the mark of the text.

    `hides` says that a secret or private stretch of the draft was not written.
    """

    number: int
    etag: str
    hides: bool = False


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Nothing was saved: the file is not what the draft was made of any more.

    `etag` and `current` are of the file as it stands, `merged` is that with what the draft changed:
    where both changed the same lines, both stand there. `clashing` are such lines as they were.
    `theirs` are the words an entry most likely was reworded to; empty where nothing is like it.
    """

    file: File
    etag: str
    current: str
    merged: str
    clashing: tuple[str, ...] = ()
    theirs: str = ""


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What a forgetting would remove: lines of the notes and messages, as they may be shown.

    `speakers` are the names that would go from messages that stay.
    """

    entries: tuple[str, ...]
    messages: tuple[str, ...]
    speakers: tuple[str, ...] = ()


def hiding(saved: SavedNote | EditConflict, hides: bool) -> SavedNote | EditConflict:
    """Note in what was saved whether a part of the draft was not written."""
    return replace(saved, hides=hides) if isinstance(saved, SavedNote) else saved


def rewritten(notes: Notes, file: File, text: str, change: Change | None = None) -> Outcome:
    """Return the notes with another text of a file, and what that does to the ledger."""
    before = notes.note(file).text
    if text == before:
        return Outcome()
    delta = reconciled(notes, notes.with_texts({file: text}))
    change = change or described_edit(file, file_change(before, text))
    return Outcome({file: text}, "", delta, (change,))


def successor(notes: Notes, place: EntryPlace) -> Entry | None:
    """What an entry that is not there any more was reworded to, where that can be told.

    What the ledger knows as its rewording, else the entry that says most nearly the same.
    """
    old, entries = place.id.partition(".")[0], notes.note(place.file).entries
    for entry in entries:
        record = notes.record(entry.id)
        if record is not None and record.predecessor == old:
            return entry
    wanted = bigrams(place.source)
    likeness = [(alike(bigrams(entry.text), wanted), entry) for entry in entries]
    best = max(likeness, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= REWORDED else None


def with_predecessor(notes: Notes, outcome: Outcome, place: EntryPlace) -> Outcome:
    """The outcome of an edit of one entry, whose new wording is known as that in the ledger.

    Without it the ledger would tell a rewording by its likeness alone.
    """
    known = {entry.id for entry in notes.memory.entries}
    records = outcome.delta.records
    fresh = [name for name, record in records.items() if record is not None and name not in known]
    if len(fresh) != 1:
        return outcome
    record = records[fresh[0]]
    assert record is not None
    renamed = replace(record, predecessor=place.id.partition(".")[0])
    delta = replace(outcome.delta, records={**records, fresh[0]: renamed})
    return replace(outcome, delta=delta)


def carried(notes: Notes, outcome: Outcome, place: EntryPlace) -> Delta:
    """The ledger's change where an entry got a mark: it is the same entry, said by the same."""
    if place.file not in outcome.texts:
        return outcome.delta
    old = place.id.partition(".")[0]
    record = notes.record(old)
    if record is None:
        return replace(outcome.delta, tombstones={})
    known = {entry.id for entry in notes.memory.entries}
    after = notes.with_texts(outcome.texts).memory.entries
    fresh = {entry.id for entry in after} - known
    records = {**outcome.delta.records, **dict.fromkeys(fresh, replace(record, predecessor=old))}
    return replace(outcome.delta, records=records, tombstones={})
