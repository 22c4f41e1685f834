"""Which sentences are worth keeping, of what kind they are, and how much they weigh against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline.changes import Claim
from pipimem.sidecar.offline.patterns import (
    first_match,
    general,
    matches,
    names_a_value,
    rules,
    without_quotes,
)
from pipimem.sidecar.offline.sentences import Sentence, without_tail
from pipimem.text.quotes import is_chinese
from pipimem.text.words import Words

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
}
_CHANGES = {"change": 1.0, "done": 0.8}
_EMPTY = {"chatter": 1.8, "weather": 2.5}
_LIGHTER = {"you": 1.0, "vague": 1.5, "points": 0.8}
# What nothing else is said in than a word or two is no sentence one understands next month.
_LEAST_WORDS, _FEW_WORDS, _NO_WORDS = 2, 1.0, 4.0
_MOST_SPECIFIC, _SPECIFIC = 5, 0.35
# What a sentence must weigh to be kept; what somebody asked for weighs more than anything.
_WORTH = 2.7
ASKED = 10.0
# A sentence is never cut: a longer one is a page, or a text somebody pasted.
_LONGEST = 320
# A question is quoted with what answers it: where it asks for something, and the answer comes soon and is short.
_SOON = 4
_MOST_ANSWER, _MOST_ALONE, _BEGINNING = 80, 50, 12
_ANSWERED = 1.2
# The verbs of one character that a short answer takes up from its question: 你住哪 and 我住在杭州.
_VERBS = frozenset("住叫姓学教吃喝穿坐买卖养玩用读写带管付交")
# More than one entry for so many messages of people would be a transcript.
_MESSAGES_AN_ENTRY, _LEAST_ENTRIES = 2, 4
_LATER = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence that is worth keeping: its kind and its weight."""

    sentence: Sentence
    kind: Kind
    weight: float

    @property
    def quote(self) -> str:
        """As it is written down."""
        return self.sentence.quote()

    @property
    def claim(self) -> Claim:
        """What it says, by whom, for comparing."""
        return Claim(self.sentence.text, self.sentence.speaker, self.kind)


def weighed(sentence: Sentence, words: Words) -> Choice | None:
    """A sentence of a person with its kind and weight; `None` for questions, requests, and what is only imagined."""
    text = without_tail(without_quotes(sentence.text))
    if len(text) > _LONGEST and not sentence.asked:
        return None
    if sentence.question or matches("left_out", "request", text):
        return None
    if matches("left_out", "imagined", text) and not sentence.asked:
        return None
    kind, weight = _kind(text)
    weight += _sum("concrete", _CONCRETE, sentence.text) + _sum("changes", _CHANGES, text)
    weight -= _sum("left_out", _EMPTY, text) + _sum("left_out", _LIGHTER, text)
    # "我叫孙悦" says no more than the name that stands in front.
    specific = len(
        _specific(text.replace(sentence.speaker, " ") if sentence.speaker else text, words)
    )
    weight += min(specific, _MOST_SPECIFIC) * _SPECIFIC
    if specific < _LEAST_WORDS:
        weight -= _FEW_WORDS if specific else _NO_WORDS
    return Choice(sentence, kind, weight + ASKED if sentence.asked else weight)


def choices(said: Sequence[Sentence], words: Words) -> list[Choice]:
    """All that is worth keeping of a window's sentences, in their order."""
    found: list[Choice] = []
    for place, sentence in enumerate(said):
        if sentence.role != "user":
            continue
        choice = weighed(sentence, words)
        if whole := _with_context(said, place, words):
            choice = _answer(choice, whole)
        if choice and choice.weight >= _WORTH:
            found.append(choice)
    return found


