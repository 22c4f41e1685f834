"""The sentences worth keeping: of what kind they are, and how much they weigh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.answers import agreed, answered
from pipimem.sidecar.rules.claims import Claim
from pipimem.text.talk.asking import asks_of_the_bot
from pipimem.text.talk.sentence_rules import (
    first_section,
    general,
    matches,
    without_quotes,
)
from pipimem.text.talk.sentences import Sentence, letters, without_tail
from pipimem.text.words.index_words import Words

# A sentence of a kind, by its words: sure, or only where something concrete stands beside it.
_SURE, _FAINT = 3.0, 1.5
# What does most harm when it is forgotten comes first where room is short.
_WORTH_MORE = {
    Kind.CONSTRAINT: 1.8,
    Kind.DECISION: 1.5,
    Kind.LESSON: 1.5,
    Kind.PREFERENCE: 0.5,
    Kind.IDENTITY: 0.5,
}
_CONCRETE = {
    "number": 0.8,
    "day": 0.8,
    "name": 0.8,
    "people": 0.5,
    "person speaking": 0.8,
    "vital": 1.5,
    "sum": 1.0,
}
_CHANGES = {"change": 1.0, "done": 0.8, "repaired": 0.8}
_EMPTY = {"chatter": 1.8, "weather": 2.5, "joking": 1.0, "hyperbole": 2.5}
_LIGHTER = {"tentative": 1.5, "conditional": 1.0, "you": 1.0, "vague": 1.5, "points": 0.8}
# What nothing else is said in than a word or two is no sentence one understands next month.
_LEAST_WORDS, _FEW_WORDS, _NO_WORDS = 2, 1.0, 4.0
# A fact or a deed in fewer letters says too little; Chinese ones count thrice.
_NEED_MORE, _SHORT, _TOO_SHORT = (Kind.FACT, Kind.ONGOING), 20, 0.8
_MOST_SPECIFIC, _SPECIFIC = 5, 0.35
# What a sentence must weigh to be kept; what somebody asked for weighs more than anything.
_WORTH = 2.8
# Among many, what says little is a quip more often than a fact: there each of its words counts for
# more, and against more, and a fact, a deed or a promise must have more letters.
_AMONG_MANY, _SPECIFIC_THERE = 3.7, 0.25
_NEED_MORE_THERE, _SHORT_THERE = (Kind.FACT, Kind.ONGOING, Kind.OPEN_LOOP), 36
ASKED = 10.0
# A sentence is never cut: a longer one is a page, or a text somebody pasted.
_LONGEST = 320
# A sentence that stands with what it answers weighs more.
_ANSWERED = 1.4
# The marks around a question are ours: they make no name.
_MARKS = re.compile("^[“「]|[”」]")
# More than one entry for so many messages of people would be a transcript.
_MESSAGES_AN_ENTRY, _LEAST_ENTRIES = 2, 4
_LATER = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence that is worth keeping: its kind, its weight, and what it weighs among many."""

    sentence: Sentence
    kind: Kind
    weight: float
    among_many: float = ASKED

    @property
    def quote(self) -> str:
        """As it is written down."""
        return self.sentence.quote()

    @property
    def claim(self) -> Claim:
        """What it says, by whom, for comparing."""
        return Claim(without_tail(self.sentence.text), self.sentence.speaker, self.kind)


def weighed(sentence: Sentence, words: Words) -> Choice | None:
    """A sentence with its kind and weight; `None` for questions, requests and imagined things."""
    text = without_tail(sentence.text if sentence.answers else without_quotes(sentence.text))
    if len(text) > _LONGEST and not sentence.asked:
        return None
    if sentence.question or asks_of_the_bot(text) or matches("left_out", "imagined", text):
        return None
    kind, weight = _kind(text)
    if _introduces_itself(sentence):
        kind, weight = Kind.IDENTITY, _SURE + _WORTH_MORE[Kind.IDENTITY]
    said = _MARKS.sub("", text) if sentence.answers else sentence.text
    weight += _sum("concrete", _CONCRETE, said) + _sum("changes", _CHANGES, text)
    weight -= _sum("left_out", _EMPTY, text) + _sum("left_out", _LIGHTER, text)
    specific = len(_specific(text, words))
    weight += min(specific, _MOST_SPECIFIC) * _SPECIFIC
    if kind in _NEED_MORE and letters(text) < _SHORT:
        weight -= _TOO_SHORT
    if specific < _LEAST_WORDS:
        weight -= _FEW_WORDS if specific else _NO_WORDS
    weight += ASKED if sentence.asked else 0.0
    among_many = weight + min(specific, _MOST_SPECIFIC) * _SPECIFIC_THERE
    if kind in _NEED_MORE_THERE and letters(text) < _SHORT_THERE:
        among_many -= _TOO_SHORT
    return Choice(sentence, kind, weight, among_many)


