"""The index words of a text: what two texts must share to be about the same thing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from pipimem.text import compounds
from pipimem.text.dates.index_words import without_dates
from pipimem.text.han import HAN
from pipimem.text.identifiers import CHUNK, LATIN, identifier_words, unaccented
from pipimem.text.patterns import Pattern
from pipimem.text.segmentation import Segmenter
from pipimem.text.stemming import Stemmer
from pipimem.text.stopwords import NEGATIONS, STOP_WORDS
from pipimem.text.traditional import simplified

# Marks every gram, so that a gram never equals a word.
GRAM = "~"
# Shorter Latin words have too few trigrams to forgive a slip of the finger.
SHORTEST_FOR_TRIGRAMS = 5
LONGEST_FOR_TRIGRAMS = 24

# The vocabulary of a large channel fits; a hostile one costs a few megabytes and starts anew.
_REMEMBERED_CHUNKS = 20_000

_PAIR = 2

# Kana, Hangul, and the scripts of South-East Asia that put no spaces between words.
_DENSE = (
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u1100-\u11ff\uac00-\ud7a3\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_MARKS = r"\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"

_STRETCH = Pattern(
    rf"(?P<latin>{CHUNK})|(?P<han>[{HAN}]+)|(?P<dense>[{_DENSE}]+)"
    rf"|(?P<other>(?:[^\W_{LATIN}{HAN}{_DENSE}]|[{_MARKS}])+)"
)
# NFKC would turn these into the ASCII signs that hold identifiers together: "alice：bob" is two words.
# Left alone are ．－＿＠, which a wide keyboard puts into versions and addresses.
_WIDE_PUNCTUATION = Pattern(r"[！-，／：-？［-＾｀｛-･]+")
_DATED = Pattern(r"[\d月年]")
_THOUSANDS = Pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_NOT = Pattern(r"n['’]t\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bag:
    """A text as the index sees it.

    `words` are evidence, in order, repeated as the text repeats them. `grams` are weaker and forgive typos and unknown
    compounds: pairs of Han characters, single Han words, three letters of longer words; each begins with `~`.
    `negations` counts the words that turn the sentence round; they are in neither of the two.
    """

    words: tuple[str, ...] = ()
    grams: tuple[str, ...] = ()
    negations: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for: no text, or stop words only."""
        return not self.words and not self.grams


class Words:
    """Turns text into index words; remembers the words of Latin stretches it has met, within a bound."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._stem = Stemmer().stem
        self._chunks: dict[str, Bag] = {}

    def words(self, text: str) -> list[str]:
        """The index words of the text, in order, without stop words."""
        return list(self.bag(text).words)

    def bag(self, text: str) -> Bag:
        """The index words and grams of the text."""
        text = _plain(text)
        words: list[str] = []
        if _DATED().search(text):
            text, words = without_dates(_THOUSANDS().sub("", text))
        grams: list[str] = []
        negations = 0
        chunks: list[str] = []
        for stretch in _STRETCH().finditer(text):
            match stretch.lastgroup:
                case "latin":
                    negations += self._add_latin(stretch[0], words, grams)
                    chunks.append(stretch[0])
                case "han":
                    negations += self._add_han(stretch[0], words, grams)
                case "dense":
                    words += _pairs(stretch[0])
                case _:
                    word = stretch[0].casefold()
                    words.append(word)
                    grams += _trigrams(word)
        return Bag((*words, *self._compounds(chunks)), tuple(grams), negations)

    def is_ready_for(self, text: str) -> bool:
        """Whether nothing of the dictionary must be read first to cut this text."""
        return text.isascii() or self._segmenter.is_ready_for(_plain(text))

    def phrase(self, text: str) -> tuple[str, ...]:
        """The words that must all be there where the text is said: its compounds whole, a lone Han word as its gram.

        What a dictionary entry needs ("登录", "merge request"), without the parts that `bag` adds. Empty where it would
        lose its meaning with its stop words: "不舒服" is not "舒服", "turn off" is not "turn".
        """
        words: list[str] = []
        chunks: list[str] = []
        dropped = False
        for stretch in _STRETCH().finditer(unicodedata.normalize("NFKC", text)):
            if stretch.lastgroup == "han":
                for word in self._segmenter.cut(stretch[0]):
                    dropped = dropped or word in STOP_WORDS
                    if word not in STOP_WORDS:
                        words.append(word if len(word) > 1 else GRAM + word)
            elif stretch.lastgroup == "latin":
                known = self._known(stretch[0])
                dropped = dropped or not known.words
                words += known.words[:1]
                chunks.append(stretch[0])
        if len(chunks) == _PAIR and (whole := self._compounds(chunks)):
            return tuple(whole)
        if dropped and (len(words) < _PAIR or self.bag(text).negations):
            return ()
        return tuple(words)

    def _add_latin(self, chunk: str, words: list[str], grams: list[str]) -> int:
        known = self._known(chunk)
        words += known.words
        grams += known.grams
        return known.negations

    def _known(self, chunk: str) -> Bag:
        known = self._chunks.get(chunk)
        if known is None:
            known = self._latin(chunk)
            if len(self._chunks) >= _REMEMBERED_CHUNKS:
                self._chunks.clear()
            self._chunks[chunk] = known
        return known

    def _compounds(self, chunks: list[str]) -> list[str]:
        """The words of one piece that neighbours make: "setting up" is also "setup"."""
        pairs = pairwise(map(self._part, chunks))
        return [
            self._stem(whole) for pair in pairs if (whole := compounds.BY_PARTS.get(" ".join(pair)))
        ]

    def _part(self, chunk: str) -> str:
        return words[0] if (words := self._known(chunk).words) else chunk.lower()

    def _latin(self, chunk: str) -> Bag:
        found = identifier_words(chunk, self._stem)
        grams: list[str] = []
        if found and chunk.isalpha():  # parts of identifiers are exact, people copy them
            grams = _trigrams(unaccented(chunk))
        negated = bool(_NOT().search(chunk)) or chunk.casefold() in NEGATIONS
        return Bag(found, tuple(grams), int(negated))

    def _add_han(self, run: str, words: list[str], grams: list[str]) -> int:
        start = paired = negations = 0
        last = len(run) - 1
        for word in self._segmenter.cut(run):
            end = start + len(word)
            negations += word in NEGATIONS
            if word not in STOP_WORDS:
                if end - start == 1:
                    # One character is too common to be evidence, unless it is all there is.
                    if last:
                        grams.append(GRAM + word)
                    else:
                        words.append(word)
                else:
                    words += [
                        inner for inner in self._segmenter.inner(word) if inner not in STOP_WORDS
                    ]
                    words.append(word)
                    if not self._segmenter.knows(
                        word
                    ):  # a guess of the model: it may have glued two words
                        grams += [
                            GRAM + character for character in word if character not in STOP_WORDS
                        ]
                # Pairs across the border of a word forgive a wrong cut; pairs within stop words say nothing.
                first, paired = max(start - 1, paired), min(end, last)
                grams += [GRAM + run[i : i + 2] for i in range(first, paired)]
            start = end
        return negations


def _plain(text: str) -> str:
    if text.isascii():
        return text
    return simplified(unicodedata.normalize("NFKC", _WIDE_PUNCTUATION().sub(" ", text)))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _trigrams(word: str) -> list[str]:
    if not SHORTEST_FOR_TRIGRAMS <= len(word) <= LONGEST_FOR_TRIGRAMS:
        return []
    return [GRAM + word[i : i + 3] for i in range(len(word) - 2)]
