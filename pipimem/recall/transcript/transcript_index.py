"""The index of a transcript: which passages hold a word, and what each message is like."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from enum import IntFlag
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from pipimem.notes.message import Role
from pipimem.recall.items import Item
from pipimem.recall.phrases import NAMES_A_TIME, says
from pipimem.recall.postings import Spelling, pairs
from pipimem.text.dates.calendar_words import SHORT
from pipimem.text.passages import TextPassage, passages
from pipimem.text.patterns import Pattern
from pipimem.text.talk.asking import may_be_off_the_record
from pipimem.text.words.index_words import Words


class Formula(Struct, frozen=True):
    """All constants of one way to rank; a word that stands in one passage of all counts 1.

    Chosen on LoCoMo, BEAM and MemoryBank together, each counting the same.
    """

    saturation: float = 1.4
    """BM25's k1."""
    length: float = 0.35
    """BM25's b, against the mean length of the talk's passages."""
    common: float = 0.75
    """What a word counts that is common in any talk."""
    before: tuple[float, ...] = (0.75, 0.25, 0.15)
    """What a word counts that stands one, two, three messages earlier.

    What was asked belongs to the answer.
    """
    after: tuple[float, ...] = (0.35, 0.1, 0.1)
    """What a word counts that stands one, two, three messages later."""
    brevity: float = 1.2
    """How much less a neighbour's words count for each mean passage that it is longer than one."""
    borrowed: float = 0.9
    """The most a word counts that only a neighbour has, against that neighbour."""
    pairs: float = 0.45
    """Two Chinese characters next to each other, against a word.

    They find what was cut differently.
    """
    date: float = 0.8
    """A message of the day that is asked for, by itself."""
    dated: float = 0.9
    """… and what its words count more."""
    person: float = 0.3
    """A message of the person that is named, once it shares a word."""
    spoken: float = 0.6
    """… and what its words count more."""
    of_role: Mapping[Role, float] = MappingProxyType({"user": 1.4, "assistant": 0.3})
    """What the words count more of the person in a talk with a bot, or of the bot if asked for."""
    question: float = 0.3
    """What the words of a message that only asks count less: the answer is elsewhere."""
    time: float = 0.35
    """What they count more where the question asks when and the message names a time."""
    number: float = 0.15
    """… how many, and it has a number."""
    name: float = 0.15
    """… who, where or which, and it has a name."""


FORMULA = Formula()

# The number of the room's own thread.
ROOM = -1
# Where a chain of messages ends.
END = -1
# After an hour of silence people begin anew.
PAUSE_SECONDS = 3600


@dataclass(slots=True)
class Threads:
    """For each message its thread, by the number of a person, and its neighbours there.

    `times` are in seconds since 1970, 0 for one that is not known; `speakers` are -1 for the bot;
    `last` is the newest message of each thread.

    The bot's answer and what it answers are that person's thread, however many others are talked to
    between them. People who talk to each other share the room's.
    """

    of: array[int] = field(default_factory=lambda: array("i"))
    before: array[int] = field(default_factory=lambda: array("i"))
    after: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("q"))
    speakers: array[int] = field(default_factory=lambda: array("i"))
    last: dict[int, int] = field(default_factory=dict)

    def add(self, speaker: int, time: int, *, by_bot: bool) -> None:
        """Adds a message at `time` (seconds, 0 if unknown); what tools print is by the bot too."""
        slot = len(self.of)
        if by_bot and slot and self.of[-1] == ROOM and self.speakers[-1] >= 0:
            self._move(slot - 1)
        self.speakers.append(-1 if by_bot else speaker)
        self.times.append(time)
        self.of.append(ROOM)
        self.before.append(END)
        self.after.append(END)
        self._link(slot, self.of[slot - 1] if by_bot and slot else ROOM)

    def _move(self, slot: int) -> None:
        """Moves a message, and what its speaker said just before, into their own thread."""
        speaker, first = self.speakers[slot], slot
        while first and self.of[first - 1] == ROOM and self.speakers[first - 1] == speaker:
            first -= 1
        for moved in range(first, slot + 1):
            if self.before[moved] != END:
                self.after[self.before[moved]] = END
        rest = self.before[first]
        if rest == END:
            self.last.pop(ROOM, None)
        else:
            self.last[ROOM] = rest
        for moved in range(first, slot + 1):
            self.before[moved] = self.after[moved] = END
            self._link(moved, speaker)

    def _link(self, slot: int, thread: int) -> None:
        self.of[slot] = thread
        before = self.last.get(thread, END)
        if before != END and self._near(before, slot):
            self.before[slot], self.after[before] = before, slot
        self.last[thread] = slot

    def _near(self, one: int, other: int) -> bool:
        first, second = self.times[one], self.times[other]
        return not first or not second or abs(second - first) <= PAUSE_SECONDS


