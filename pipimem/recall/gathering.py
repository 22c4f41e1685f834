"""An index kept up with a channel's notes, file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.recall.index import Index
from pipimem.recall.items import (
    Item,
    Source,
    backlog_items,
    history_items,
    memory_items,
    session_items,
    workspace_items,
)

_Changed = tuple[Source, tuple[object, ...], Sequence[Item]]
"""A source, the values that its items were made of, and the items."""


class Gathering:
    """Remembers which notes an index has seen: what is the same value as before costs nothing.

    Owned, like its index, by whoever owns the channel.
    """

    def __init__(
        self, index: Index, seen: Mapping[Source, tuple[object, ...]] | None = None
    ) -> None:
        """`seen` are the values that the index holds already."""
        self.index = index
        self._seen = dict(seen or {})

    def update(self, notes: Notes, backlog: Sequence[Message] = ()) -> None:
        """Bring the index up to these notes and the messages that are not consolidated yet."""
        self._take_in(self._changed(notes, backlog))

    def updated(self, notes: Notes, backlog: Sequence[Message] = ()) -> Gathering:
        """The same, brought up to these notes; where words come or go, with an index of its own.

        So this may go on in another thread while questions are asked.
        """
        changed = list(self._changed(notes, backlog))
        is_copied = any(self.index.has_other_texts(items, source) for source, _, items in changed)
        other = Gathering(self.index.copy() if is_copied else self.index, self._seen)
        other._take_in(changed)
        return other

    def _take_in(self, changed: Iterable[_Changed]) -> None:
        for source, values, items in changed:
            self.index.update(items, source)
            self._seen[source] = values

    def _changed(self, notes: Notes, backlog: Sequence[Message]) -> Iterator[_Changed]:
        """The sources that are other values than last time, with their items."""
        memory, history = notes.memory, notes.history
        records, gone = notes.ledger.records, notes.ledger.tombstones
        if self._is_other(Source.SESSION, notes.session, gone):
            yield Source.SESSION, (notes.session, gone), session_items(notes.session, gone)
        if self._is_other(Source.MEMORY, memory, records):
            yield Source.MEMORY, (memory, records), memory_items(memory, records)
        if self._is_other(Source.WORKSPACE, notes.workspace):
            yield Source.WORKSPACE, (notes.workspace,), workspace_items(notes.workspace)
        if self._is_other(Source.HISTORY, history, gone):
            yield Source.HISTORY, (history, gone), history_items(history, gone)
        if self._is_other(Source.LOG, *backlog):
            yield Source.LOG, tuple(backlog), backlog_items(backlog)

    def _is_other(self, source: Source, *values: object) -> bool:
        # By identity: comparing texts would cost what this saves. The values are kept, so no other can get
        # their place.
        seen = self._seen.get(source)
        return (
            seen is None
            or len(seen) != len(values)
            or any(a is not b for a, b in zip(seen, values, strict=True))
        )
