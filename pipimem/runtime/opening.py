"""What a turn begins with whatever is asked: the snapshot, or its standing part, as blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from pipimem.memory.snapshot import Snapshot, snapshot, standing_part
from pipimem.notes.notes import Notes
from pipimem.recall.budget import context_block
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source, masked_items, sources_of
from pipimem.settings import SecretSettings, SnapshotSettings
from pipimem.text.quotes import words_said
from pipimem.text.secrets import NO_LIST


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


@dataclass(slots=True)
class Openings:
    """What turns begin with by the notes of a time: in a session's first turn, and later.

    Another thread may read while one is made: the pair is replaced as a whole.
    """

    limits: SnapshotSettings
    own: SecretSettings = NO_LIST
    _made: tuple[Notes | None, Mapping[bool, Opening]] = (None, {})

    def known(self, notes: Notes, *, first: bool) -> Opening | None:
        """The one that was made of these notes before; costs nothing."""
        made_of, made = self._made
        return made.get(first) if made_of is notes else None

    def made(self, notes: Notes, index: Index, *, first: bool) -> Opening:
        """Made of the notes and the index of them, on the `first` turn the whole snapshot."""
        known = self.known(notes, first=first)
        if known is not None:
            return known
        items = {source: masked_items(index.items(source), self.own) for source in Source}
        shown = snapshot if first else standing_part
        opening = _opening_of(shown(items, self.limits.max_chars, self.limits.max_tokens), notes)
        made_of, made = self._made
        others = made if made_of is notes else {}
        self._made = notes, {**others, first: opening}
        return opening

    def drop(self) -> None:
        """Forgets them; they are made again."""
        self._made = None, {}


def _opening_of(shown: Snapshot, notes: Notes) -> Opening:
    """The blocks of a snapshot: what stands is one of its own, so that its bytes repeat."""
    standing, rest = shown.standing, shown.rest
    blocks = [
        _block(standing, shown.standing_left_out, notes),
        _block(rest, shown.left_out, notes),
    ]
    return _opening((*standing, *rest), blocks, notes)


def _block(items: Sequence[Item], left_out: int, notes: Notes) -> str:
    return context_block(items, notes.key, left_out=left_out, dated=False)


def _opening(items: tuple[Item, ...], blocks: Sequence[str], notes: Notes) -> Opening:
    ids = frozenset(item.id for item in items)
    words = frozenset(words_said(item.text).casefold() for item in items)
    text = "\n".join(filter(None, blocks))
    return Opening(text, items, ids, words, sources_of(items, notes.ledger.records))
