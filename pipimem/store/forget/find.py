"""The targets of a forgetting: what a text, ids of entries and ids of messages mean."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from pipimem.errors import NothingFound
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.reconcile import restating_lines
from pipimem.state.channel_state import ChannelState
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.files import read_text
from pipimem.store.forget.targets import ForgetTargets, without
from pipimem.store.transcript.log import Transcript
from pipimem.text.folding import folded, folded_as_shown
from pipimem.text.markdown.lines import split_lines
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import read_quote

# How recall names a message.
_MESSAGE = "log:"
# What the rules put between two quotes: marks around the first, or dots between older and newer.
_SEPARATORS = Pattern(r"([“”「」]|\s…\s)")
# Separators that are left when a quote between them went.
_EMPTY_QUOTES = re.compile(r"“\s*”|「\s*」")
_DOTS_AT_AN_END = re.compile(r"^\s*(?:…\s+)+|(?:\s+…)+\s*$")
_POINTS = ".,;:!?。，；：！？… "
# Fewer letters anybody may have said.
_LEAST_QUOTED = 4


def find_targets(
    working_copy: WorkingCopy,
    log: Transcript,
    notes: Notes,
    what: str | Sequence[str],
    *,
    inside_words: bool,
    with_learnt: bool,
) -> ForgetTargets:
    """Return what a text means, or ids as recall shows them.

    A text that is an entry's id means the entry, and the messages that it was learnt from;
    `log:<id>` is a message. With `with_learnt` also what was learnt from these messages alone goes,
    and quotes of them in other entries. Raises `NothingFound` for an id of nothing.
    """
    key = working_copy.key
    texts, named = _texts_and_messages([what] if isinstance(what, str) else what)
    # A text that is no id may be learnt as an entry.
    taken_out = {content_id(key, text) for text in texts}
    texts, ids = _entries_meant(notes, texts, is_text=isinstance(what, str))
    targets = ForgetTargets.of(texts, named | _sources_of(notes, ids), inside_words=inside_words)
    if not targets.texts and not named:
        raise NothingFound("Nothing to forget: the text is empty.")
    targets = replace(
        targets,
        lines=_lines_of(working_copy, log, notes, targets.messages, named if with_learnt else ()),
        are_named=bool(ids or named),
    )
    removed = (without(notes.note(file).text, targets, key)[1] for file in NOTE_FILES)
    return replace(targets, entries=frozenset(taken_out.union(ids, *removed)))


def _lines_of(
    working_copy: WorkingCopy,
    log: Transcript,
    notes: Notes,
    messages: Container[str],
    with_learnt: Container[str],
) -> dict[str, str]:
    """Return the folded entries that were learnt from messages, with what stays of each.

    Of those that are in the notes only what was learnt from the messages `with_learnt`.
    """
    said = [message for message in log.messages() if message.id in messages]
    if not said:
        return {}
    named = [message for message in said if message.id in with_learnt]
    return _learnt_before(working_copy, notes, _Said(said)) | learnt_from(notes, named)


def _texts_and_messages(given: Iterable[str]) -> tuple[list[str], frozenset[str]]:
    """Return the texts and entry ids of what is given, and the ids in `log:<id>`."""
    texts, messages = [], set()
    for name in given:
        if name.startswith(_MESSAGE):
            messages.add(name.removeprefix(_MESSAGE))
        else:
            texts.append(name)
    return texts, frozenset(messages)


def _entries_meant(notes: Notes, texts: list[str], *, is_text: bool) -> tuple[list[str], list[str]]:
    """Return the texts of the entries of some ids, and the bare ids; a text that is no id as it is.

    Raises `NothingFound` for an id of no entry.
    """
    entries = {entry.id: entry for file in NOTE_FILES for entry in notes.note(file).entries}
    missing = [text for text in texts if _id_in(text) not in entries]
    if not missing:
        ids = [_id_in(text) for text in texts]
        return _texts_of(notes, [entries[name] for name in ids]), ids
    if is_text:
        return texts, []
    raise NothingFound(
        f"There is no entry {missing[0]!r}. See `pipimem blame --json` for the ids, or give the "
        "text."
    )


def _id_in(name: str) -> str:
    """Return the id in `memory:abcd2345.2`."""
    return name.rpartition(":")[2].partition(".")[0]


def _texts_of(notes: Notes, entries: Sequence[Entry]) -> list[str]:
    """Return the texts of entries, and of the lines of SESSION and HISTORY that restate them."""
    return [entry.text for entry in (*entries, *restating_lines(notes, entries))]


def _sources_of(notes: Notes, ids: Iterable[str]) -> frozenset[str]:
    """Return the messages that entries were learnt from."""
    # Of entries only: a line of history may sum up an hour of talk, which nobody asked to forget.
    records = (notes.ledger.records.get(name) for name in ids)
    return frozenset(source for record in records for source in _sources(record))


# ── what was learnt from messages ────────────────────────────────────────────────────────────────


def learnt_from(notes: Notes, messages: Sequence[Message]) -> dict[str, str]:
    """Return the folded entries that were learnt from messages, with what stays of each.

    Of an entry that rests on other people's messages as well, what quotes these messages goes.
    """
    said, found = _Said(messages), dict[str, str]()
    gone: list[Entry] = []
    for file in NOTE_FILES:
        for entry in notes.note(file).entries:
            rest = _rest_of(entry, _sources(notes.record(entry.record_name)), said)
            if rest is not None:
                found[folded_as_shown(entry.text)] = rest
            if rest == "" and file is File.MEMORY:
                gone.append(entry)
    found |= {folded_as_shown(text): "" for text in _texts_of(notes, gone)}
    found.pop("", None)
    return found


def _learnt_before(working_copy: WorkingCopy, notes: Notes, said: _Said) -> dict[str, str]:
    """Return the entries that were learnt from messages and stand no more, as `learnt_from` does.

    They were taken out by hand, moved to the archive, or replaced; past texts and the archive hold
    them.
    """
    records = _records(working_copy.state)
    entries = [entry for file in NOTE_FILES for entry in notes.note(file).entries]
    standing = {folded_as_shown(entry.text) for entry in entries}
    found = dict[str, str]()
    for entry in _past_entries(working_copy):
        rest = _rest_of(entry, _sources(records.get(entry.record_name)), said)
        text = folded_as_shown(entry.text) if rest is not None else ""
        if rest is not None and text and text not in standing:
            found[text] = rest
    return found


def _records(state: ChannelState) -> dict[str, Record]:
    """Return the newest record of each entry, also of those that are gone, as far as is kept."""
    known = dict(state.ledger.records)
    for change in state.changes():
        known.update((name, record) for name, record in change.delta.records.items() if record)
    return known


def _past_entries(working_copy: WorkingCopy) -> Iterator[Entry]:
    """Yield the entries of all lines that stood in a note, and of the archive."""
    archive = read_text(working_copy.path(File.ARCHIVE), working_copy.root) or ""
    past, _ = working_copy.state.past_lines()
    for line in dict.fromkeys([*split_lines(archive), *past.values()]):
        # One by one: what opens a block would swallow the next.
        yield from Note.read(File.MEMORY, line, working_copy.key).entries


def _sources(record: Record | None) -> tuple[str, ...]:
    return record.sources if record else ()


def _rest_of(entry: Entry, sources: Sequence[str], said: _Said) -> str | None:
    """Return what stays of an entry that was learnt from what was said; `None` if it was not."""
    if (sources and said.ids.issuperset(sources)) or said.is_quoted_by(entry):
        return ""
    return None if said.ids.isdisjoint(sources) else said.left_of(entry)


@dataclass(slots=True)
class _Said:
    """Messages, with their ids and folded texts."""

    messages: Sequence[Message]
    ids: frozenset[str] = field(init=False)
    _folded: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = frozenset(one.id for one in self.messages)
        self._folded = [folded(one.content) for one in self.messages]

    def is_quoted_by(self, entry: Entry) -> bool:
        """Return whether an entry says with name and day what one of the messages says."""
        quote = read_quote(entry.text)
        said = folded(quote.said)
        if not quote.name or not said:
            return False
        names = (one.speaker for one in self.messages)
        return any(
            said in content and quote.name == name
            for content, name in zip(self._folded, names, strict=True)
        )

    def left_of(self, entry: Entry) -> str | None:
        """Return an entry of several people's words without those of the messages.

        `None` where it has none of these words, empty where it has no others.
        """
        words = read_quote(entry.text).said
        parts = _SEPARATORS().split(words)
        kept = ["" if self._holds(part) else part for part in parts]
        if kept == parts:
            return None
        rest = _DOTS_AT_AN_END.sub("", _EMPTY_QUOTES.sub("", "".join(kept))).strip()
        return entry.text.removesuffix(words) + rest if rest.strip(_POINTS) else ""

    def _holds(self, part: str) -> bool:
        said = folded(part).strip(_POINTS)
        return len(said) >= _LEAST_QUOTED and any(said in content for content in self._folded)
