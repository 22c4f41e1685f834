"""What was said that answers a question about the past: messages to show beside the entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import Struct, field

from pipimem.notes.message import Message
from pipimem.recall.budget import NAME_CHARS, BlockBudget
from pipimem.recall.coverage import QuestionWords, is_noun_phrase, question_words
from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import asks, phrases, says, weak_words
from pipimem.recall.postings import rarity
from pipimem.recall.query import Query
from pipimem.recall.ranking import FLOOR
from pipimem.recall.scoring import Part, scored
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.hits import thread_around
from pipimem.recall.transcript.question import Group, TranscriptQuery, of_person, query_of
from pipimem.recall.transcript.rank import Weighed, weighed
from pipimem.recall.transcript.transcript_index import (
    FORMULA,
    LONGEST_FILLER,
    Shape,
    TranscriptIndex,
    between,
)
from pipimem.text.dates import without_days
from pipimem.text.passages import passages
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import read_quote
from pipimem.text.talk.asking import off_the_record
from pipimem.text.token_count import ELLIPSIS, clipped
from pipimem.text.words.index_words import Words
from pipimem.text.words.similarity import REWORDED, alike, bigrams

# About 60 tokens of English and of Chinese: with id, time and speaker a hit takes 50 to 100.
_LATIN_CHARS, _HAN_CHARS = 220, 80
# Above this share of other letters a text is Chinese, whose characters are words.
_MOSTLY_HAN = 0.3
_SENTENCES = Pattern(r"[^。！？!?\n.]+(?:[。！？!?\n.]+[”’\"'）)]*\s*|\Z)")


def excerpt(text: str, wanted: Collection[str], words: Words, times: int = 1) -> str:
    """A short text as it is; of a longer one, as much as fits `times` the room of a list's line.

    It begins at the sentence that holds most of the wanted words.
    """
    text = " ".join(text.split())
    room = times * chars_for(text)
    if len(text) <= room:
        return text
    start = _start(text, wanted, words)
    # Near the end of a message: what stands before it says more than an empty line.
    if len(text) - start < room // 2:
        start = max(0, len(text) - room)
    return (ELLIPSIS if start else "") + clipped(text[start:], room)


def passage_text(text: str, number: int) -> str:
    """Return a passage of a text under its heading, by its number in the text.

    A text that was shortened since it was indexed may have fewer: then it is the last.
    """
    found = passages(text)
    return found[min(number, len(found) - 1)].headed


_OFF_THE_RECORD = "[off the record]"


def headed(item: Item, text: str) -> str:
    """Return a text under when and by whom it was said, marked where it is off the record.

    A quote says by whom itself.
    """
    if item.off_the_record:
        text = f"{_OFF_THE_RECORD} {text}"
    if read_quote(text).name:
        return text
    clock = "%Y-%m-%d" if item.source is Source.SESSION or item.by_day else "%Y-%m-%d %H:%M"
    when = f"{item.when:{clock}}" if item.when else ""
    who = clipped(item.speaker, NAME_CHARS) or item.role
    head = " ".join(part for part in (when, who) if part)
    return f"{head}: {text}" if head else text


def chars_for(text: str) -> int:
    """How many characters of such a text an index shows."""
    if text.isascii():
        return _LATIN_CHARS
    han = sum(not character.isascii() for character in text)
    return _HAN_CHARS if han > _MOSTLY_HAN * len(text) else _LATIN_CHARS


def _start(text: str, wanted: Collection[str], words: Words) -> int:
    best, start, asked = 0, 0, frozenset(wanted)
    for sentence in _SENTENCES().finditer(text):
        shared = len(asked.intersection(words.words(sentence[0])))
        if shared > best:
            best, start = shared, sentence.start()
    return start


_LOOKED_AT = 20
# A turn has less time than a search: in 100,000 messages this takes half as long.
_EFFORT = 0.3
# So few messages are all weighed.
_FEW = 100
# Between what somebody said and "don't note that" others may speak.
_ASKED_BEFORE, _ASKED_AFTER = 2, 3
_SIGNS = Pattern(r"[\W_]+")


class Quotable:
    """Says whether a slot lies from `first` up to `before`, and is no tool's output."""

    def __init__(self, index: TranscriptIndex, first: int, before: int) -> None:
        # Numbers of messages may be ahead of the index, which `warm` brings up to them.
        self._roles, self.first = index.roles, max(0, first)
        self.before = min(before, len(index))
        self._tool = index.role_names.index("tool") if "tool" in index.role_names else -1

    def __call__(self, slot: int) -> bool:
        return self.first <= slot < self.before and self._roles[slot] != self._tool


