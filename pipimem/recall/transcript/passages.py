"""What was said that answers a question about the past: messages to show beside the entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.recall.budget import BlockBudget
from pipimem.recall.items import Item
from pipimem.recall.phrases import asks, says, weak_words
from pipimem.recall.postings import rarity
from pipimem.recall.refinement import Query
from pipimem.recall.scoring import Part, scored
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.candidates import blocks_to_weigh
from pipimem.recall.transcript.excerpts import excerpt
from pipimem.recall.transcript.formula import FORMULA
from pipimem.recall.transcript.hits import thread_around
from pipimem.recall.transcript.question import TranscriptQuery, query_of
from pipimem.recall.transcript.rank import weighed
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.sidecar.rules.context import off_the_record
from pipimem.text.dates import without_days
from pipimem.text.patterns import Pattern

# How much of the question's words, by their rarity, the best message and its neighbours must hold:
# where somebody of this talk is named, where the question is of those who ask, and else. Asked of
# six transcripts, 99 % of 1,775 messages of other people's talk and of 1,440 general questions find
# nothing so, and 98 % of 817 questions about the talk find something.
_OF_A_PERSON = 0.15
_OF_OURS = 0.5
_OF_ANYTHING = 0.6
# A question of so many words that mean something tells a story: what it shares is sooner chance.
_MANY_WORDS = 6
_OF_MANY = 0.4
# One word of a question that names nobody is chance.
_LEAST_SHARED = 2
# Behind half of the best score answers are rare: they would cost a tenth of the tokens for half a
# point of the answers.
_SHARE_OF_BEST = 0.5
_LOOKED_AT = 20
# A turn has less time than a search: in 100,000 messages this takes half as long.
_EFFORT = 0.3
# The first hits come with the message before and the one after. With more neighbours as many tokens
# hold fewer answers.
_WITH_NEIGHBOURS = 2
# A message longer than three lines of a list is shortened to that.
_LINES = 3
# The curve of answers over tokens (docs/lab/answers-2026-11.md) is steep up to here: from 0.47
# without any to 0.84; half as many again bring 2 points more. With the snapshot a first turn has
# 1,500 tokens then. The heading of a day comes on top.
_MOST_TOKENS = 570
_DAY_TOKENS = 14
# Between what somebody said and "don't note that" others may speak.
_ASKED_BEFORE, _ASKED_AFTER = 2, 3

_SENTENCE = Pattern(r"[^.!?。！？\n]*(?:[.!?。！？\n]+|\Z)")
_QUESTION_MARKS = ("?", "？")
_OF_THAT_DAY = "on that day"


@dataclass(frozen=True, slots=True)
class Room:
    """What may be shown: messages before the slot `before`, as many as the `budget` has room for.

    What is shown is taken off the budget. `shown` are ids that are not shown again, `known` texts
    that are there already, in small letters.
    """

    before: int
    budget: BlockBudget
    shown: Collection[str] = ()
    known: Collection[str] = ()


def passages(
    index: TranscriptIndex,
    query: Query,
    room: Room,
    *,
    now: datetime,
    synonyms: Synonyms = NO_SYNONYMS,
) -> tuple[Item, ...]:
    """Messages that say what a refined question asks for, in the order they were said.

    Empty for what asks nothing, is asked of the world at large or of the listener, and where the
    best message holds too little of the question.
    """
    text = "" if query.silent else _asking(query.text)
    if not text or _is_of_the_listener(text):
        return ()
    asked = query_of(text, index, now=now, synonyms=synonyms, formula=FORMULA)
    if not asked.people and query.is_general():
        return ()
    weights = _weights(index, text, asked, now)
    if not weights:
        return ()
    blocks = blocks_to_weigh(index, asked, FORMULA, None, _EFFORT)
    weighed_slots = weighed(
        index, asked, _LOOKED_AT, FORMULA, blocks, _quotable(index, room.before)
    )
    found = [pair for pair in weighed_slots if not _is_off_the_record(index, pair[0])]
    if not any(_is_answer(parts, weights, text, asked) for _, parts in found[:_WITH_NEIGHBOURS]):
        return ()
    return _fitting(index, found, room, weights)


def _is_of_the_listener(text: str) -> bool:
    return says("of the listener", text) and not says("of what was said", text)


def _asking(text: str) -> str:
    """The sentences that end with a question mark; without any, a lone sentence that asks."""
    sentences = [match[0].strip() for match in _SENTENCE().finditer(text)]
    asking = [sentence for sentence in sentences if sentence.endswith(_QUESTION_MARKS)]
    if asking:
        return " ".join(asking)
    return text if len([one for one in sentences if one]) == 1 and asks(text) else ""


def _weights(
    index: TranscriptIndex, text: str, asked: TranscriptQuery, now: datetime
) -> Mapping[str, float]:
    """What each thing counts that the question names: by its rarity, 1 for one nobody said."""
    said = frozenset(index.words.words(without_days(text, now) if asked.spans else text))
    named = [group for group in asked.groups if group.name in said and len(group.name) > 1]
    meaning = [group for group in named if group.name not in weak_words("common")]
    weights: dict[str, float] = {}
    # Of a person even "what do they do at the weekend?" says something.
    for group in meaning or (named if asked.people else ()):
        spreads = [len(index.places(word)) for word, _ in group.members]
        spread = spreads[0] or min(filter(None, spreads), default=0)
        weights[group.name] = rarity(spread, len(index)) if spread else 1.0
    if asked.spans and weights:
        weights[_OF_THAT_DAY] = FORMULA.date
    return weights


def _quotable(index: TranscriptIndex, before: int) -> _Quotable:
    tool = index.role_names.index("tool") if "tool" in index.role_names else -1
    return _Quotable(index.roles, before, tool)


@dataclass(frozen=True, slots=True)
class _Quotable:
    """Whether a slot is before the bound, and no tool's output."""

    roles: Sequence[int]
    before: int
    tool: int

    def __call__(self, slot: int) -> bool:
        return slot < self.before and self.roles[slot] != self.tool


