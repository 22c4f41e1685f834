"""The lines of SESSION.md and HISTORY.md that say what an entry said."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.notes.entry import Entry
from pipimem.notes.notes import Notes
from pipimem.text.similarity import REWORDED, alike, bigrams, same_thought


def echoes(notes: Notes, entry: Entry) -> Iterator[str]:
    """The ids of lines that say the same, or nearly, and rest on nothing but what the entry rested on.

    When an entry is superseded or taken out, they are no longer so either: they stay in their files, but are not
    recalled.
    """
    records = notes.ledger.records
    record = records.get(entry.id)
    sources = frozenset(record.sources) if record else frozenset[str]()
    pairs = bigrams(entry.text)
    for line in (*notes.session.entries, *notes.history.entries):
        told = records.get(f"history:{line.id}")
        # Of two lines about the same messages one may be the other reworded; one message may also hold two facts.
        same_talk = told is not None and told.sources and sources.issuperset(told.sources)
        if same_thought(line.text, entry.text) or (same_talk and alike(bigrams(line.text), pairs) >= REWORDED):
            yield line.id
