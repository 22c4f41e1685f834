"""What is general about a sentence in its talk: numbers between 0 and about 2, by name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipimem.sidecar.rules.clauses import values_of, without_values
from pipimem.sidecar.rules.patterns import first_match, general, matches, rules, without_quotes
from pipimem.sidecar.rules.sentences import Sentence, letters
from pipimem.text.word_lists import stop_words
from pipimem.text.words.index_words import Words

# The sections of patterns that tell something of any sentence.
_SHOWN = {
    "concrete": ("number", "day", "name", "people", "vital", "person speaking", "sum"),
    "changes": ("change", "done", "repaired", "provisional", "cancelled"),
    "left_out": (
        "chatter",
        "weather",
        "joking",
        "hyperbole",
        "tentative",
        "conditional",
        "you",
        "vague",
        "points",
        "assent",
    ),
}
# Longer sentences than this many letters say no more; and so many words or values.
_MOST_LETTERS, _MOST_WORDS, _MOST_VALUES = 150, 12, 4
# The length of a short sentence that its kind makes up for.
_SHORT = 2.0
# What was said so many sentences before is still in everybody's mind.
_NEAR = 8
# Who says no more than so many sentences in all has something to say.
_FEW = 4
# Numbers that things are told apart by, rather than what is said of them.
_OF_THINGS = {"number", "version"}
# One word that two sentences share may be chance.
_CHANCE = 2


class Talk:
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
        if found["number"] or found["day"] or found["name"]:
            found["few, with a value"] = found["few sentences"]
        if kind != "no kind" and "faint" not in kind:
            found["short, of a kind"] = max(0.0, _SHORT - found["length"])
            found["few, of a kind"] = found["few sentences"]
        found["overtaken"] = self._overtaken(one, about, place)
        return found

    def _words_of(self, text: str) -> frozenset[str]:
        return frozenset(self._words.words(text)) - stop_words() - general()

    def _of_talk(self, about: frozenset[str], place: int) -> dict[str, float]:
        """How its words stand to those in front and behind."""
        at = [self._places.get(word, ()) for word in about]
        size = len(about) + _CHANCE
        one = self._said[place]
        near = [any(place - _NEAR <= other < place for other in some) for some in at]
        later = [bool(some) and some[-1] > place for some in at]
        before = self._said[place - 1] if place else None
        behind = self._said[place + 1] if place + 1 < len(self._said) else None
        return {
            "spoken of before": sum(near) / size,
            "spoken of later": sum(later) / size,
            "new words": (len(about) - sum(near)) / size,
            "behind a question": float(before is not None and before.question),
            "few sentences": min(1.0, _FEW / len(self._said)),
            "alone in its message": float(_is_alone(one, before, behind)),
            "first of its speaker": float(
                all(other.speaker != one.speaker for other in self._said[:place])
            ),
        }

    def _overtaken(self, one: Sentence, about: frozenset[str], place: int) -> float:
        """The share of its words in a later statement of its speaker with another value."""
        values = values_of(one.text)
        matter, most = self._words_of(without_values(one.text)), 0.0
        later = {other for word in about for other in self._places.get(word, ()) if other > place}
        for number in later if values else ():
            other = self._said[number]
            if other.speaker == one.speaker and not other.question:
                new = values_of(other.text)
                differ = {kind for kind, _ in new - values} & {kind for kind, _ in values - new}
                theirs = self._matter[number]
                if differ - _OF_THINGS and matter & theirs and matter != theirs:
                    size = math.sqrt(len(matter) * len(theirs))
                    most = max(most, len(matter & theirs) / size)
        return most


def _of_length(text: str) -> dict[str, float]:
    size = min(letters(text), _MOST_LETTERS)
    return {
        "length": math.log(size + 1) / 2,
        "exclamation": float(text.endswith(("!", "！"))),
        "trailing off": float(text.endswith(("…", "..."))),
        "list": float(first_match(rules("changes")["several"], text) is not None),
    }


def _is_alone(one: Sentence, before: Sentence | None, behind: Sentence | None) -> bool:
    """Whether a message says nothing else."""
    return all(other is None or other.sources[-1:] != one.sources[-1:] for other in (before, behind))