def best(index: TranscriptIndex, asked: TranscriptQuery, quotable: Quotable) -> Sequence[Weighed]:
    """The messages that may be quoted and say most about what is asked, best first."""
    is_few = quotable.before - quotable.first <= _FEW
    slots = range(quotable.first, quotable.before) if is_few else None
    found = weighed(index, asked, _LOOKED_AT, FORMULA, quotable, effort=_EFFORT, slots=slots)
    return [hit for hit in found if not is_off_the_record(index, hit.slot)]


def is_off_the_record(index: TranscriptIndex, slot: int) -> bool:
    """Whether its speaker asks not to note a message, in it or just after, or the bot answers one.

    A bot that tells it again would tell those it was kept from.
    """
    around = range(max(0, slot - _ASKED_BEFORE), min(len(index), slot + _ASKED_AFTER + 1))
    if not any(index.shapes[near] & Shape.OFF_THE_RECORD for near in around):
        return False
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


def is_filler(text: str, asked: str, words: Words) -> bool:
    """Whether a message is nothing but acknowledgements and what is `asked`, or a part of that.

    "yes", "no" and a negated sentence answer; so does a statement in the question's own words.
    """
    if len(text) > LONGEST_FILLER:
        return False
    left = phrases("acknowledging").sub(" ", text.lower())
    if phrases("yes or no").search(left):
        return False
    said = _SIGNS().sub(" ", left).strip()
    if f" {said} " in f" {_SIGNS().sub(' ', asked.lower()).strip()} " or not said:
        return True
    if not text.rstrip().endswith(("?", "？")):
        return False
    again, first = words.bag(left), words.bag(asked)
    return set(again.words) <= set(first.words) and set(again.grams) <= set(first.grams)


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
# The newest messages that no entry was made of yet are found about as easily as entries would be
# (`ranking.FLOOR`): else what was said an hour ago would be known less well than what was said last
# week. One word of so many is chance there, too. 97 % of other people's talk and 98 % of general
# questions still find nothing.
_NOT_LEARNT = 100
_LONE_AMONG = 3
# Behind half of the best score answers are rare: they would cost a tenth of the tokens for half a
# point of the answers.
_SHARE_OF_BEST = 0.5
# The first hits come with the message before and the one after. With more neighbours as many tokens
# hold fewer answers.
_WITH_NEIGHBOURS = 2
# A message longer than three lines of a list is shortened to that.
_LINES = 3
# The curve of answers over tokens is steep up to here: from 0.47
# without any to 0.84; half as many again bring 2 points more. With the snapshot a first turn has
# 1,500 tokens then. The heading of a day comes on top.
_MOST_TOKENS = 490
_DAY_TOKENS = 14

# So many of the best messages may hold all words of a question.
_MAY_HOLD_ALL = 5
_SENTENCE = Pattern(r"[^.!?。！？\n]*(?:[.!?。！？\n]+|\Z)")
_QUESTION_MARKS = ("?", "？")
_OF_THAT_DAY = "on that day"


class ExcerptLimits(Struct, frozen=True):
    """What may be shown: messages before the slot `before`, as many as the `budget` has room for.

    What is shown is taken off the budget. `shown` are ids that are not shown again, `known` texts
    that are there already, in small letters. From the slot `learnt` on no entry was made of the
    messages yet; None where of all. `reworded` has for ids of messages the text that a person made
    of what was learnt from them: it beats the older wording.
    """

    before: int
    budget: BlockBudget
    shown: Collection[str] = ()
    known: Collection[str] = ()
    learnt: int | None = None
    reworded: Mapping[str, str] = field(default_factory=dict)

    def is_new(self, item: Item) -> bool:
        """Whether neither the item nor its text is shown already."""
        return item.id not in self.shown and item.text.casefold() not in self.known

    def is_reworded(self, item: Item, words: Words) -> bool:
        """Whether a person's text stands in the place of what the item says, without all of it."""
        instead = self.reworded.get(item.id)
        if instead is None or alike(bigrams(item.text), bigrams(instead)) < REWORDED:
            return False
        return not set(words.words(item.text)) <= set(words.words(instead))


