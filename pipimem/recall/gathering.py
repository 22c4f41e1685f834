"""An index kept up with a channel's notes, file by file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import attrgetter

from pipimem.notes.entry import Entry
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.recall.index import Index
from pipimem.recall.items import (
    Item,
    Source,
    backlog_items,
    from_history,
    from_memory,
    from_workspace,
    session_items,
)
from pipimem.text.shared_ends import shared_ends

_NOTHING: Mapping[str, object] = {}
_ID = attrgetter("id")


class Gathering:
    """Remembers which notes an index has seen: what is the same value as before costs nothing.

    Owned, like its index, by whoever owns the channel.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self._seen: dict[Source, tuple[object, ...]] = {}
        self._files = {source: _File() for source in (Source.MEMORY, Source.WORKSPACE, Source.HISTORY)}

    def update(self, notes: Notes, backlog: Sequence[Message] = ()) -> None:
        """Bring the index up to these notes and the messages that are not consolidated yet."""
        records, gone = notes.ledger.records, notes.ledger.tombstones
        self._follow(Source.SESSION, (notes.session, gone), lambda: session_items(notes.session, gone))
        self._follow_entries(Source.MEMORY, notes.memory.entries, records, lambda some: from_memory(some, records))
        self._follow_entries(Source.WORKSPACE, notes.workspace.entries, _NOTHING, from_workspace)
        self._follow_entries(Source.HISTORY, notes.history.entries, gone, lambda some: from_history(some, gone))
        self._follow(Source.LOG, tuple(backlog), lambda: backlog_items(backlog))

    def _follow(self, source: Source, values: tuple[object, ...], items: Callable[[], tuple[Item, ...]]) -> None:
        # By identity: comparing texts would cost what this saves. The values are kept, so no other can get
        # their place.
        seen = self._seen.get(source)
        if seen is None or len(seen) != len(values) or any(a is not b for a, b in zip(seen, values, strict=True)):
            self.index.update(items(), source)
            self._seen[source] = values

    def _follow_entries(
        self,
        source: Source,
        entries: Sequence[Entry],
        known: Mapping[str, object],
        items: Callable[[Iterable[Entry]], Iterator[Item]],
    ) -> None:
        """As `_follow`, for a file each of whose items comes from one entry and what is `known` of it."""
        file = self._files[source]
        if entries is file.entries and known is file.known:
            return
        if (difference := file.difference(entries, known)) is None:
            file.is_plain = self.index.update(items(entries), source)
        else:
            gone, came = difference
            self.index.change([f"{source}:{entry.ref}" for entry in gone], items(came), source)
        file.entries, file.known = entries, known


@dataclass(slots=True)
class _File:
    """The entries of a file that the index has; `is_plain` says that no two of them have one id."""

    entries: Sequence[Entry] = ()
    known: Mapping[str, object] = field(default_factory=dict)
    is_plain: bool = False

    def difference(
        self, entries: Sequence[Entry], known: Mapping[str, object]
    ) -> tuple[Sequence[Entry], Sequence[Entry]] | None:
        """Which entries are to be taken out and which put in; None where all of them have to be looked at.

        One whose `known` value is another is taken out and put in: it may have nothing to say any longer.
        """
        head, tail = shared_ends(self.entries, entries)
        gone, came = self.entries[head : len(self.entries) - tail], entries[head : len(entries) - tail]
        if not self.is_plain:
            return None
        touched = _changed(self.known, known)
        refs = {entry.ref for entry in came}
        # An id without its ordinal is a lower bound of what has to be looked at closely.
        wanted = touched | {ref.partition(".")[0] for ref in refs}
        around = _among(wanted, entries[:head], entries[len(entries) - tail :])
        again = [entry for entry in around if entry.id in touched]
        if len(refs) < len(came) or {entry.ref for entry in around} & refs - {entry.ref for entry in gone}:
            return None
        # What only moved to other lines stays; so does what is known of it, unless that changed.
        stayed = {(entry.ref, entry.section) for entry in gone} & {(entry.ref, entry.section) for entry in came}
        moved = {ref for ref, _ in stayed}
        return (
            [entry for entry in gone if entry.ref not in moved or entry.id in touched] + again,
            [entry for entry in came if entry.ref not in moved or entry.id in touched] + again,
        )


def _changed(old: Mapping[str, object], new: Mapping[str, object]) -> set[str]:
    """The names under which two mappings do not have the very same value."""
    if old is new:
        return set()
    # What did not change was taken over, so nearly all stand side by side.
    names, fresh = (*old,), (*new,)
    values, others = (*old.values(),), (*new.values(),)
    head, tail = map(min, zip(shared_ends(names, fresh), shared_ends(values, others), strict=True))
    was, now = set(names[head : len(names) - tail]), fresh[head : len(fresh) - tail]
    return {name for name in now if old.get(name) is not new[name]} | was.difference(now)


def _among(ids: Set[str], *parts: Sequence[Entry]) -> list[Entry]:
    """The entries that have one of these ids; nearly always there are none, and that is told sooner."""
    return [entry for part in parts if not ids.isdisjoint(map(_ID, part)) for entry in part if entry.id in ids]