class Shape(IntFlag):
    """What stands in a message, or is asked for."""

    QUESTION = 1
    TIME = 2
    NUMBER = 4
    NAME = 8
    OFF_THE_RECORD = 16  # asks, perhaps, not to be noted


SHAPELESS = Shape(0)

_RELATIVE = Pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past|previous|coming)"
    r" (?:week|month|year|night|weekend|summer|winter|spring|fall|autumn|few"
    rf"|{'|'.join(SHORT)})\w*"
    r"|ago|recently|since|weeks?|months?|years?|days?|just)\b"
    r"|昨|今天|明天|前天|后天|上周|下周|上个?月|下个?月|去年|明年|刚",
    re.IGNORECASE,
)
_NUMBER = Pattern(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|few|couple|several|dozen)\b|\d"
    r"|[一二三四五六七八九十两几百千]",
    re.IGNORECASE,
)
# A capital inside a sentence, or a title in its marks.
_NAME = Pattern(r"(?<=[a-z,] )[A-Z][a-z]+|\"[^\"]+\"|[《「『“]")

_ASKS_HOW_MANY = Pattern(
    r"\bhow (?:many|long|old|much|often|far|tall|big)\b|多少|几|多[久大长高远]", re.IGNORECASE
)
_ASKS_A_NAME = Pattern(
    r"\b(?:who|whom|whose|where|which|names?|named|called)\b|谁|哪|名字|叫什么", re.IGNORECASE
)


# Who writes more says something, and does not only ask or acknowledge.
LONGEST_FILLER = 160


def shape_of(text: str) -> Shape:
    """What a message has that a question may want, and whether it may ask not to be noted."""
    shape = SHAPELESS
    if len(text) <= LONGEST_FILLER and text.rstrip().endswith(("?", "？")):
        shape |= Shape.QUESTION
    if NAMES_A_TIME().search(text) or _RELATIVE().search(text):
        shape |= Shape.TIME
    if _NUMBER().search(text):
        shape |= Shape.NUMBER
    if _NAME().search(text):
        shape |= Shape.NAME
    if may_be_off_the_record(text):
        shape |= Shape.OFF_THE_RECORD
    return shape


def wanted(question: str) -> Shape:
    """What the answer to a question has."""
    shape = SHAPELESS
    if says("asks when", question):
        shape |= Shape.TIME
    if _ASKS_HOW_MANY().search(question):
        shape |= Shape.NUMBER
    if _ASKS_A_NAME().search(question):
        shape |= Shape.NAME
    return shape


# Words are written one a line: none has an end of line in it.
_BETWEEN = "\n"
_NO_POSTINGS: Sequence[int] = ()
# What the rows are made of: of messages, of their threads, of days, of words.
_KINDS = "iBBIiiiqiIIiiIIIII"
# So many of them have a number for each message, so many after them one for each passage.
_OF_MESSAGES, _OF_PASSAGES = 9, 2


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


def _numbers() -> array[int]:
    return array("I")


