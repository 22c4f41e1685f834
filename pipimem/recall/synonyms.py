"""Words that mean the same: what a workspace's `words.txt` lists, and what `thesaurus` knows anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipimem.recall.index import Term
from pipimem.recall.thesaurus import groups
from pipimem.text.segmentation import Segmenter
from pipimem.text.stemming import Stemmer
from pipimem.text.words import Words

# A synonym was not said: less than the word itself, more than a misspelling.
_SHARE = 0.8
# Ours know nothing of the workspace: less than those its people wrote down.
_COMMON_SHARE = 0.6

# A gram of one character: its mark and itself.
_SINGLE = 2

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synonyms:
    """For each phrase, as index words, the words that mean the same, with what share of it they count."""

    phrases: Mapping[Phrase, Mapping[str, float]] = field(default_factory=dict)
    by_word: Mapping[str, Sequence[Phrase]] = field(default_factory=dict)
    """The phrases by their first word."""

    @classmethod
    def of(cls, *sources: Mapping[Phrase, Mapping[str, float]]) -> Synonyms:
        """All that the sources know; of two shares for one word the larger counts."""
        phrases: dict[Phrase, dict[str, float]] = {}
        by_word: dict[str, list[Phrase]] = {}
        for source in sources:
            for phrase, others in source.items():
                known = phrases.get(phrase)
                if known is None:
                    known = phrases[phrase] = {}
                    by_word.setdefault(phrase[0], []).append(phrase)
                for word, share in others.items():
                    known[word] = max(share, known.get(word, 0.0))
        return cls(phrases, by_word)

    def added(self, terms: Sequence[Term], grams: Iterable[str] = ()) -> tuple[Term, ...]:
        """The terms, with what may stand in the place of each phrase that is wholly among them.

        A single Han character (猫) is a gram and no word; one that means something becomes a term here.
        """
        single = (Term(gram[1]) for gram in grams if len(gram) == _SINGLE and gram[1] in self.by_word)
        every = (*terms, *single)
        present = {term.word for term in every}
        return tuple(self._with_others(term, present) if term.word in self.by_word else term for term in every)

    def _with_others(self, term: Term, present: set[str]) -> Term:
        instead = {
            word: share
            for phrase in self.by_word[term.word]
            if present.issuperset(phrase)
            for word, share in self.phrases[phrase].items()
            if word not in present
        }
        return term._replace(instead=tuple(instead.items())) if instead else term


NO_SYNONYMS = Synonyms()


def learnt(text: str, segmenter: Segmenter, words: Words) -> Synonyms:
    """Teach a `words.txt` to the segmenter, so that its words stay whole, and give all synonyms, our own too."""
    segmenter.add_words(phrase for line in phrases_in(text) for phrase in line)
    return Synonyms.of(_listed(text, words), common())


def synonyms_in(text: str, words: Words) -> Synonyms:
    """The synonyms of a `words.txt`: one group a line, divided by commas; `#` begins a comment."""
    return Synonyms.of(_listed(text, words))


def common() -> Mapping[Phrase, Mapping[str, float]]:
    """The synonyms of the thesaurus, as index words."""
    return {phrase: dict.fromkeys(others, _COMMON_SHARE) for phrase, others in groups(Stemmer().stem).items()}


def _listed(text: str, words: Words) -> Mapping[Phrase, Mapping[str, float]]:
    found: dict[Phrase, dict[str, float]] = {}
    for line in phrases_in(text):
        phrases = [phrase for part in line if (phrase := tuple(words.words(part)))]
        for phrase in phrases:
            others = (word for other in phrases if other != phrase for word in other)
            found.setdefault(phrase, {}).update((word, _SHARE) for word in others)
    return {phrase: others for phrase, others in found.items() if others}


def phrases_in(text: str) -> list[list[str]]:
    """The phrases of a `words.txt`, line by line."""
    lines: Iterable[list[str]] = (line.partition("#")[0].replace("，", ",").split(",") for line in text.splitlines())
    return [phrases for line in lines if (phrases := [part.strip() for part in line if part.strip()])]
