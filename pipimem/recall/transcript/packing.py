"""The state of a transcript's index, and its bytes: a start need not cut all talk into words."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

from pipimem.recall.transcript.threads import Threads

# Words are written one a line: none has an end of line in it.
_BETWEEN = "\n"
_NO_POSTINGS: Sequence[int] = ()
# What the rows are made of: of messages, of their threads, of days, of words.
_KINDS = "iBBBiiiqiiiIIIII"
# So many of them have a number for each message.
_OF_MESSAGES = 9


class StoredPostings:
    """Words in order, and for each where its slots end in one long row of slots; never changed."""

    def __init__(
        self, words: Sequence[str] = (), ends: Sequence[int] = (), slots: Sequence[int] = ()
    ) -> None:
        """Raises `ValueError` where words, ends and slots do not fit together."""
        if len(words) != len(ends) or (ends[-1] if ends else 0) != len(slots):
            raise ValueError("words and places do not fit together")
        self.words, self.ends, self.slots = words, ends, slots
        self._numbers = dict(zip(words, range(len(words)), strict=True))

    def places(self, word: str) -> Sequence[int]:
        """The slots of a word, in order."""
        number = self._numbers.get(word)
        if number is None:
            return _NO_POSTINGS
        return self.slots[self.ends[number - 1] if number else 0 : self.ends[number]]


def _bytes() -> array[int]:
    return array("B")


@dataclass(slots=True)
class TranscriptState:
    """What an index knows of a transcript; most of it by the slot of a message.

    `spoken_by` and `roles` are numbers of `speakers` and `role_names`; `days` go by the ordinal of
    the date; `stored` are the words and their slots.
    """

    speakers: list[str] = field(default_factory=list)
    role_names: list[str] = field(default_factory=list)
    spoken_by: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=_bytes)
    shapes: array[int] = field(default_factory=_bytes)
    roles: array[int] = field(default_factory=_bytes)
    threads: Threads = field(default_factory=Threads)
    days: dict[int, array[int]] = field(default_factory=dict)
    stored: StoredPostings = field(default_factory=StoredPostings)

    def values(self) -> dict[str, Any]:
        """Each field by its name."""
        return {each.name: getattr(self, each.name) for each in fields(TranscriptState)}


def joined(places: Iterable[Sequence[int]]) -> tuple[array[int], array[int]]:
    """The slots of words one after the other in one row, and where each word's end."""
    ends, row = array("I"), array("I")
    for slots in places:
        row.extend(slots)
        ends.append(len(row))
    return ends, row


def packed(state: TranscriptState) -> bytes:
    """The state as bytes, numbers in the byte order of this machine; whoever keeps it stamps it."""
    import msgspec  # 4 ms of a start that searches nothing

    threads, stored = state.threads, state.stored
    rows: tuple[Iterable[int], ...] = (
        *(state.spoken_by, state.lengths, state.shapes, state.roles),
        *(threads.of, threads.before, threads.after, threads.times, threads.speakers),
        *(threads.last, threads.last.values(), state.days, *joined(state.days.values())),
        *(stored.ends, stored.slots),
    )
    # A name may hold half a character, which JSON can encode.
    names = json.dumps([state.speakers, state.role_names]).encode()
    numbers = [memoryview(array(kind, row)) for row, kind in zip(rows, _KINDS, strict=True)]
    return msgspec.msgpack.encode(
        (names, numbers, _BETWEEN.join(stored.words).encode("utf-8", "surrogatepass"))
    )


def unpacked(data: memoryview) -> TranscriptState:
    """The state that was packed; the words' slots are read where they lie in `data`.

    Raises `ValueError` where the bytes are no state.
    """
    import msgspec

    shape = tuple[bytes, list[memoryview], memoryview]
    try:
        people, numbers, vocabulary = msgspec.msgpack.decode(data, type=shape)
        kinds = zip(numbers[:-2], _KINDS[:-2], strict=True)
        rows = [array(kind, bytes(row)) for row, kind in kinds]
        word_ends, word_slots = numbers[-2].cast("I"), numbers[-1].cast("I")
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        raise ValueError(f"no index: {error}") from error
    if len({len(row) for row in rows[:_OF_MESSAGES]}) != 1:
        raise ValueError("rows of different lengths")
    spoken_by, lengths, shapes, roles, of, before, after, times, by = rows[:_OF_MESSAGES]
    newest_of, newest, days, ends, slots = rows[_OF_MESSAGES:]
    speakers, role_names = json.loads(people)
    words = str(vocabulary, "utf-8", "surrogatepass").split(_BETWEEN) if word_ends else []
    bounds = pairwise((0, *ends))
    by_day = {day: slots[low:high] for day, (low, high) in zip(days, bounds, strict=True)}
    threads = Threads(of, before, after, times, by, dict(zip(newest_of, newest, strict=True)))
    stored = StoredPostings(words, word_ends, word_slots)
    return TranscriptState(
        speakers, role_names, spoken_by, lengths, shapes, roles, threads, by_day, stored
    )
