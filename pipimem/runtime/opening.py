"""What a turn begins with whatever is asked: the snapshot, or its standing part, as blocks."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from pipimem.memory.snapshot import Snapshot
from pipimem.notes.notes import Notes
from pipimem.recall.context_block import context_block
from pipimem.recall.items import Item, sources_of
from pipimem.text.quotes import words_said


@dataclass(frozen=True, slots=True)
class Opening:
    """The text of one block or two, and what stands in it.

    `ids` are those of the items, `words` what was said in them, `sources` the messages that they
    rest on.
    """

    text: str = ""
    items: tuple[Item, ...] = ()
    ids: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()

    def without(self, shown: Set[str], notes: Notes) -> Opening:
        """What of it was not shown before, in one block."""
        fresh = tuple(item for item in self.items if item.id not in shown)
        return _opening(fresh, [context_block(fresh, notes.key, dated=False)], notes)


def opening_of(snapshot: Snapshot, notes: Notes) -> Opening:
    """The blocks of a snapshot: what stands is one of its own, so that its bytes repeat."""
    standing, rest = snapshot.standing, snapshot.rest
    blocks = [
        _block(standing, snapshot.standing_left_out, notes),
        _block(rest, snapshot.left_out, notes),
    ]
    return _opening((*standing, *rest), blocks, notes)


def _block(items: Sequence[Item], left_out: int, notes: Notes) -> str:
    return context_block(items, notes.key, left_out=left_out, dated=False)


def _opening(items: tuple[Item, ...], blocks: Sequence[str], notes: Notes) -> Opening:
    ids = frozenset(item.id for item in items)
    words = frozenset(words_said(item.text).casefold() for item in items)
    text = "\n".join(filter(None, blocks))
    return Opening(text, items, ids, words, sources_of(items, notes.ledger.records))