def excerpts(
    index: TranscriptIndex,
    query: Query,
    room: ExcerptLimits,
    *,
    now: datetime,
    synonyms: Synonyms = NO_SYNONYMS,
) -> tuple[Item, ...]:
    """Messages that say what a refined question asks for, in the order they were said.

    Empty for what asks nothing, is asked of the world at large or of the listener, and where the
    best message holds too little of the question. Of what no entry was made of yet less is enough.
    """
    text = "" if query.silent else _asking(query.text)
    is_phrase = not (text or query.silent) and _names_a_thing(query.text, index.words)
    if not text and not is_phrase:
        return ()
    text = text or query.text
    asked = query_of(text, index, now=now, synonyms=synonyms, formula=FORMULA)
    if query.asks_who:
        asked = of_person(asked, index, query.speaker)
    weights = _weights(index, text, asked, now)
    found = _ExcerptSearch(index, query, asked, room, weights, text, is_phrase).found()
    return _fitting(index, found, room, weights, text) if found else ()


def _names_a_thing(text: str, words: Words) -> bool:
    """Return whether a text asks by naming a thing and no more."""
    return not asks(text) and not says("telling", text) and is_noun_phrase(text, words)


class _ExcerptSearch(Struct, frozen=True):
    """The ways in which a question finds messages: by enough of its words, or by all of them.

    `weights` are what its words count, `text` is what of it asks, `is_phrase` says that it only
    names a thing.
    """

    index: TranscriptIndex
    query: Query
    asked: TranscriptQuery
    room: ExcerptLimits
    weights: Mapping[str, float]
    text: str
    is_phrase: bool

    def found(self) -> Sequence[Weighed]:
        """Return the messages that answer, best first; none where the best holds too little."""
        if not self.asked.people and self.query.is_general():
            return self._not_learnt(_LEAST_SHARED)
        hits = best(self.index, self.asked, Quotable(self.index, 0, self.room.before))
        if not self.weights or self.is_phrase:
            return self._holding_all(hits)
        if any(
            _is_answer(hit.parts, self.weights, self.text, self.asked)
            for hit in hits[:_WITH_NEIGHBOURS]
        ):
            return hits
        least = _LEAST_SHARED if len(self.weights) >= _LONE_AMONG else 1
        return self._not_learnt(least) or self._holding_all(hits)

    def _not_learnt(self, least: int) -> Sequence[Weighed]:
        """Return the newest messages that share `least` words and as much as an entry must.

        No entry was made of them yet. A message's own words count, not those of its neighbours.
        """
        learnt, before = self.room.learnt, self.room.before
        if learnt is None or not self.weights or not _asks_by_form(self.text):
            return ()
        quotable = Quotable(self.index, max(learnt, before - _NOT_LEARNT), before)
        hits = (self._with_own_words(hit) for hit in best(self.index, self.asked, quotable))
        found = [hit for hit in hits if len(hit.parts) >= least and scored(hit.parts) >= FLOOR]
        return sorted(found, key=lambda hit: -scored(hit.parts))

    def _with_own_words(self, hit: Weighed) -> Weighed:
        """Return a hit with the parts that its message's own words give."""
        groups = [group for group in self.asked.groups if group.name in self.weights]
        own = ((group.name, _own_share(self.index, group, hit.slot)) for group in groups)
        return hit._replace(
            parts=[Part(name, self.weights[name] * share) for name, share in own if share]
        )

    def _holding_all(self, hits: Sequence[Weighed]) -> Sequence[Weighed]:
        """Return the messages whose own words, or passage, hold all that the question names."""
        if not (self.is_phrase or _asks_by_form(self.text)) or says("procedure", self.text):
            return ()
        named = question_words(self.text, self.index.words)
        return [hit for hit in hits[:_MAY_HOLD_ALL] if self._holds_all(hit, named)]

    def _holds_all(self, hit: Weighed, named: QuestionWords) -> bool:
        index, words = self.index, self.index.words
        said = passage_text(index.item(hit.slot).text, hit.passage - index.firsts[hit.slot])
        if is_filler(said, self.text, words):
            return False
        return named.all_stand_in(said, words.words(said), words)


def _own_share(index: TranscriptIndex, group: Group, slot: int) -> float:
    """How much of a group's word stands in a message: 1 for the word itself, less for others."""
    own = index.passages_of(slot)
    words = ((share, index.places(word)) for word, share in group.members)
    return max((share for share, at in words if between(at, own.start, own.stop)), default=0.0)


