"""Words that mean the same in this workspace, as `words.txt` lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipimem.recall.index import Term
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

# A synonym was not said: less than the word itself, more than a misspelling.
_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Synonyms:
    """For each phrase, as words, the words of the phrases that mean the same."""

    groups: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _by_first: Mapping[str, list[tuple[str, ...]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A question has ten words, a good words.txt a thousand phrases.
        by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self.groups:
            by_first.setdefault(phrase[0], []).append(phrase)
        object.__setattr__(self, "_by_first", by_first)

    def added(self, terms: Sequence[Term]) -> tuple[Term, ...]:
        """The terms, with what may stand in the place of each phrase that is wholly among them."""
        known = [term.word for term in terms if term.word in self._by_first]
        if not known:
            return tuple(terms)
        present = {term.word for term in terms}
        instead: dict[str, list[str]] = {}
        for first in known:
            for phrase in self._by_first[first]:
                if present.issuperset(phrase):
                    others = (word for word in self.groups[phrase] if word not in present)
                    instead.setdefault(first, []).extend(others)
        return tuple(
            term._replace(instead=tuple((word, _SHARE) for word in dict.fromkeys(instead[term.word])))
            if term.word in instead
            else term
            for term in terms
        )


NO_SYNONYMS = Synonyms()


def learnt(text: str, segmenter: Segmenter, words: Words) -> Synonyms:
    """Teach a `words.txt` to the segmenter, so that its words stay whole, and give its synonyms."""
    segmenter.add_words(phrase for line in phrases_in(text) for phrase in line)
    return synonyms_in(text, words)


def synonyms_in(text: str, words: Words) -> Synonyms:
    """The synonyms of a `words.txt`: one group a line, divided by commas; `#` begins a comment."""
    groups: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in phrases_in(text):
        phrases = [phrase for part in line if (phrase := tuple(words.words(part)))]
        for phrase in phrases:
            others = tuple(word for other in phrases if other != phrase for word in other)
            if others:
                groups[phrase] = (*groups.get(phrase, ()), *others)
    return Synonyms(groups)


def phrases_in(text: str) -> list[list[str]]:
    """The phrases of a `words.txt`, line by line."""
    lines = (line.partition("#")[0].replace("，", ",").split(",") for line in text.splitlines())
    return [phrases for line in lines if (phrases := [part.strip() for part in line if part.strip()])]
