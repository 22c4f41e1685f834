"""An index kept up with a channel's notes, file by file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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


class IndexSync:
    """Brings an index up to notes, and remembers which it has seen: the same value costs nothing.

    The owner of the channel owns it, and its index.
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

    def updated(self, notes: Notes, backlog: Sequence[Message] = ()) -> IndexSync:
        """Returns a sync of these notes; where words come or go, over a copy of the index.

        So this may go on in another thread while questions are asked.
        """
        changed = list(self._changed(notes, backlog))
        is_copied = any(self.index.has_other_texts(items, source) for source, _, items in changed)
        other = IndexSync(self.index.copy() if is_copied else self.index, self._seen)
        other._take_in(changed)
        return other

    def _take_in(self, changed: Iterable[_Changed]) -> None:
        for source, values, items in changed:
            self.index.update(items, source)
            self._seen[source] = values

    def _changed(self, notes: Notes, backlog: Sequence[Message]) -> Iterator[_Changed]:
        """The sources that are other values than last time, with their items."""
        records, gone = notes.ledger.records, notes.ledger.tombstones
        sources: tuple[tuple[Source, tuple[object, ...], Callable[..., Sequence[Item]]], ...] = (
            (Source.SESSION, (notes.session, gone), session_items),
            (Source.MEMORY, (notes.memory, records), memory_items),
            (Source.WORKSPACE, (notes.workspace,), workspace_items),
            (Source.HISTORY, (notes.history, gone, records), history_items),
            (Source.LOG, tuple(backlog), backlog_items),
        )
        for source, values, items in sources:
            # By identity: comparing texts would cost what this saves. The values are kept, so no
            # other can get their place.
            seen = self._seen.get(source)
            if seen is None or list(map(id, seen)) != list(map(id, values)):
                yield source, values, items(*values)
