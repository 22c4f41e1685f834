"""Changes of the ledger that go with what a person reworded, moved, deleted or added.

Lines of SESSION.md and HISTORY.md that restate a deleted entry go with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from pipimem.notes.entry import Entry, record_name
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta, Record, Tombstone, tombstone_names
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
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
            for source in self._sources(record_name(File.HISTORY, line.id)):
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
            is_same_talk = sources >= self._sources(record_name(File.HISTORY, line.id))
            if is_same_talk and alike(bigrams(line.text), pairs) >= REWORDED:
                yield place

    def _sources(self, name: str) -> frozenset[str]:
        record = self._records.get(name)
        return frozenset(record.sources) if record else frozenset()


# Comparing each lost entry with each new one is quadratic; a file that changed more than this was
# rewritten.
_MOST_PAIRS = 200_000
# The same in pairs of letters, where entries are long: half a second.
_MOST_LOOKS = 20_000_000
# Pairs of a lost entry and a line of SESSION.md or HISTORY.md: two seconds. Who deletes more has
# cleared a file; lines in the same words go with it by their id.
_MOST_ECHOES = 4_000_000
# A reworded bullet stays where it was, most often. Elsewhere it must be as alike as this: it is
# forgotten with what it rests on, and two lines of one subject may share half of their pairs.
_REWORDED_AND_MOVED = 0.7
# Of two texts equally alike, the one in the same place is more likely the same entry.
_SAME_PLACE = 0.1


def reconciled(old: Notes, new: Notes) -> Delta:
    """What a person's edit between two readings means for the ledger; that of `new` is not read.

    A bullet that kept its text keeps its record wherever it stands. A reworded one inherits the
    record of the bullet it most resembles, and is a person's from now on. What is deleted or
    reworded leaves a tombstone, and so do lines of SESSION.md and HISTORY.md that say the same.
    """
    before, after = _bullets(old), _bullets(new)
    lost = [entry for name, entry in before.items() if name not in after]
    fresh = [entry for name, entry in after.items() if name not in before]
    places = _places(before, after) | _places(after, before)
    predecessors = _predecessors(lost, fresh, places)
    records = _moved(old, before, after)
    records |= {entry.id: None for entry in lost if entry.id in old.ledger.records}
    # Talk that is not consolidated yet may be learnt: it came after what the entry rests on.
    stone = Tombstone("deleted by hand", upto=old.ledger.cursor)
    buried = [entry.id for entry in (*lost, *_restatements(old, lost)) if entry.id not in after]
    tombstones: dict[str, Tombstone | None] = dict.fromkeys(buried, stone)
    for entry in fresh:
        records[entry.id] = _by_hand(old, entry, predecessors.get(entry.id, ""))
        cleared_tombstones = old.ledger.tombstones.keys() & tombstone_names(entry.id)
        tombstones |= dict.fromkeys(cleared_tombstones)
    return Delta(records=records, tombstones=tombstones)


def _bullets(notes: Notes) -> dict[str, Entry]:
    """The bullets of MEMORY.md by id, of equal texts the first."""
    return {entry.id: entry for entry in reversed(notes.memory.entries) if entry.bullet}


def _restatements(old: Notes, lost: Sequence[Entry]) -> list[Entry]:
    """The lines of SESSION.md and HISTORY.md that say what an entry said."""
    lines = len(old.session.entries) + len(old.history.entries)
    if not lost or len(lost) * lines > _MOST_ECHOES:
        return []
    restatements = Restatements(old)
    return [line for entry in lost for line in restatements.of(entry)]


def _moved(
    old: Notes, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> dict[str, Record | None]:
    """The records of bullets that stand under the heading of another kind now."""
    records: dict[str, Record | None] = {}
    for name, entry in after.items():
        record, kind = old.ledger.records.get(name), kind_of(entry.section)
        if record is None or name not in before or before[name].section == entry.section:
            continue
        if kind not in (None, record.kind):
            records[name] = replace(record, kind=kind)
    return records


def _by_hand(old: Notes, entry: Entry, predecessor: str) -> Record:
    """The record of an entry that a person wrote.

    It keeps what its predecessor rests on, but not who said the old words and when.
    """
    record = old.ledger.records.get(predecessor)
    known = record or Record(Trust.HUMAN)
    return replace(
        known,
        trust=Trust.HUMAN,
        quote_reason="",
        kind=kind_of(entry.section) or known.kind,
        predecessor=predecessor if record else "",
        speaker="",
        when="",
        learnt="",
        probation_until="",
    )


def _places(
    entries: Mapping[str, Entry], others: Mapping[str, Entry]
) -> dict[str, tuple[str, str]]:
    """Where the entries stand that the others lack: section, and id of the next one in both."""
    places: dict[str, tuple[str, str]] = {}
    following = ""
    for name, entry in entries.items():  # the last first
        if name in others:
            following = name
        else:
            places[name] = (entry.section, following)
    return places


def _predecessors(
    lost: Sequence[Entry], fresh: Sequence[Entry], places: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """For the ids of new entries the id of the lost one they reword, the most alike first."""
    if len(lost) * len(fresh) > _MOST_PAIRS:
        return {}
    grams = {entry.id: bigrams(entry.text) for entry in (*lost, *fresh)}
    if len(fresh) * sum(len(grams[entry.id]) for entry in lost) > _MOST_LOOKS:
        return {}
    pairs = product(lost, fresh)
    scores = [(_score(old, new, grams, places), old.id, new.id) for old, new in pairs]
    found: dict[str, str] = {}
    for score, old_id, new_id in sorted(scores, reverse=True):
        if not score:
            break
        if new_id not in found and old_id not in found.values():
            found[new_id] = old_id
    return found


def _score(
    old: Entry,
    new: Entry,
    grams: Mapping[str, frozenset[str]],
    places: Mapping[str, tuple[str, str]],
) -> float:
    """How likely the new entry rewords the old one; 0 where it is another."""
    likeness = alike(grams[old.id], grams[new.id])
    if places[old.id] == places[new.id]:
        return likeness + _SAME_PLACE if likeness >= REWORDED else 0.0
    return likeness if likeness >= _REWORDED_AND_MOVED else 0.0
