"""Words that mean the same: those of a workspace's `words.txt`, and those of the thesaurus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from pipimem.recall.phrases import weak_words
from pipimem.recall.scoring import Term
from pipimem.recall.thesaurus import Phrase, Thesaurus, common_thesaurus
from pipimem.text.word_lists import single_characters
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

# A synonym was not said: less than the word itself, more than a misspelling.
_SHARE = 0.8

# Characters of which only such words are known as stand in any talk (加, 写) stay grams.
_BROAD = 0.3
_NOTHING = (0.0, 0)

# Of a words.txt: a longer phrase is a text, which jieba would learn with each of its beginnings; of
# a longer group each phrase would stand for each other.
LONGEST_PHRASE = 64
MOST_IN_A_GROUP = 64

# A gram of one character: its mark and itself.
_SINGLE = 2
# A lone Han character says less than a word of two, and more than a pair that crosses two words.
_WEIGHT_OF_ONE = 0.8


class Synonyms(Struct, frozen=True):
    """For each phrase, as index words, what may stand in its place, and the share it then counts.

    What stands in its place is a word of the index, a lone Han character with the mark of a gram,
    or a phrase: words with a space between, which must all be there.
    """

    phrases: Mapping[str, Mapping[Phrase, Mapping[str, float]]] = field(default_factory=dict)
    """Those of a words.txt, by their first word."""
    thesaurus: Thesaurus | None = None
    """Those everybody knows."""

    def added(self, terms: Sequence[Term], grams: Iterable[str] = ()) -> tuple[Term, ...]:
        """The terms, with what may stand in the place of each phrase that is wholly among them.

        A single Han character (猫) is a gram and no word; one that means something becomes a term.
        """
        grams = tuple(grams)
        present = {term.word for term in terms}.union(grams)
        found = [self._with_others(term, present) for term in terms]
        for gram in grams:
            term = self._single(gram, present) if len(gram) == _SINGLE else None
            if term is not None:
                found.append(term)
        return _each_once(found)

    def of(self, word: str) -> Iterable[tuple[Phrase, Iterable[tuple[str, float]]]]:
        """The phrases that begin with a word, and what may stand in the place of each."""
        for phrase, others in self.phrases.get(word, {}).items():
            yield phrase, others.items()
        if self.thesaurus is not None:
            yield from self.thesaurus.begun_by(word)

    def _single(self, gram: str, present: set[str]) -> Term | None:
        character = gram[1]
        term = Term(character, _WEIGHT_OF_ONE, weak=character in weak_words("common"))
        found = self._instead(character, present) | self._instead(gram, present)
        is_thing = character in single_characters()
        known = is_thing or max(found.values(), default=0.0) > _BROAD
        return term._replace(instead=((gram, 1.0), *found.items())) if known else None

    def _with_others(self, term: Term, present: set[str]) -> Term:
        instead = self._instead(term.word, present)
        return term._replace(instead=tuple(instead.items())) if instead else term

    def _instead(self, word: str, present: set[str]) -> dict[str, float]:
        instead: dict[str, float] = {}
        for phrase, others in self.of(word):
            if len(phrase) > 1 and not present.issuperset(phrase):
                continue
            for other, share in others:
                if other not in present:
                    instead[other] = max(share, instead.get(other, 0.0))
        return instead


def _each_once(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The terms, with each word that stands in for two of them left to the one it is nearest to."""
    best: dict[str, tuple[float, int]] = {}
    for place, term in enumerate(terms):
        for other, share in term.instead:
            value = share * term.weight
            if value > best.get(other, _NOTHING)[0]:
                best[other] = (value, place)
    found: list[Term] = []
    for place, term in enumerate(terms):
        instead = tuple([one for one in term.instead if best[one[0]][1] == place])
        found.append(term._replace(instead=instead) if term.instead else term)
    return tuple(found)


NO_SYNONYMS = Synonyms()


def load_synonyms(text: str, segmenter: Segmenter, words: Words) -> Synonyms:
    """The synonyms of a `words.txt` and those of the thesaurus.

    Teaches the phrases of the text to the segmenter, so that its words stay whole.
    """
    segmenter.add_words(chain.from_iterable(phrases_in(text)))
    return replace(synonyms_in(text, words), thesaurus=common_thesaurus())


def synonyms_in(text: str, words: Words) -> Synonyms:
    """The synonyms of a `words.txt`: one group a line, divided by commas; `#` begins a comment."""
    found: dict[str, dict[Phrase, dict[str, float]]] = {}
    for line in phrases_in(text):
        # Whole: 测试 and 环境 do not mean the staging that a group calls 测试环境.
        phrases = list(filter(None, map(words.phrase, line)))
        for phrase in phrases:
            others = [" ".join(other) for other in phrases if other != phrase]
            instead = found.setdefault(phrase[0], {}).setdefault(phrase, {})
            instead.update(dict.fromkeys(others, _SHARE))
    return Synonyms(found)


def common() -> Synonyms:
    """The synonyms of the thesaurus alone."""
    return Synonyms(thesaurus=common_thesaurus())


def phrases_in(text: str) -> list[list[str]]:
    """The phrases of a `words.txt`, line by line, without those that are too long or too many."""
    lines: list[list[str]] = []
    for phrases in _groups(text):
        kept = [phrase for phrase in phrases if len(phrase) <= LONGEST_PHRASE]
        if kept:
            lines.append(kept[:MOST_IN_A_GROUP])
    return lines


def passed_over(text: str) -> tuple[int, int]:
    """How many phrases of a `words.txt` are too long, and how many too many for their group."""
    too_long = too_many = 0
    for phrases in _groups(text):
        short = sum(len(phrase) <= LONGEST_PHRASE for phrase in phrases)
        too_long += len(phrases) - short
        too_many += max(0, short - MOST_IN_A_GROUP)
    return too_long, too_many


def _groups(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        parts = line.partition("#")[0].replace("，", ",").split(",")
        phrases = [part.strip() for part in parts if part.strip()]
        if phrases:
            yield phrases
