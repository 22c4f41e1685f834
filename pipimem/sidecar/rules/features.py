"""What is general about a sentence in its talk: numbers between 0 and about 2, by name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipimem.sidecar.rules.clauses import values_of, without_values
from pipimem.sidecar.rules.patterns import general, matches, without_quotes
from pipimem.sidecar.rules.sentences import Sentence, letters
from pipimem.text.word_lists import stop_words
from pipimem.text.words.index_words import Words

# The sections of patterns that tell something of any sentence.
_SHOWN = {
    "concrete": ("number", "day", "name", "people", "vital", "person speaking", "sum"),
    "changes": ("done", "broken", "repaired", "provisional"),
    "left_out": ("chatter", "weather", "joking", "hyperbole", "tentative", "assent"),
}
# Longer sentences than this many letters say no more; and so many words or values.
_MOST_LETTERS, _MOST_WORDS, _MOST_VALUES = 150, 12, 4
# What was said so many sentences before is still in everybody's mind.
_NEAR = 8
# So few sentences are weighed otherwise than talk, which so many surely are: nearly all of them are
# kept, and what is said later changes what it is quoted with, if anything.
_FEW, _MANY = 4, 12
# Numbers that things are told apart by, rather than what is said of them.
_OF_THINGS = {"number", "version"}
# One word that two sentences share may be chance.
_CHANCE = 2
# What tells in later sentences that one does not hold any more.
LATER = ("changed later", "another value later", "done later")
_TOLD = {"changed later": ("change", "left"), "done later": ("done", "repaired")}


class TalkFeatures:
    """The sentences of a window, with where each word stands, to tell a sentence's features."""

    def __init__(self, said: Sequence[Sentence], words: Words) -> None:
        self._said = said
        self._words = words
        self._about = [self._words_of(one.text) for one in said]
        self._matter = [self._words_of(without_values(one.text)) for one in said]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, about in enumerate(self._about):
            for word in about:
                self._places[word].append(place)

    def features(self, one: Sentence, place: int, kind: str) -> Mapping[str, float]:
        """The features of a sentence at a place, quoted as `one`, and of a kind by its words."""
        own = without_quotes(one.text)
        found = {
            section: float(matches(name, section, one.text if name == "concrete" else own))
            for name, sections in _SHOWN.items()
            for section in sections
        }
        about = self._words_of(one.text)
        found |= {kind: 1.0, **_of_length(one.text), **self._of_talk(about, place)}
        found["specific words"] = min(len(about), _MOST_WORDS) / 4
        found["values"] = min(len(values_of(one.text)), _MOST_VALUES) / 2
        found["with its question"] = float(one.answers)
        found["with what it corrects"] = float(" … " in one.text and not one.answers)
        size = len(self._said)
        few = min(1.0, max(0.0, (_MANY - size) / (_MANY - _FEW)))
        found["spoken of later"] *= 1 - few
        alone = {f"few, {name}": value * few for name, value in found.items() if value}
        later = {name: value * (1 - few) for name, value in self._later(one, about, place).items()}
        return found | later | alone | {"few": few}

    def _words_of(self, text: str) -> frozenset[str]:
        return frozenset(self._words.words(text)) - stop_words() - general()

    def _of_talk(self, about: frozenset[str], place: int) -> dict[str, float]:
        """How its words stand to those in front and behind."""
        at = [self._places[word] for word in about]
        size = len(about) + _CHANCE
        near = [any(place - _NEAR <= other < place for other in some) for some in at]
        later = [any(other > place for other in some) for some in at]
        return {
            "spoken of before": sum(near) / size,
            "spoken of later": sum(later) / size,
            "new words": (len(about) - sum(near)) / size,
        }

    def _later(self, one: Sentence, about: frozenset[str], place: int) -> dict[str, float]:
        """The share of its words in later statements that may change what it says, or be its end.

        A change needs another value of one type; without a word of change it is its speaker's own.
        """
        values, matter = values_of(one.text), self._words_of(without_values(one.text))
        found, is_done = dict.fromkeys(LATER, 0.0), _tells("done later", one.text)
        for number in {at for word in about for at in self._places[word] if at > place}:
            other, theirs = self._said[number], self._matter[number]
            if other.role != "user" or other.question or not matter & theirs:
                continue
            share = len(matter & theirs) / math.sqrt(len(matter) * len(theirs))
            new = values_of(other.text)
            kinds = {kind for kind, _ in new - values} & {kind for kind, _ in values - new}
            is_new = bool(kinds - _OF_THINGS) and matter != theirs
            shown = {
                "another value later": is_new and other.speaker == one.speaker,
                "changed later": is_new and _tells("changed later", other.text),
                "done later": not is_done and _tells("done later", other.text),
            }
            found |= {name: max(found[name], share) for name, is_so in shown.items() if is_so}
        return found


def _tells(name: str, text: str) -> bool:
    own = without_quotes(text)
    return any(matches("changes", section, own) for section in _TOLD[name])


def _of_length(text: str) -> dict[str, float]:
    return {
        "length": math.log(min(letters(text), _MOST_LETTERS) + 1) / 2,
        "trailing off": float(text.endswith(("…", "..."))),
    }