def _introduces_itself(sentence: Sentence) -> bool:
    """Whether a speaker begins with their own name: "Tom here, stage manager."."""
    name, said = re.escape(sentence.speaker), sentence.text
    if re.match(rf"{name} here[,.] ?\S", said):
        return bool(name)
    # "Bea, costumes and props": a few words without a verb, and nobody else's name.
    role = re.match(rf"{name}, (?:the |our )?((?:[a-z]+ ){{0,4}}[a-z]+)[.!]?$", said)
    return bool(name and role) and not matches("worth", "fact faint", said)


def weight_of(sentence: Sentence, words: Words) -> float:
    """The weight of a sentence, -9 for one that is never worth keeping."""
    choice = weighed(sentence, words)
    return choice.weight if choice else -9.0


def choices(said: Sequence[Sentence], words: Words) -> list[Choice]:
    """All that is worth keeping of a window's sentences, in their order."""
    found: list[Choice] = []
    for place, sentence in enumerate(said):
        if sentence.role != "user" or (sentence.laughed and not sentence.asked):
            continue
        choice = None if sentence.fragment else weighed(sentence, words)
        whole = answered(said, place, words)
        if whole is not None:
            choice = _answer(choice, whole, sentence.text)
        settled = agreed(said, place, words)
        if settled is not None:
            choice = Choice(settled, Kind.DECISION, _SURE + _WORTH_MORE[Kind.DECISION])
            found = [one for one in found if one.sentence.sources != settled.sources[:-1]]
        if choice and (choice.weight >= _WORTH or choice.among_many >= _AMONG_MANY):
            found.append(choice)
    return found


def bounded(chosen: Sequence[Choice], messages: int) -> list[Choice]:
    """The weightiest choices in their order, each text of a person once.

    One for two `messages` of people, at least four; what says little fills up to four and no more.
    What somebody asked to remember is always kept and does not count; allergies and sums of money
    come first, and beside them at least four. Each entry that a person has makes their next one
    weigh 0.6 less.
    """
    once = {(choice.sentence.speaker, choice.sentence.text): choice for choice in chosen}
    newest_first = list(reversed(once.values()))
    kept = [choice for choice in newest_first if _comes_first(choice)]
    left = [choice for choice in newest_first if choice not in kept]
    slight = [choice for choice in left if choice.among_many < _AMONG_MANY]
    slight.sort(key=lambda choice: choice.among_many)
    for choice in slight[: max(0, len(left) - _LEAST_ENTRIES)]:
        left.remove(choice)
    counted = sum(not choice.sentence.asked for choice in kept)
    room = max(_LEAST_ENTRIES, messages // _MESSAGES_AN_ENTRY - counted)
    entries = Counter[str]()
    for _ in range(min(len(left), room)):
        best = max(
            left, key=lambda choice: choice.weight - _LATER * entries[choice.sentence.speaker]
        )
        entries[best.sentence.speaker] += 1
        left.remove(best)
        kept.append(best)
    return sorted(kept, key=lambda choice: choice.sentence.place)


def _comes_first(choice: Choice) -> bool:
    """Whether it is kept however short room is: asked for, an allergy, or a sum of money."""
    said = choice.sentence
    return said.asked or any(matches("concrete", one, said.text) for one in ("sum", "vital"))


def sure_kind(text: str) -> Kind | None:
    """The kind that a text surely is by its words, `None` where it is none."""
    kind, weight = _kind(without_quotes(text))
    return kind if weight >= _SURE else None


def _sum(name: str, values: dict[str, float], text: str) -> float:
    """What the sections of a file count together whose patterns a text shows."""
    return sum(value for section, value in values.items() if matches(name, section, text))


def _specific(text: str, words: Words) -> set[str]:
    """The words of a text that are not in `general.txt`; no parts of its compounds."""
    parts = [part for part in text.split() if part.strip(".,!?;:…-").casefold() not in general()]
    said = set(words.words(" ".join(parts)))
    specific = set[str]()
    for word in said:
        is_part = any(word != other and word in other for other in said)
        if not is_part and word not in general():
            specific.add(word)
    return specific


def _kind(text: str) -> tuple[Kind, float]:
    """The first kind with a pattern that fits, and its weight; else a fact of weight 0."""
    name, _, faint = first_section("worth", text).partition(" ")
    if not name:
        return Kind.FACT, 0.0
    return Kind(name), _FAINT if faint else _SURE + _WORTH_MORE.get(Kind(name), 0.0)


def _answer(alone: Choice | None, whole: Sentence, said: str) -> Choice:
    """The answer as a choice, with its question where it is short or would not be kept without.

    One that takes a proposal up, as `said`, decides: "yes, the town hall then".
    """
    if matches("questions", "agreement", said):
        return Choice(whole, Kind.DECISION, _SURE + _WORTH_MORE[Kind.DECISION])
    text = _MARKS.sub("", whole.text)
    about = _sum("concrete", _CONCRETE, text) - _sum("left_out", _EMPTY, text)
    kind = alone.kind if alone and alone.weight >= _WORTH else _kind(whole.text)[0]
    weight = max(about + _ANSWERED, alone.weight if alone else 0.0)
    return Choice(whole, kind, weight, max(weight, alone.among_many if alone else 0.0))
