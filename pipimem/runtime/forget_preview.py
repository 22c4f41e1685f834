"""What a forgetting would remove: passages of notes and messages, and on whose words they rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.entry import content_id, record_name
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.syscalls import raises_store_error
from pipimem.store.forget.plan import targets_for
from pipimem.store.forget.targets import (
    ForgetTargets,
    held_blocks,
    holds_target,
    removed_text,
)


class Passage(Struct, frozen=True):
    """An entry of a file that would go, or lines of it that are none, as a heading.

    `record_name` is the entry's name in the ledger.
    """

    file: File
    section: str
    text: str
    record_name: str = ""


class Forgettable(Struct, frozen=True):
    """Passages of the files and messages that would go; of those in `named` the speaker alone."""

    entries: list[Passage] = []
    messages: list[Message] = []
    named: list[Message] = []

    def __bool__(self) -> bool:
        return bool(self.entries or self.messages or self.named)


@raises_store_error
def forgettable(
    store: ChannelStore,
    what: str | Sequence[str],
    *,
    keep_transcript: bool = False,
    inside_words: bool = False,
) -> tuple[Forgettable, Forgettable]:
    """The entries and messages that a `forget` of a text or an entry's id would remove.

    Second comes what holds it only inside another word, as `tomorrow` holds `Tom`; with
    `inside_words` it comes first.
    """
    with store.reading() as working_copy:
        log, notes = store.transcript, store.notes()
        targets, _ = targets_for(working_copy, log, notes, what, inside_words=inside_words)
    anywhere = replace(targets, inside_words=True)
    whole, inside = Forgettable(), Forgettable()
    for note in _notes(store):
        for is_whole, passage in _passages(note, targets, anywhere, store.key):
            (whole if is_whole else inside).entries.append(passage)
    for message in () if keep_transcript else _messages(store):
        if holds_target(message, targets):
            whole.messages.append(message)
        elif targets.are_in(message.speaker):
            whole.named.append(message)
        elif anywhere.are_in(message.content):
            inside.messages.append(message)
    return whole, inside


def speakers_of(store: ChannelStore, found: Forgettable) -> frozenset[str]:
    """The names of all on whose words what was found rests; an empty one where that is not known.

    What the bot said counts with what people said beside it, if they did.
    """
    names = _names([*found.messages, *found.named])
    notes = store.notes()
    records = [notes.record(entry.record_name) for entry in found.entries]
    said = _messages_named(store, [record for record in records if record])
    for record in records:
        names |= _speakers_of(record, said)
    return frozenset(names or {""})


def speakers_of_entry(store: ChannelStore, ref: str) -> frozenset[str]:
    """Return the names of all on whose words an entry of MEMORY.md rests; none where it is gone."""
    meant = [entry for entry in store.notes().memory.entries if entry.ref == ref]
    found = Forgettable(
        [Passage(entry.file, entry.section, entry.text, entry.record_name) for entry in meant]
    )
    return speakers_of(store, found) if meant else frozenset()


def _messages_named(store: ChannelStore, records: Sequence[Record]) -> dict[str, Message]:
    """The messages that entries were learnt from, by id; what is gone is left out."""
    sources = {name for record in records for name in record.sources}
    return {one.id: one for one in store.transcript.messages() if one.id in sources}


def _names(messages: Iterable[Message | None]) -> set[str]:
    return {one.speaker for one in messages if one and one.role == "user"}


def _speakers_of(record: Record | None, said: Mapping[str, Message]) -> set[str]:
    if record is None:
        return {""}
    if not record.sources:
        return {record.speaker}
    sources = [said.get(name) for name in record.sources]
    names = _names(sources)
    return names | {""} if None in sources or not names else names


def _notes(store: ChannelStore) -> Iterator[Note]:
    """The notes, then the archive."""
    notes = store.notes()
    yield from (notes.note(file) for file in NOTE_FILES)
    yield store.archive()


def _passages(
    note: Note, targets: ForgetTargets, anywhere: ForgetTargets, key: bytes
) -> Iterator[tuple[bool, Passage]]:
    """What would go of a note, and what holds it only `anywhere`; first, whether it would go."""
    if not anywhere.are_in_a_line_of(note.text):
        return
    lines = note.document.lines
    for section, block in held_blocks(note.document, anywhere):
        is_whole = targets.are_in_block("".join(lines[block.start : block.end]))
        text = removed_text(note.document, block, targets if is_whole else anywhere)
        name = record_name(note.file, content_id(key, block.text))
        yield is_whole, Passage(note.file, section.title, text, name)


def _messages(store: ChannelStore) -> Iterator[Message]:
    """The messages that were not emptied by an earlier forgetting."""
    return (message for message in store.transcript.messages() if message.content)