@dataclass(slots=True)
class TranscriptState:
    """What an index knows of a transcript; most of it by the slot of a message.

    `spoken_by` and `roles` are numbers of `speakers` and `role_names`; `firsts` are the first
    passages of messages; `days` go by the ordinal of the date. By the number of a passage,
    `lengths` are its index words and `owners` the slot of its message. `stored` are the words and
    their passages.
    """

    speakers: list[str] = field(default_factory=list)
    role_names: list[str] = field(default_factory=list)
    spoken_by: array[int] = field(default_factory=lambda: array("i"))
    shapes: array[int] = field(default_factory=_bytes)
    roles: array[int] = field(default_factory=_bytes)
    firsts: array[int] = field(default_factory=_numbers)
    lengths: array[int] = field(default_factory=_numbers)
    owners: array[int] = field(default_factory=_numbers)
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
    threads, stored = state.threads, state.stored
    rows: tuple[Iterable[int], ...] = (
        *(state.spoken_by, state.shapes, state.roles, state.firsts),
        *(threads.of, threads.before, threads.after, threads.times, threads.speakers),
        *(state.lengths, state.owners),
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
    shape = tuple[bytes, list[memoryview], memoryview]
    try:
        people, numbers, vocabulary = msgspec.msgpack.decode(data, type=shape)
        kinds = zip(numbers[:-2], _KINDS[:-2], strict=True)
        rows = [array(kind, bytes(row)) for row, kind in kinds]
        word_ends, word_slots = numbers[-2].cast("I"), numbers[-1].cast("I")
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        raise ValueError(f"no index: {error}") from error
    of_messages, of_passages = rows[:_OF_MESSAGES], rows[_OF_MESSAGES:][:_OF_PASSAGES]
    if any(len({len(row) for row in group}) != 1 for group in (of_messages, of_passages)):
        raise ValueError("rows of different lengths")
    spoken_by, shapes, roles, firsts, of, before, after, times, by = of_messages
    newest_of, newest, days, ends, slots = rows[_OF_MESSAGES + _OF_PASSAGES :]
    speakers, role_names = json.loads(people)
    words = str(vocabulary, "utf-8", "surrogatepass").split(_BETWEEN) if word_ends else []
    bounds = pairwise((0, *ends))
    by_day = {day: slots[low:high] for day, (low, high) in zip(days, bounds, strict=True)}
    threads = Threads(of, before, after, times, by, dict(zip(newest_of, newest, strict=True)))
    stored = StoredPostings(words, word_ends, word_slots)
    lengths, owners = of_passages
    return TranscriptState(
        *(speakers, role_names, spoken_by, shapes, roles, firsts),
        *(lengths, owners, threads, by_day, stored),
    )


_BOT_ROLES = frozenset(("assistant", "tool", "system"))


class TranscriptIndex(TranscriptState):
    """Messages by their words, in the order of the transcript; rebuilt from it, never the truth.

    A message's slot is its place, from 0. Its passages are numbered through the whole transcript;
    a word that a passage holds twice names its number twice.
    The texts are not kept: `item` gives the message of a slot. Without one they are kept after all,
    for talk that is in memory anyway.
    """

    def __init__(
        self,
        words: Words,
        item: Callable[[int], Item] | None = None,
        state: TranscriptState | None = None,
    ) -> None:
        """The index goes on from `state`, which is its own from then on."""
        super().__init__(**(state or TranscriptState()).values())
        self.words = words
        self._items: list[Item] | None = None if item else []
        self.item = item or self._kept
        self._speaker_numbers = {speaker: number for number, speaker in enumerate(self.speakers)}
        # Words of later messages, with all their places; the others' are in `stored`.
        self._places: dict[str, array[int]] = {}
        self._spelling: Spelling | None = None
        self._length = sum(self.lengths)

    def __len__(self) -> int:
        return len(self.firsts)

    @property
    def mean_length(self) -> float:
        """The mean number of index words of a passage, at least 1."""
        return max(1.0, self._length / max(1, len(self.lengths)))

    def passages_of(self, slot: int) -> range:
        """The numbers of the passages of a message."""
        following = slot + 1
        end = self.firsts[following] if following < len(self) else len(self.owners)
        return range(self.firsts[slot], end)

    def passages_between(self, slots: range) -> range:
        """Return the numbers of the passages of messages in a row."""
        if not slots:
            return range(0)
        return range(self.firsts[slots.start], self.passages_of(slots[-1]).stop)

    def length_of(self, slot: int) -> int:
        """How many index words a message has."""
        numbers = self.passages_of(slot)
        return sum(self.lengths[numbers.start : numbers.stop])

    def add(self, items: Iterable[Item]) -> None:
        """Messages that come after those it has."""
        for item in items:
            self._put(item)

    def add_separately(self, items: Iterable[Item]) -> None:
        """Items that are no part of the talk: it goes on behind them as if they were not there."""
        talk, self.threads.last = self.threads.last, {}
        self.add(items)
        self.threads.last = talk

    def state(self) -> TranscriptState:
        """All that it knows now, with its words copied into one row.

        It goes on with its own: letting go of thousands of small rows would free no memory.
        """
        words = sorted({*self.stored.words, *self._places})
        stored = StoredPostings(words, *joined(map(self.places, words)))
        return TranscriptState(**self.values() | {"stored": stored})

    def _kept(self, slot: int) -> Item:
        assert self._items is not None
        return self._items[slot]

    def places(self, word: str) -> Sequence[int]:
        """The passages that hold a word, in order, once for each time they hold it."""
        places = self._places.get(word)
        return self.stored.places(word) if places is None else places

    def within(self, start: date, end: date) -> Iterator[array[int]]:
        """The slots of the messages of each day from `start` to `end`, both included."""
        first, last = start.toordinal(), end.toordinal()
        if last - first < len(self.days):
            return (self.days[day] for day in range(first, last + 1) if day in self.days)
        return (slots for day, slots in self.days.items() if first <= day <= last)

    @property
    def oldest_day(self) -> date | None:
        """The first day anything was said."""
        return date.fromordinal(min(self.days)) if self.days else None

    @property
    def newest_day(self) -> date | None:
        """The last day anything was said."""
        return date.fromordinal(max(self.days)) if self.days else None

    def near(self, *words: str) -> tuple[str, ...]:
        """The words one slip of the finger away from one of these, which no message holds."""
        return self.spelling().near_any(*words)

    def spelling(self) -> Spelling:
        """All words by what a misspelt one has in common with them; 40 ms for 40,000 at first."""
        if self._spelling is None:
            self._spelling = Spelling()
            for known in chain(self.stored.words, self._places):
                self._spelling.add(known)
        return self._spelling

    def _put(self, item: Item) -> None:
        slot = len(self)
        self.firsts.append(len(self.owners))
        for passage in passages(item.text):
            self._put_passage(slot, passage)
        if item.when is not None:
            self.days.setdefault(item.when.toordinal(), array("I")).append(slot)
        speaker = self._speaker_numbers.setdefault(item.speaker, len(self.speakers))
        if speaker == len(self.speakers):
            self.speakers.append(item.speaker)
        self.spoken_by.append(speaker)
        self.shapes.append(shape_of(item.text))
        time = int(item.when.timestamp()) if item.when else 0
        self.threads.add(speaker, time, by_bot=item.role in _BOT_ROLES)
        self.roles.append(_number(item.role, self.role_names))
        if self._items is not None:
            self._items.append(item)

    def _put_passage(self, slot: int, passage: TextPassage) -> None:
        number, bag = len(self.owners), self.words.bag(passage.headed)
        for word in (*bag.words, *pairs(bag)):
            self._place(word, number)
        self.owners.append(slot)
        self.lengths.append(len(bag.words))
        self._length += len(bag.words)

    def _place(self, word: str, number: int) -> None:
        places = self._places.get(word)
        if places is None:
            places = self._places[word] = array("I", tuple(self.stored.places(word)))
            if self._spelling is not None:
                self._spelling.add(word)
        places.append(number)


def _number(name: str, names: list[str]) -> int:
    """The place of a name among a few, where it is put if it is new."""
    if name not in names:
        names.append(name)
    return names.index(name)


def between(places: Sequence[int], start: int, end: int) -> Sequence[int]:
    """The places from `start` up to `end`, which is not one of them."""
    return places[bisect_left(places, start) : bisect_left(places, end)]
