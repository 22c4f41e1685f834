"""Hits of a search: their scores, copies grouped, and whether the first is clearly the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice

from msgspec import Struct

from pipimem.notes.message import Message
from pipimem.recall.items import Item
from pipimem.recall.scoring import Part
from pipimem.recall.transcript.transcript_index import END, TranscriptIndex
from pipimem.text.dates.bounds import aware
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import words_said
from pipimem.text.words.index_words import Bag, Words
from pipimem.text.words.similarity import near_duplicate


class Filters(Struct, frozen=True):
    """From `after` on, up to `before`, of a speaker, in a role; None and "" for any."""

    after: datetime | None = None
    before: datetime | None = None
    speaker: str = ""
    role: str = ""

    def admits(self, item: Item) -> bool:
        """Whether an entry counts; one without a time is outside of any span."""
        if self.role or (self.speaker and item.speaker.casefold() != self.speaker.casefold()):
            return False
        return self._spans(item.when)

    def admits_message(self, message: Message) -> bool:
        """Whether a message counts; one without a time is outside of any span."""
        if self.role and message.role != self.role:
            return False
        if self.speaker and message.speaker.casefold() != self.speaker.casefold():
            return False
        return self._spans(message.time)

    def _spans(self, when: datetime | None) -> bool:
        if self.after is None and self.before is None:
            return True
        if when is None:
            return False
        is_late = self.after is None or aware(self.after) <= aware(when)
        return is_late and (self.before is None or aware(when) < aware(self.before))

    def gate(self, index: TranscriptIndex) -> Callable[[int], bool] | None:
        """A function that says whether the message of a slot counts; None if all do.

        A message without a time is outside of any span.
        """
        if self == _ANY:
            return None
        speaker = self.speaker.casefold()
        speakers = _places(speaker, map(str.casefold, index.speakers))
        roles = _places(self.role, index.role_names)
        first = aware(self.after).timestamp() if self.after else -math.inf
        end = aware(self.before).timestamp() if self.before else math.inf
        timed = self.after is not None or self.before is not None
        times, spoken_by, role_of = index.threads.times, index.spoken_by, index.roles

        def passes(slot: int) -> bool:
            if timed and not (times[slot] and first <= times[slot] < end):
                return False
            return (not speaker or spoken_by[slot] in speakers) and (
                not self.role or role_of[slot] in roles
            )

        return passes


def _places(wanted: str, names: Iterable[str]) -> frozenset[int]:
    return frozenset(place for place, name in enumerate(names) if name == wanted)


_ANY = Filters()


# Where the best hit from elsewhere has at most this share of the first one's score, the answer
# stood in or beside the first in 92 % of 346 questions in English and in all of 35 in Chinese;
# above it in 51 and 91 %.
_CLEAR = 0.75
# So far from a hit in its thread is still the same place.
_BESIDE = 2
_SIGNS = Pattern(r"[\W_]+")


class Hit(Struct, frozen=True):
    """A message with its score and the parts that add up to it.

    `slot` is its place in the index, `rank` from 1, `passage` the number of its best passage in it.
    """

    item: Item
    score: float
    parts: tuple[Part, ...]
    slot: int
    rank: int
    passage: int = 0


class HitGroup(Struct, frozen=True):
    """A hit, and those after it that say the same."""

    hit: Hit
    again: tuple[Hit, ...] = ()


def grouped(hits: Iterable[Hit], words: Words) -> tuple[HitGroup, ...]:
    """The hits in their order, each with the later ones that are nearly its copies."""
    groups: list[tuple[Bag, list[Hit]]] = []
    for hit in hits:
        bag = words.bag(hit.item.text)
        same = next((said for other, said in groups if near_duplicate(bag, other)), None)
        if same is None:
            groups.append((bag, [hit]))
        else:
            same.append(hit)
    return tuple(HitGroup(first, tuple(again)) for _, (first, *again) in groups)


def copies_of(notes: Iterable[Item], messages: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    """By the id of a note the ids of the messages that it quotes whole."""
    quoting = {_plain(words_said(note.text)): note.id for note in notes}
    found: dict[str, tuple[str, ...]] = {}
    for message in messages:
        note = quoting.get(_plain(message.text))
        if note is not None:
            found[note] = (*found.get(note, ()), message.id)
    return found


def _plain(text: str) -> str:
    """A text without case and signs: a quote has lost the full stop at its end."""
    return _SIGNS().sub(" ", text).casefold().strip()


def is_clear(hits: Sequence[Hit], index: TranscriptIndex) -> bool:
    """Whether nothing elsewhere comes near the first hit."""
    if not hits:
        return False
    here = frozenset(thread_around(index, hits[0].slot, _BESIDE, _BESIDE))
    elsewhere = next((hit.score for hit in hits if hit.slot not in here), 0.0)
    return elsewhere <= _CLEAR * hits[0].score


def thread_around(index: TranscriptIndex, slot: int, before: int, after: int) -> tuple[int, ...]:
    """A message with those before and after it in its thread, in order."""
    threads = index.threads
    return (*_chain(slot, threads.before, before)[::-1], slot, *_chain(slot, threads.after, after))


def all_around(index: TranscriptIndex, slot: int, around: int, archive: range) -> tuple[int, ...]:
    """A message with so many before and after it: of its thread, else of what was said beside that.

    Nothing that others said between the messages of the thread. `archive` holds the slots of the
    archived history, which is older than the messages on both sides of it: neither fills up the
    other.
    """
    before = _chain(slot, index.threads.before, around)[::-1]
    after = _chain(slot, index.threads.after, around)
    start, end = min([slot, *before]), max([slot, *after]) + 1
    is_archived = slot in archive
    earlier = (place for place in range(start - 1, -1, -1) if (place in archive) == is_archived)
    later = (place for place in range(end, len(index)) if (place in archive) == is_archived)
    first = [*islice(earlier, around - len(before))][::-1]
    return (*first, *before, slot, *after, *islice(later, around - len(after)))


def differing(values: Iterable[str]) -> tuple[str, ...]:
    """The values that tell hits apart, each once; none where all are the same."""
    found = tuple(dict.fromkeys(value for value in values if value))
    return found if len(found) > 1 else ()


def _chain(slot: int, following: Sequence[int], count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        slot = following[slot]
        if slot == END:
            break
        found.append(slot)
    return found
