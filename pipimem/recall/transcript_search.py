"""Search in a transcript: the words and the ranking of recall over single messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.recall.index import Index
from pipimem.recall.items import Item, aware, message_item
from pipimem.recall.ranking import Candidate, ranked
from pipimem.recall.refinement import refined
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms


@dataclass(frozen=True, slots=True)
class Filters:
    """Which messages count: from `after` on, up to `before`, of a speaker, in a role; None and "" for any."""

    after: datetime | None = None
    before: datetime | None = None
    speaker: str = ""
    role: str = ""

    def let_pass(self, item: Item) -> bool:
        """Whether a message is one of those that count."""
        if self.role and item.role != self.role:
            return False
        if self.speaker and item.speaker.casefold() != self.speaker.casefold():
            return False
        if self.after is None and self.before is None:
            return True
        if item.when is None:
            return False
        return (self.after is None or aware(self.after) <= item.when) and (
            self.before is None or item.when < aware(self.before)
        )


def add_messages(index: Index, messages: Iterable[Message]) -> None:
    """Take messages into an index of a transcript; those it has are passed over."""
    index.add(message_item(message) for message in messages)


def search(
    index: Index,
    text: str,
    *,
    now: datetime,
    limit: int = 10,
    filters: Filters | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
) -> tuple[Candidate, ...]:
    """The messages that say most about `text`, best first; the id of an item is `log:<message id>`."""
    query = refined(text, index.words, now=now, synonyms=synonyms, raw=True)
    found = ranked(index, query, now, most=2 * limit, floor=0.0, only=filters.let_pass if filters else None)
    return tuple(candidate._replace(rank=rank) for rank, candidate in enumerate(found[:limit], start=1))
