"""What a forgetting would remove: passages of notes and messages, and on whose words they rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.places import Held, Passage

__all__ = ["Forgettable", "Passage", "forgettable", "speakers_of", "speakers_of_entry"]


class Forgettable(Struct, frozen=True):
    """Passages of the files and messages that would go; of those in `named` the speaker alone."""

    entries: list[Passage] = []
    messages: list[Message] = []
    named: list[Message] = []

    def __bool__(self) -> bool:
        return bool(self.entries or self.messages or self.named)


def forgettable(
    store: ChannelStore,
    what: str | Sequence[str],
    *,
    keep_transcript: bool = False,
    inside_words: bool = False,
    with_learnt: bool = True,
) -> tuple[Forgettable, Forgettable]:
    """Return the entries and messages that a `forget` of a text or of ids would remove.

    Second comes what holds it only inside another word, as `tomorrow` holds `Tom`; with
    `inside_words` it comes first.
    """
    whole, anywhere = store.find_held(
        what, keep_transcript=keep_transcript, inside_words=inside_words, with_learnt=with_learnt
    )
    going, held = _gathered(whole), _gathered(anywhere)
    inside = [entry for entry in held.entries if entry not in going.entries]
    return going, Forgettable(inside, [one for one in held.messages if one not in going.messages])


def _gathered(found: Iterable[Held]) -> Forgettable:
    """Gather what places hold. Messages that were emptied before are left out."""
    entries, messages, named = list[Passage](), list[Message](), list[Message]()
    for held in found:
        entries += held.passages
        messages += [message for message in held.messages if message.content]
        named += held.named
    return Forgettable(entries, messages, named)


def speakers_of(store: ChannelStore, found: Forgettable) -> frozenset[str]:
    """Return the names of all on whose words what was found rests; empty ones where unknown.

    What the bot said counts with what people said beside it, if they did.
    """
    records = [store.notes().record(entry.record_name) for entry in found.entries]
    return _names([*found.messages, *found.named]) | _speakers_of(store, records) or frozenset({""})


def speakers_of_entry(store: ChannelStore, ref: str) -> frozenset[str]:
    """Return the names of all on whose words an entry of MEMORY.md rests; none where it is gone."""
    notes = store.notes()
    records = [
        notes.record(entry.record_name) for entry in notes.memory.entries if entry.ref == ref
    ]
    return _speakers_of(store, records)


def _speakers_of(store: ChannelStore, records: Sequence[Record | None]) -> frozenset[str]:
    sources = {name for record in records if record for name in record.sources}
    said = {one.id: one for one in store.transcript.messages() if one.id in sources}
    return frozenset(name for record in records for name in _speakers_of_record(record, said))


def _speakers_of_record(record: Record | None, said: Mapping[str, Message]) -> frozenset[str]:
    if record is None or not record.sources:
        return frozenset({record.speaker if record else ""})
    sources = [said[name] for name in record.sources if name in said]
    names = _names(sources)
    return names if names and len(sources) == len(record.sources) else names | {""}


def _names(messages: Iterable[Message]) -> frozenset[str]:
    return frozenset(one.speaker for one in messages if one.role == "user")
