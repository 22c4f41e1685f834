"""The entries that go with messages: learnt from them alone, or holding their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.notes.entry import Entry
from pipimem.notes.files import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.files import read_text
from pipimem.store.forget.targets import ENTRY_ALONE, folded, folded_lines
from pipimem.store.journal.past_texts import past_texts
from pipimem.store.journal.state import State
from pipimem.text.markdown.lines import split_lines
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import read_quote

# What the rules put between two quotes: marks around the first, or dots between older and newer.
_PARTS = Pattern(r"[“”「」]|\s…\s")
_POINTS = ".,;:!?。，；：！？… "
# Fewer letters anybody may have said.
_LEAST_QUOTED = 4


def learnt_from(notes: Notes, messages: Sequence[Message]) -> list[str]:
    """What to forget with messages, as `resolve_targets` takes it: they, and their entries.

    Of an entry that rests on messages of others as well, those stay.
    """
    said = _Said(messages)
    found = [f"log:{name}" for name in sorted(said.ids)]
    for file in NOTE_FILES:
        for entry in notes.note(file).entries:
            record = notes.record(entry.record_name)
            name = _name_if_learnt(entry, _sources(record), said)
            if name:
                found.append(name)
    return list(dict.fromkeys(found))


def learnt_before(
    working_copy: WorkingCopy, notes: Notes, messages: Sequence[Message]
) -> frozenset[str]:
    """The entries that were learnt from messages and stand no more, as `ForgetTargets.lines`.

    They were taken out by hand, moved to the archive, or replaced; past texts and the archive hold
    them. Raises `JournalError`.
    """
    if not messages:
        return frozenset()
    said, records = _Said(messages), _records(working_copy.state)
    entries = [entry for file in NOTE_FILES for entry in notes.note(file).entries]
    standing = {folded_lines(entry.text) for entry in entries}
    found = {
        folded_lines(entry.text)
        for entry in _past_entries(working_copy)
        if folded_lines(entry.text) not in standing
        and _name_if_learnt(entry, _sources(records.get(entry.record_name)), said)
    }
    return frozenset(found - {""})


def _records(state: State) -> dict[str, Record]:
    """The newest record of each entry, also of those that are gone, as far as the journal tells."""
    known = dict(state.ledger.records)
    for change in state.journal.records():
        records = change.delta.records.items() if change.delta else ()
        known.update((name, record) for name, record in records if record)
    return known


def _past_entries(working_copy: WorkingCopy) -> Iterator[Entry]:
    """The entries of all lines that stood in a note, and of the archive, each once."""
    state, key = working_copy.state, working_copy.key
    past = (text.lines for file in File for text in past_texts(state, file))
    archive: Path = working_copy.path(File.ARCHIVE)
    lines = dict.fromkeys(split_lines(read_text(archive, working_copy.root) or ""))
    for text in past:
        lines.update(dict.fromkeys(text))
    for line in lines:
        # One by one: what opens a block would swallow the next.
        yield from Note.read(File.MEMORY, line, key).entries


def _sources(record: Record | None) -> tuple[str, ...]:
    return record.sources if record else ()


def _name_if_learnt(entry: Entry, sources: Sequence[str], said: _Said) -> str:
    """What the entry is called where it was learnt from what was said, else nothing."""
    if (sources and said.ids.issuperset(sources)) or said.is_quoted_by(entry):
        return entry.id
    if not said.ids.isdisjoint(sources) and said.stands_in(entry):
        return ENTRY_ALONE + entry.id
    return ""


@dataclass(slots=True)
class _Said:
    """What messages say, and their ids."""

    messages: Sequence[Message]
    ids: frozenset[str] = field(init=False)
    _folded: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = frozenset(one.id for one in self.messages)
        self._folded = [folded(one.content) for one in self.messages]

    def is_quoted_by(self, entry: Entry) -> bool:
        """Whether an entry says with name and day what one of the messages says."""
        quote = read_quote(entry.text)
        if not quote.name or not quote.said.strip():
            return False
        return any(quote.said in one.content and quote.name == one.speaker for one in self.messages)

    def stands_in(self, entry: Entry) -> bool:
        """Whether a part of an entry of several people's words is what one of the messages says."""
        for part in _PARTS().split(read_quote(entry.text).said):
            said = folded(part).strip(_POINTS)
            if len(said) >= _LEAST_QUOTED and any(said in content for content in self._folded):
                return True
        return False
