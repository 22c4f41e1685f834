"""The lines of SESSION.md and HISTORY.md that say what an entry said."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.notes.entry import Entry
from pipimem.notes.notes import Notes
from pipimem.text.words.similarity import REWORDED, SimilarTexts, alike, bigrams


class Restatements:
    """The lines of SESSION.md and HISTORY.md, to be asked for those that echo an entry.

    When an entry is superseded or taken out, its echoes are no longer so either: they stay in their
    files, but are not recalled.
    """

    def __init__(self, notes: Notes) -> None:
        self._records = notes.ledger.records
        self._lines = (*notes.session.entries, *notes.history.entries)
        self._similar = SimilarTexts(line.text for line in self._lines)
        self._by_source: dict[str, list[int]] = {}
        for place, line in enumerate(self._lines):
            for source in self._sources(f"history:{line.id}"):
                self._by_source.setdefault(source, []).append(place)

    def of(self, entry: Entry) -> list[Entry]:
        """The lines that say the same, or nearly, and rest on no other messages."""
        places = {*self._similar.of(entry.text), *self._reworded(entry)}
        return [self._lines[place] for place in sorted(places)]

    def _reworded(self, entry: Entry) -> Iterator[int]:
        """The lines about the same messages that are alike; one message may also hold two facts."""
        sources, pairs = self._sources(entry.id), bigrams(entry.text)
        for place in {place for source in sources for place in self._by_source.get(source, ())}:
            line = self._lines[place]
            is_same_talk = sources >= self._sources(f"history:{line.id}")
            if is_same_talk and alike(bigrams(line.text), pairs) >= REWORDED:
                yield place

    def _sources(self, name: str) -> frozenset[str]:
        record = self._records.get(name)
        return frozenset(record.sources) if record else frozenset()
