"""What `forget` looks for, and a text, a ledger or a message without it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from pipimem.errors import NothingFound
from pipimem.notes.entry import Entry, content_id, said_mark
from pipimem.notes.kinds import NOTE_FILES
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.reconcile import restating_lines
from pipimem.text.characters import without_emoji
from pipimem.text.folding import folded, folded_as_shown, is_decorated, stands_in
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, Section, parsed

# How recall names a message.
_MESSAGE = "log:"
# An entry whose messages stay: only some of them are to be forgotten.
ENTRY_ALONE = "alone:"
# They go whole.
_ENTRY_KINDS = (BlockKind.ENTRY, BlockKind.PARAGRAPH)


class ForgetTargets(Struct, frozen=True):
    """What is to be forgotten: folded texts, and ids of messages to be emptied.

    `inside_words` is as in `stands_in`. `lines` are folded entries that stand no more: they go from
    past texts and the archive where nothing but one of them is said, never from what people said.
    """

    texts: tuple[str, ...]
    messages: frozenset[str] = frozenset()
    inside_words: bool = False
    lines: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, texts: Iterable[str], messages: Iterable[str] = (), *, inside_words: bool = False
    ) -> ForgetTargets:
        """Folds the texts, also without their emoji; empty ones are left out."""
        given = {folded(each) for text in texts for each in (text, without_emoji(text))} - {""}
        return cls(tuple(sorted(given)), frozenset(messages), inside_words)

    def are_in(self, text: str) -> bool:
        """Whether a text holds any of the texts, as it was typed or as it is shown."""
        if self._any_in(folded(text)):
            return True
        return is_decorated(text) and self._any_in(folded_as_shown(text))

    def are_in_block(self, text: str) -> bool:
        """Whether a block of a note holds any of the texts, or is one of the lines."""
        return self.are_in(text) or (bool(self.lines) and folded_as_shown(text) in self.lines)

    def are_in_a_line_of(self, text: str) -> bool:
        """Whether a note, or a line of it, holds any."""
        by_line = bool(self.lines) and any(map(self.are_in_block, text.splitlines()))
        return self.are_in(text) or by_line

    def _any_in(self, text: str) -> bool:
        return any(stands_in(text, needle, inside_words=self.inside_words) for needle in self.texts)


def without(text: str, targets: ForgetTargets, key: bytes) -> tuple[str, list[str]]:
    """A Markdown text without what holds a target, and the ids of the entries removed.

    An entry is removed whole.
    """
    if not targets.are_in_a_line_of(text):
        return text, []
    document = parsed(text)
    lines, removed = list(document.lines), []
    for _, block in reversed(list(held_blocks(document, targets))):
        lines[block.start : block.end] = _cleaned_block(document, block, targets)
        if block.kind in _ENTRY_KINDS:
            removed.append(content_id(key, block.text))
    return "".join(lines), removed


def held_blocks(
    document: Document, targets: ForgetTargets
) -> Iterator[tuple[Section, MarkdownBlock]]:
    """The blocks that hold a target, each with its section."""
    for section in document.sections:
        for block in section.blocks:
            if targets.are_in_block("".join(document.lines[block.start : block.end])):
                yield section, block


def removed_text(document: Document, block: MarkdownBlock, targets: ForgetTargets) -> str:
    """What goes of a block that holds a target: an entry's text, or lines of something else."""
    if block.kind in _ENTRY_KINDS:
        return block.text
    left = set(_cleaned_block(document, block, targets))
    lines = document.lines[block.start : block.end]
    return "".join(line for line in lines if line not in left).strip()


def _cleaned_block(document: Document, block: MarkdownBlock, targets: ForgetTargets) -> list[str]:
    """The lines that stay of a block."""
    if block.kind in _ENTRY_KINDS:
        return []
    if block.kind is BlockKind.HEADING:
        # A heading stays one, or what stands below would come under another.
        return [f"{'#' * block.level} …{document.eol}"]
    lines = document.lines[block.start : block.end]
    kept = [line for line in lines if not targets.are_in_block(line)]
    return [] if targets.are_in_block("".join(kept)) else kept


def blanked_ledger(ledger: Ledger, targets: ForgetTargets, said: Iterable[Message] = ()) -> Ledger:
    """A ledger without the targets.

    Speakers and reasons that hold one are emptied, pending bullets and questions removed, and so
    are sources: those of an import are names of files. Of the people who were there, those go too
    who said nothing but targets, as far as `said` tells.
    """
    gone = _speakers_of_nothing_else(said, targets)

    def blank(text: str) -> str:
        return "" if text and targets.are_in(text) else text

    known = ledger.records.items()
    records = {name: _blanked_record(record, targets) for name, record in known}
    # The reason of a newer word may be that word.
    tombstones = {
        name: structs.replace(stone, reason=blank(stone.reason))
        for name, stone in ledger.tombstones.items()
    }
    return structs.replace(
        ledger,
        records=records,
        speakers=tuple("" if name in gone else blank(name) for name in ledger.speakers),
        tombstones=tombstones,
        pending=tuple(bullet for bullet in ledger.pending if not targets.are_in(bullet.text)),
        holes=tuple(hole._replace(reason=blank(hole.reason)) for hole in ledger.holes),
        asked=tuple(asked for asked in ledger.asked if not targets.are_in(asked.text)),
    )