def bounded(chosen: Sequence[Choice], messages: int, words: Words) -> list[Choice]:
    """The weightiest, each thing once (the newer of two), in their order; `messages` is how many people sent.

    What somebody asked to remember is always kept, and takes no room. Whoever has entries already comes a little later.
    """
    once: list[Choice] = []
    for choice in sorted(chosen, key=lambda choice: -choice.sentence.place):
        if not any(_says_the_same(choice, other, words) for other in once):
            once.append(choice)
    kept = [choice for choice in once if choice.sentence.asked]
    left = [choice for choice in once if not choice.sentence.asked]
    entries = Counter[str]()
    for _ in range(min(len(left), max(_LEAST_ENTRIES, messages // _MESSAGES_AN_ENTRY))):
        best = max(
            left, key=lambda choice: choice.weight - _LATER * entries[choice.sentence.speaker]
        )
        entries[best.sentence.speaker] += 1
        left.remove(best)
        kept.append(best)
    return sorted(kept, key=lambda choice: choice.sentence.place)


def _says_the_same(one: Choice, other: Choice, words: Words) -> bool:
    """Whether one of two choices of a person says no word that the other does not say."""
    mine, theirs = words.bag(one.sentence.text), words.bag(other.sentence.text)
    fewer, more = sorted((set(mine.words), set(theirs.words)), key=len)
    return (
        one.sentence.speaker == other.sentence.speaker
        and fewer <= more
        and mine.negations == theirs.negations
    )


def sure_kind(text: str) -> Kind | None:
    """The kind that a text surely is by its words, `None` where it is none."""
    kind, weight = _kind(without_quotes(text))
    return kind if weight >= _SURE else None


def _sum(name: str, values: dict[str, float], text: str) -> float:
    """What the sections of a file count together whose patterns a text shows."""
    return sum(value for section, value in values.items() if matches(name, section, text))


def _specific(text: str, words: Words) -> set[str]:
    """The words of a text that are not said of everything; of a Chinese compound and its parts the compound."""
    said = set(
        words.words(
            " ".join(
                word for word in text.split() if word.strip(".,!?;:…-").casefold() not in general()
            )
        )
    )
    return {
        word
        for word in said
        if word not in general() and not any(word != one and word in one for one in said)
    }


def _kind(text: str) -> tuple[Kind, float]:
    """The first kind whose words stand in a text, with what they weigh; a fact of no weight where none do."""
    for section, some in rules("worth").items():
        if first_match(some, text):
            name, _, faint = section.partition(" ")
            return Kind(name), _FAINT if faint else _SURE + _WORTH_MORE.get(Kind(name), 0.0)
    return Kind.FACT, 0.0


def _with_context(said: Sequence[Sentence], place: int, words: Words) -> Sentence | None:
    """The sentence behind the one of somebody else that it answers, or speaks of, as one quote; `None` for none."""
    answer = said[place]
    first = not place or said[place - 1].sources != answer.sources
    if not first or answer.question or len(answer.text) > _MOST_ANSWER:
        return None
    before = _before(said, place)
    if before is None or not (
        _answers(before, answer, words) if before.question else _speaks_of(before, answer)
    ):
        return None
    mark = "「{}」" if is_chinese(before.text) else "“{}” "
    together = replace(answer, text=mark.format(before.text) + answer.text)
    return replace(together, sources=tuple(dict.fromkeys((*before.sources, *answer.sources))))


def _before(said: Sequence[Sentence], place: int) -> Sentence | None:
    """The last sentence of somebody else before a place; what a bot states, or asks another person, is passed over."""
    speaker = said[place].speaker
    asked: Sentence | None = None
    for one in reversed(said[max(0, place - _SOON) : place]):
        if one.role == "user":
            is_other = one.speaker != speaker
            if asked is None:
                return one if is_other else None
            return None if is_other else asked
        if one.question and asked is None:
            asked = one
    return asked


def _answers(question: Sentence, answer: Sentence, words: Words) -> bool:
    """Whether an answer says little without the question: a yes, a day, number or name, or the question's own words."""
    if _verbs(question.text) & _verbs(answer.text):
        return True
    if len(set(words.words(question.text))) < _LEAST_WORDS:
        return False
    if matches("left_out", "yes", answer.text):
        return True
    shared = set(words.words(question.text)) & set(words.words(answer.text))
    begins = answer.text[:_BEGINNING]
    return bool(shared) or (
        names_a_value(begins) and not matches("concrete", "person speaking", begins)
    )


def _speaks_of(before: Sentence, after: Sentence) -> bool:
    """Whether a sentence about "her" follows one about somebody, and is worth the words of both."""
    about = matches("left_out", "person", after.text)
    return about and before.role == "user" and matches("concrete", "people", before.text)


def _verbs(text: str) -> frozenset[str]:
    return _VERBS.intersection(text)


def _answer(alone: Choice | None, whole: Sentence) -> Choice | None:
    """The answer as a choice, with its question where it is short or would not be kept without."""
    if alone and alone.weight >= _WORTH and len(alone.sentence.text) > _MOST_ALONE:
        return alone
    about = _sum("concrete", _CONCRETE, whole.text) - _sum("left_out", _EMPTY, whole.text)
    kind = alone.kind if alone and alone.weight >= _WORTH else _kind(whole.text)[0]
    return Choice(whole, kind, max(about + _ANSWERED, alone.weight if alone else 0.0))
