"""The entries that go with messages: learnt from them alone, or holding their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipimem.notes.entry import Entry
from pipimem.notes.files import NOTE_FILES
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.store.forget.targets import ENTRY_ALONE, folded
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
            name = _name_if_learnt(entry, record.sources if record else (), said)
            if name:
                found.append(name)
    return list(dict.fromkeys(found))


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
