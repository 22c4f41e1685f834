"""An index kept up with a channel's notes, file by file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


class Gathering:
    """Remembers which notes an index has seen: what is the same value as before costs nothing.

    Owned, like its index, by whoever owns the channel.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self._seen: dict[Source, tuple[object, ...]] = {}

    def update(self, notes: Notes, backlog: Sequence[Message] = ()) -> None:
        """Bring the index up to these notes and the messages that are not consolidated yet."""
        memory, history = notes.memory, notes.history
        records, gone = notes.ledger.records, notes.ledger.tombstones
        self._follow(Source.SESSION, (notes.session, gone), lambda: session_items(notes.session, gone))
        self._follow(Source.MEMORY, (memory, records), lambda: memory_items(memory, records))
        self._follow(Source.WORKSPACE, (notes.workspace,), lambda: workspace_items(notes.workspace))
        self._follow(Source.HISTORY, (history, gone), lambda: history_items(history, gone))
        self._follow(Source.LOG, tuple(backlog), lambda: backlog_items(backlog))

    def _follow(self, source: Source, values: tuple[object, ...], items: Callable[[], Iterable[Item]]) -> None:
        # By identity: comparing texts would cost what this saves. The values are kept, so no other can get
        # their place.
        seen = self._seen.get(source)
        if seen is None or len(seen) != len(values) or any(a is not b for a, b in zip(seen, values, strict=True)):
            self.index.update(items(), source)
            self._seen[source] = values