def _blanked_record(record: Record, targets: ForgetTargets) -> Record:
    """A record without a speaker and sources that hold a target."""
    sources = tuple(source for source in record.sources if not targets.are_in(source))
    speaker = "" if record.speaker and targets.are_in(record.speaker) else record.speaker
    return structs.replace(record, speaker=speaker, sources=sources)


def _speakers_of_nothing_else(said: Iterable[Message], targets: ForgetTargets) -> set[str]:
    gone, stay = set[str](), set[str]()
    for message in said if targets.messages else ():
        if message.id in targets.messages:
            gone.add(message.speaker)
        elif message.content:
            stay.add(message.speaker)
    return gone - stay


def holds_target(message: Message, targets: ForgetTargets) -> bool:
    """Whether a message is to be emptied, or holds what is to be forgotten."""
    return message.id in targets.messages or targets.are_in(message.content)


def blanked_message(message: Message, targets: ForgetTargets, key: bytes = b"") -> Message:
    """A message with its content emptied where it holds a target, and so its speaker.

    It keeps its place and id, and with a `key` a mark of what it said: handed in once more, by the
    platform or by a host that has no ids, it is not taken in again.
    """
    if holds_target(message, targets):
        said = message.content and key
        mark = said_mark(key, message.role, message.content) if said else message.emptied
        message = replace(message, content="", emptied=mark)
    if targets.are_in(message.speaker):
        message = replace(message, speaker="")
    return message


def resolve_targets(
    notes: Notes, what: str | Sequence[str], *, inside_words: bool = False
) -> tuple[ForgetTargets, list[str]]:
    """The targets that a text, or ids as recall shows them, mean; and the ids of standing entries.

    A text that is an entry's id means the entry, and the messages that it was learnt from;
    `alone:<id>` is the entry without them, `log:<id>` is a message. Raises `NothingFound` for
    an id of nothing.
    """
    given = [what] if isinstance(what, str) else what
    texts, messages = _texts_and_messages(given)
    entries = {entry.id: entry for file in NOTE_FILES for entry in notes.note(file).entries}
    ids = _ids_of(texts, entries, is_text=isinstance(what, str))
    if ids:
        texts = _texts_of(notes, [entries[name] for name in ids])
    all_messages = messages | _sources_of(notes, set(ids) - _alone(given))
    targets = ForgetTargets.of(texts, all_messages, inside_words=inside_words)
    if not targets.texts and not messages:
        raise NothingFound("Nothing to forget: the text is empty.")
    return targets, ids


def _ids_of(given: Sequence[str], entries: Container[str], *, is_text: bool) -> list[str]:
    """The ids of entries in what is given; none where it is a text that is no id.

    Raises `NothingFound` for an id of no entry.
    """
    missing = [each for each in given if _id_in(each) not in entries]
    if not missing:
        return [_id_in(each) for each in given]
    if is_text:
        return []
    raise NothingFound(
        f"There is no entry {missing[0]!r}. See `pipimem blame --json` for the ids, or give the "
        "text."
    )


def messages_among(given: Iterable[str]) -> frozenset[str]:
    """The ids of the messages that are named by `log:<id>`."""
    return _texts_and_messages(given)[1]


def _texts_and_messages(given: Iterable[str]) -> tuple[list[str], frozenset[str]]:
    """The texts and entry ids of what is given, and the ids in `log:<id>`."""
    texts, messages = [], set()
    for each in given:
        if each.startswith(_MESSAGE):
            messages.add(each.removeprefix(_MESSAGE))
        else:
            texts.append(each)
    return texts, frozenset(messages)


def _texts_of(notes: Notes, entries: Sequence[Entry]) -> list[str]:
    """The texts of entries, and of the lines of SESSION and HISTORY that restate them."""
    return [entry.text for entry in (*entries, *restating_lines(notes, entries))]


def _id_in(name: str) -> str:
    """The id in `memory:abcd2345.2`."""
    return name.rpartition(":")[2].partition(".")[0]


def _alone(given: Sequence[str]) -> set[str]:
    """The ids of the entries whose messages stay: those that are given in no other way."""
    ids = {_id_in(each) for each in given if each.startswith(ENTRY_ALONE)}
    return ids - {_id_in(each) for each in given if not each.startswith(ENTRY_ALONE)}


def _sources_of(notes: Notes, ids: Iterable[str]) -> frozenset[str]:
    """The messages that entries were learnt from."""
    # Of entries only: a line of history may sum up an hour of talk, which nobody asked to forget.
    records = (notes.ledger.records.get(name) for name in ids)
    return frozenset(source for record in records if record for source in record.sources)