def _is_off_the_record(index: TranscriptIndex, slot: int) -> bool:
    """Whether its speaker asks not to note a message, in it or just after, or the bot answers one.

    A bot that tells it again would tell those it was kept from.
    """
    around = range(max(0, slot - _ASKED_BEFORE), min(len(index), slot + _ASKED_AFTER + 1))
    items = [index.item(near) for near in around]
    messages = [
        Message(
            one.role,  # type: ignore[arg-type]
            one.text,
            id=one.id,
            speaker=one.speaker,
            time=one.when,
        )
        for one in items
    ]
    return index.item(slot).id in off_the_record(messages)


def _is_answer(
    parts: Sequence[Part], weights: Mapping[str, float], text: str, asked: TranscriptQuery
) -> bool:
    shared = {
        part.name: min(part.value, weights[part.name]) for part in parts if part.name in weights
    }
    share = sum(shared.values()) / sum(weights.values())
    floor = _OF_MANY if len(weights) > _MANY_WORDS else 0.0
    if asked.people:
        return share >= max(_OF_A_PERSON, floor)
    if says("ours", text) or says("first person", text):
        return share >= _OF_OURS
    return share >= _OF_ANYTHING and len(shared) >= _LEAST_SHARED


def _fitting(
    index: TranscriptIndex,
    found: Sequence[tuple[int, Sequence[Part]]],
    room: Room,
    wanted: Collection[str],
) -> tuple[Item, ...]:
    """The hits that are not far behind the best and fit, in their order in the talk."""
    least = _SHARE_OF_BEST * scored(found[0][1])
    hits = [slot for slot, parts in found if scored(parts) >= least]
    quotable = _quotable(index, room.before)
    spared = room.budget.tokens - _MOST_TOKENS
    days: set[str] = set()
    chosen: dict[int, Item] = {}
    for slot in _with_neighbours(index, hits):
        if slot in chosen or not quotable(slot):
            continue
        if slot not in hits and _is_off_the_record(index, slot):
            continue
        item = index.item(slot)
        text = excerpt(item.text, wanted, index.words, _LINES)
        item = replace(item, text=text)
        least = max(0, spared - _DAY_TOKENS * len(days | {item.section}))
        is_new = item.id not in room.shown and text.casefold() not in room.known
        if text and is_new and room.budget.takes(item, least):
            chosen[slot] = item
            days.add(item.section)
    return tuple(chosen[slot] for slot in sorted(chosen))


def _with_neighbours(index: TranscriptIndex, hits: Sequence[int]) -> Iterator[int]:
    """The hits, the first of them each with what was said just before and after."""
    for slot in hits[:_WITH_NEIGHBOURS]:
        yield slot
        yield from thread_around(index, slot, 1, 1)
    yield from hits[_WITH_NEIGHBOURS:]
