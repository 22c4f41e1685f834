"""The plan of a forgetting, which the channel's state holds until it is carried out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.entry import Entry, content_id
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.state.channel_state import ChannelState
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.files import read_text
from pipimem.store.forget.targets import (
    ENTRY_ALONE,
    ForgetTargets,
    messages_among,
    resolve_targets,
    without,
)
from pipimem.store.transcript.log import Transcript
from pipimem.text.folding import folded, folded_as_shown
from pipimem.text.json_codec import CodecError, decoded, encoded
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
    them.
    """
    if not messages:
        return frozenset()
    said, records = _Said(messages), _records(working_copy.state)
    entries = [entry for file in NOTE_FILES for entry in notes.note(file).entries]
    standing = {folded_as_shown(entry.text) for entry in entries}
    found = {
        folded_as_shown(entry.text)
        for entry in _past_entries(working_copy)
        if folded_as_shown(entry.text) not in standing
        and _name_if_learnt(entry, _sources(records.get(entry.record_name)), said)
    }
    return frozenset(found - {""})


def _records(state: ChannelState) -> dict[str, Record]:
    """Return the newest record of each entry, also of those that are gone, as far as is kept."""
    known = dict(state.ledger.records)
    for change in state.changes():
        known.update((name, record) for name, record in change.delta.records.items() if record)
    return known


def _past_entries(working_copy: WorkingCopy) -> Iterator[Entry]:
    """The entries of all lines that stood in a note, and of the archive, each once."""
    key = working_copy.key
    of_file = map(working_copy.past_texts, NOTE_FILES)
    past = (map(working_copy.state.line, text.lines) for texts in of_file for text in texts)
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
        said = folded(quote.said)
        if not quote.name or not said:
            return False
        names = (one.speaker for one in self.messages)
        return any(
            said in content and quote.name == name
            for content, name in zip(self._folded, names, strict=True)
        )

    def stands_in(self, entry: Entry) -> bool:
        """Whether a part of an entry of several people's words is what one of the messages says."""
        for part in _PARTS().split(read_quote(entry.text).said):
            said = folded(part).strip(_POINTS)
            if len(said) >= _LEAST_QUOTED and any(said in content for content in self._folded):
                return True
        return False


class Plan(Struct, frozen=True):
    """The texts, messages and ids of entries to be removed, and `lines` of past texts.

    A plan without `inside_words` was written when texts were looked for inside words, too.
    """

    texts: tuple[str, ...]
    messages: tuple[str, ...]
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str
    inside_words: bool = True
    lines: tuple[str, ...] = ()

    @property
    def targets(self) -> ForgetTargets:
        """What is looked for."""
        messages, lines = frozenset(self.messages), frozenset(self.lines)
        return ForgetTargets(self.texts, messages, self.inside_words, lines)


def plan_for(
    working_copy: WorkingCopy,
    log: Transcript,
    what: str | Sequence[str],
    keep_transcript: bool,
    actor: str,
    *,
    inside_words: bool,
    with_learnt: bool,
) -> Plan:
    """The plan of forgetting a text, or the entries and messages of some ids.

    With `with_learnt` also what was learnt from these messages. Raises `NothingFound` for an id of
    nothing.
    """
    notes, key = working_copy.fresh_view().current, working_copy.key
    if with_learnt and not isinstance(what, str):
        what = _with_what_was_learnt(notes, log, what)
    targets, ids = targets_for(working_copy, log, notes, what, inside_words=inside_words)
    all_ids = set(ids)
    for file in NOTE_FILES:
        all_ids.update(without(notes.note(file).text, targets, key)[1])
    if not ids and isinstance(what, str):
        all_ids.add(content_id(key, what))
    return Plan(
        targets.texts,
        tuple(sorted(targets.messages)),
        tuple(sorted(all_ids)),
        keep_transcript,
        actor,
        inside_words,
        tuple(sorted(targets.lines)),
    )


def _with_what_was_learnt(notes: Notes, log: Transcript, what: Sequence[str]) -> list[str]:
    """What is to go, with what was learnt from its messages since somebody looked that up."""
    named = messages_among(what)
    said = [one for one in log.messages() if one.id in named] if named else []
    return list(dict.fromkeys([*what, *(learnt_from(notes, said) if said else ())]))


def targets_for(
    working_copy: WorkingCopy,
    log: Transcript,
    notes: Notes,
    what: str | Sequence[str],
    *,
    inside_words: bool,
) -> tuple[ForgetTargets, list[str]]:
    """What a forgetting looks for, and the ids of the standing entries that are meant.

    Raises `NothingFound` for an id of nothing.
    """
    targets, ids = resolve_targets(notes, what, inside_words=inside_words)
    said = [one for one in log.messages() if one.id in targets.messages] if targets.messages else []
    return replace(targets, lines=learnt_before(working_copy, notes, said)), ids


def begin(working_copy: WorkingCopy, plan: Plan, marks: Iterable[str]) -> None:
    """Write the plan into the state, with the marks of the lines that are to go."""
    working_copy.state.begin_forgetting(encoded(plan), marks)


def load(working_copy: WorkingCopy) -> Plan | None:
    """Read the plan of a forgetting that has not ended; `None` where there is none."""
    value = working_copy.state.plan
    if value is None:
        return None
    try:
        plan = decoded(Plan, value)
    except CodecError:
        return None
    # An empty text would match every text.
    return plan if all(plan.texts) else None