def _asks_by_form(text: str) -> bool:
    """Whether a text asks, and does not only hold a word that questions have, too."""
    if text.rstrip().endswith(_QUESTION_MARKS):
        return True
    asking = phrases("question").search(text.lower())
    return asking is not None and (not asking.start() or not asking[0].isascii())


def _asking(text: str) -> str:
    """What a message asks of the talk; empty where it asks nothing, or of the listener."""
    asked = _questions(text)
    if says("of the listener", asked) and not says("of what was said", asked):
        return ""
    return asked


def _questions(text: str) -> str:
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
    weights = {group.name: _weight(index, group) for group in _named(asked, said)}
    if asked.spans and weights:
        weights[_OF_THAT_DAY] = FORMULA.date
    return weights


def _named(asked: TranscriptQuery, said: Collection[str]) -> Sequence[Group]:
    """The things a question names with words it `said`; common words only of a person."""
    named = [group for group in asked.groups if group.name in said and len(group.name) > 1]
    meaning = [group for group in named if group.name not in weak_words("common")]
    # Of a person even "what do they do at the weekend?" says something.
    return meaning or (named if asked.people else ())


def _weight(index: TranscriptIndex, group: Group) -> float:
    """The rarity of a thing in the transcript; 1 for one nobody said."""
    spreads = [len(index.places(word)) for word, _ in group.members]
    spread = spreads[0] or min(filter(None, spreads), default=0)
    return rarity(spread, len(index.owners)) if spread else 1.0


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
    found: Sequence[Weighed],
    room: ExcerptLimits,
    wanted: Collection[str],
    asked: str,
) -> tuple[Item, ...]:
    """The hits that are not far behind the best and fit, in their order in the talk.

    What says nothing beyond what is `asked` is left out.
    """
    lowest = _SHARE_OF_BEST * scored(found[0].parts)
    hits = {hit.slot: hit.passage for hit in found if scored(hit.parts) >= lowest}
    spared = room.budget.tokens - _MOST_TOKENS
    days: set[str] = set()
    chosen: dict[int, Item] = {}
    for slot in _showable(index, list(hits), room):
        if slot in chosen:
            continue
        item = _excerpt_of(index, slot, hits.get(slot), wanted, asked)
        least = max(0, spared - _DAY_TOKENS * len(days | {item.section}))
        if item.text and room.is_new(item) and room.budget.takes(item, least):
            chosen[slot] = item
            days.add(item.section)
    return tuple(chosen[slot] for slot in sorted(chosen))


def _excerpt_of(
    index: TranscriptIndex, slot: int, passage: int | None, wanted: Collection[str], asked: str
) -> Item:
    """Return a message with the text of its passage, empty where it only says what is `asked`."""
    number = _best_passage(index, slot, wanted) if passage is None else passage
    item = index.item(slot)
    text = passage_text(item.text, number - index.firsts[slot])
    if is_filler(text, asked, index.words):
        return replace(item, text="")
    return replace(item, text=excerpt(text, wanted, index.words, _LINES))


def _best_passage(index: TranscriptIndex, slot: int, wanted: Collection[str]) -> int:
    """Return the number of the first passage of a message that holds most of the wanted words."""
    numbers = index.passages_of(slot)
    if len(numbers) == 1:
        return numbers.start
    places = [index.places(word) for word in wanted]
    return max(
        numbers, key=lambda number: sum(bool(between(at, number, number + 1)) for at in places)
    )


def _showable(index: TranscriptIndex, hits: Sequence[int], room: ExcerptLimits) -> Iterator[int]:
    """The hits and their neighbours, as far as they may be quoted and nobody reworded them."""
    quotable = Quotable(index, 0, room.before)
    for slot in _with_neighbours(index, hits):
        may_be_quoted = quotable(slot) and (slot in hits or not is_off_the_record(index, slot))
        if may_be_quoted and not room.is_reworded(index.item(slot), index.words):
            yield slot


def _with_neighbours(index: TranscriptIndex, hits: Sequence[int]) -> Iterator[int]:
    """The hits, the first of them each with what was said just before and after."""
    for slot in hits[:_WITH_NEIGHBOURS]:
        yield slot
        yield from thread_around(index, slot, 1, 1)
    yield from hits[_WITH_NEIGHBOURS:]
