"""The sentences worth keeping: of what kind they are, and how much they weigh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pipimem import resources
from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.answers import answered
from pipimem.sidecar.rules.asking import asks_of_the_bot
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.features import LATER, TalkFeatures
from pipimem.sidecar.rules.patterns import as_written, first_match, matches, rules, without_quotes
from pipimem.sidecar.rules.sentences import Sentence, without_tail
from pipimem.text.words.index_words import Words

# The sections of `worth.txt` that make a sentence surely one of a kind.
_SURE = frozenset(kind.value for kind in Kind)
# What weighs nearly enough is told in history, and may be quoted with what changes it. What says
# that a sentence does not hold for long is not counted there.
_NEARLY = -0.9
_FOR_A_TIME = dict.fromkeys((*LATER, "provisional", "done"), 0.0)
# What somebody asked for weighs more than anything.
ASKED = 10.0
# A sentence is never cut: a longer one is a page, or a text somebody pasted.
_LONGEST = 320
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


def candidates(
    said: Sequence[Sentence], words: Words
) -> Iterator[tuple[Sentence, Kind, Mapping[str, float]]]:
    """What may be kept of a window's sentences, in their order, with its kind and features.

    Each stands with the question that it answers. Questions, requests, what is imagined or laughed
    at, and fragments that answer nothing are none.
    """
    talk = TalkFeatures(said, words)
    for place, sentence in enumerate(said):
        if sentence.role != "user" or (sentence.laughed and not sentence.asked):
            continue
        whole = answered(said, place, words)
        if whole is None and (sentence.fragment or _is_ruled_out(sentence)):
            continue
        one = whole or sentence
        own = _kind(without_tail(without_quotes(sentence.text).lstrip("· ")))
        kind, shown = own if own[1] in _SURE or not one.answers else _kind(one.text)
        yield one, kind, talk.features(one, place, shown)


def choices(said: Sequence[Sentence], words: Words) -> list[Choice]:
    """All that is worth keeping of a window's sentences, in their order.

    What weighs a little less than nothing is among them: `standing` leaves it out.
    """
    found = []
    for one, kind, shown in candidates(said, words):
        choice = Choice(one, kind, _weight(one, shown))
        if max(choice.weight, _weight(one, {**shown, **_FOR_A_TIME})) > _NEARLY:
            found.append(choice)
    return found


def standing(chosen: Sequence[Choice]) -> list[Choice]:
    """The choices that weigh enough to be kept by themselves."""
    return [choice for choice in chosen if choice.weight > 0]


def weight_of(sentence: Sentence, words: Words) -> float:
    """The weight of a sentence alone, -9 for one that is never worth keeping."""
    found = [_weight(one, shown) for one, _, shown in candidates([sentence], words)]
    return found[0] if found else -9.0


def _weight(sentence: Sentence, shown: Mapping[str, float]) -> float:
    """The sum of the fitted weights of its features: above zero it is kept."""
    known = weights()
    weight = known["always"] + sum(known.get(name, 0.0) * value for name, value in shown.items())
    return weight + ASKED if sentence.asked else weight


@cache
def weights() -> Mapping[str, float]:
    """The fitted weights of `weights.txt`, by feature."""
    lines = (line.rpartition(" ") for line in resources.sections("rules/weights")[""])
    return {name.strip(): float(weight) for name, _, weight in lines}


def _is_ruled_out(sentence: Sentence) -> bool:
    text = without_tail(sentence.text if sentence.answers else without_quotes(sentence.text))
    if len(text) > _LONGEST and not sentence.asked:
        return True
    return sentence.question or asks_of_the_bot(text) or matches("left_out", "imagined", text)


def bounded(chosen: Sequence[Choice], messages: int) -> list[Choice]:
    """The weightiest choices in their order, each text of a person once.

    One for two `messages` of people, at least four. What somebody asked to remember is always kept
    and does not count; allergies and sums of money come first, and beside them at least four.
    Each entry that a person has makes their next one weigh 0.6 less.
    """
    once = {(choice.sentence.speaker, choice.sentence.text): choice for choice in chosen}
    newest_first = list(reversed(once.values()))
    kept = [choice for choice in newest_first if _comes_first(choice)]
    left = [choice for choice in newest_first if choice not in kept]
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
    kind, shown = _kind(without_quotes(text))
    return kind if shown in _SURE else None


def _kind(text: str) -> tuple[Kind, str]:
    """The first kind with a pattern that fits, and its section; else a fact of no section."""
    for section, some in rules("worth").items():
        if first_match(some, as_written(text)):
            return Kind(section.partition(" ")[0]), section
    return Kind.FACT, "no kind"
