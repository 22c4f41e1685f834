"""The index words of a text: what two texts must share to be about the same thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from pipimem.text import word_lists
from pipimem.text.characters import HAN
from pipimem.text.dates.calendar_words import without_dates
from pipimem.text.patterns import Pattern
from pipimem.text.private import without_marks
from pipimem.text.word_lists import compounds, simplified, stop_words
from pipimem.text.words.segmentation import Segmenter
from pipimem.text.words.stemmer import Stemmer

# Letters of Latin alphabets with their accents, digits, underscore.
_FIRST = r"a-zA-Z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
LATIN = _FIRST + r"\u0300-\u036f"
# What may stand between them without ending the stretch; "C++" and "C#" keep their tails.
CHUNK = rf"[{_FIRST}](?:[{LATIN}.\-/:@#+'’&\\=?%~]*[{LATIN}])?(?:\+\+|#)?"

# A longer whole is a blob or a tracking link: nobody types it again, its parts do.
LONGEST_WHOLE = 120
LONGEST_PART = 40
# "e-mail", "co-worker", "pre-release": what is so short is a prefix, and left out or glued on as
# often.
_LONGEST_PREFIX = 3

_CONTRACTION = Pattern(rf"(?:n['’]t|['’](?:s|d|ll|m|re|ve))(?![{LATIN}])|['’]", re.IGNORECASE)
_SCHEME = Pattern(r"^[a-z][a-z0-9+]*://(?:www\.)?", re.IGNORECASE)
_DASHES = Pattern(r"\.{2,}|-{2,}|[?&=%~]+")
_COMPONENTS = Pattern(r"[/\\:@]+")
_PARTS = Pattern(r"[._\-+#]+")
_NUMERIC = Pattern(r"[\d.:/+\-]+")
_VERSION = Pattern(r"[vV](\d[\d.]*\d|\d)")
_ORDINAL = Pattern(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
# "e-mail" is also "email".
_HYPHENED = Pattern(r"[^\W\d_]+-[^\W\d_]+")
_PLURAL_ACRONYM = Pattern(r"[A-Z]{2,}s")
# camelCase, HTTPServer, utf8: where one name goes over into the next.
_HUMPS = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")


def identifier_words(chunk: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The whole and the parts, each once, without stop words.

    "src/sync.ts" gives src/sync.ts, src, sync.ts, sync, ts.
    """
    chunk = _CONTRACTION().sub("", _SCHEME().sub("", chunk))
    words: list[str] = []
    pieces = _DASHES().split(chunk)
    for piece in pieces:
        if not piece.endswith(("++", "#")):  # C++ and C# are names
            piece = piece.strip("._-/:@#\\+")
        words += _piece_words(piece, stem, shortest=1 if len(pieces) == 1 else 2)
    return tuple(dict.fromkeys(filter(None, words)))


def unaccented(word: str) -> str:
    """The word in lower case, and "café" as "cafe": people type it both ways."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    return "".join(c for c in unicodedata.normalize("NFD", folded) if not unicodedata.combining(c))


def _piece_words(piece: str, stem: Callable[[str], str], *, shortest: int) -> list[str]:
    if len(piece) < shortest:
        return []
    if _is_plain(piece):
        return _word(piece, stem, shortest=shortest, longest=LONGEST_WHOLE)
    ordinal, version = _ORDINAL().fullmatch(piece), _VERSION().fullmatch(piece)
    if ordinal:
        return [ordinal[1]]
    whole = [unaccented(piece)] if len(piece) <= LONGEST_WHOLE else []
    if version:
        return [*whole, version[1]]
    if _NUMERIC().fullmatch(piece):
        return whole
    return whole + _glued(piece, stem) + _component_words(piece, stem)


def _component_words(piece: str, stem: Callable[[str], str]) -> list[str]:
    """Of a path or an address: what stands between its slashes, and the parts of that."""
    words: list[str] = []
    for component in _COMPONENTS().split(piece):
        is_whole = component == piece or len(component) > LONGEST_WHOLE
        if not is_whole and not _is_plain(component):
            words.append(unaccented(component))
        for part in _PARTS().split(component):
            words += _part_words(part, stem)
    return words


def _glued(piece: str, stem: Callable[[str], str]) -> list[str]:
    """ "e-mail" as "email": a short first part, or a compound that is also written as one word."""
    if not _HYPHENED().fullmatch(piece):
        return []
    first, _, second = unaccented(piece).partition("-")
    if len(first) > _LONGEST_PREFIX and f"{first} {second}" not in compounds():
        return []
    return [stem(first + second)]


def _part_words(part: str, stem: Callable[[str], str]) -> list[str]:
    if _is_plain(part):
        return _word(part, stem, shortest=2, longest=LONGEST_PART)
    words = [unaccented(part)] if 2 <= len(part) <= LONGEST_PART else []
    for hump in _HUMPS().findall(part):
        words += _word(hump, stem, shortest=2, longest=LONGEST_PART)
    return words


def _is_plain(piece: str) -> bool:
    """Whether the piece is one word or one number, not a compound."""
    if piece.isdigit() or _PLURAL_ACRONYM().fullmatch(piece):
        return True
    return piece.isalpha() and (piece[1:].islower() or piece.isupper() or len(piece) == 1)


def _word(piece: str, stem: Callable[[str], str], *, shortest: int, longest: int) -> list[str]:
    word = unaccented(piece.removesuffix("s") if _PLURAL_ACRONYM().fullmatch(piece) else piece)
    if not shortest <= len(word) <= longest or word in stop_words():
        return []
    return [stem(word) if word.isalpha() else word]


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
# NFKC would turn these into the ASCII signs that hold identifiers together: "alice：bob" is two
# words. Left alone are ．－＿＠, which a wide keyboard puts into versions and addresses.
_WIDE_PUNCTUATION = Pattern(r"[！-，／：-？［-＾｀｛-･]+")
_DATED = Pattern(r"[\d月年]")
_THOUSANDS = Pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_NOT = Pattern(r"n['’]t\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bag:
    """A text as the index sees it.

    `words` are evidence, in order, repeated as the text repeats them. `grams` are weaker and
    forgive typos and unknown compounds: pairs of Han characters, single Han words, three letters of
    longer words; each begins with `~`. `negations` counts the words that turn the sentence round;
    they are in neither of the two.
    """

    words: tuple[str, ...] = ()
    grams: tuple[str, ...] = ()
    negations: int = 0


@dataclass(slots=True)
class _BagBuilder:
    """A bag that is being filled."""

    words: list[str] = field(default_factory=list)
    grams: list[str] = field(default_factory=list)
    negations: int = 0

    def add(self, bag: Bag) -> None:
        """Put another bag into this one."""
        self.words += bag.words
        self.grams += bag.grams
        self.negations += bag.negations


class Words:
    """Turns text into index words.

    Remembers the words of Latin stretches it has met, within a bound.
    """

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._stem = Stemmer().stem
        self._chunks: dict[str, Bag] = {}

    def words(self, text: str) -> list[str]:
        """The index words of the text, in order, without stop words."""
        return list(self.bag(text).words)

    def bag(self, text: str) -> Bag:
        """The index words and grams of the text; the marker of private stretches has none."""
        text = _plain(without_marks(text))
        found = _BagBuilder()
        if _DATED().search(text):
            text, found.words = without_dates(_THOUSANDS().sub("", text))
        parts: list[str] = []
        for stretch in _STRETCH().finditer(text):
            match stretch.lastgroup:
                case "latin":
                    known = self._known(stretch[0])
                    parts.append(_part(stretch[0], known))
                    found.add(known)
                case "han":
                    self._add_han(stretch[0], found)
                case "dense":
                    found.words += _pairs(stretch[0])
                case _:
                    word = stretch[0].casefold()
                    found.words.append(word)
                    found.grams += _trigrams(word)
        found.words += self._compounds(parts)
        return Bag(tuple(found.words), tuple(found.grams), found.negations)

    def written(self, text: str) -> dict[str, str]:
        """The words of a text whose stem is another, as they are written, by their stems.

        A misspelt word may be cut where the right one is not: "acountant" has the stem "acount".
        """
        found: dict[str, str] = {}
        for stretch in _STRETCH().finditer(_plain(text)):
            chunk = stretch[0]
            if stretch.lastgroup == "latin" and chunk.isalpha() and chunk.isascii():
                words = self._known(chunk).words
                if len(words) == 1 and words[0] != chunk.lower():
                    found[words[0]] = chunk.lower()
        return found

    def is_ready_for(self, text: str) -> bool:
        """Whether nothing of the dictionary must be read first to cut this text."""
        return text.isascii() or self._segmenter.is_ready_for(_plain(text))

    def phrase(self, text: str) -> tuple[str, ...]:
        """The words that must all be there where the text is said.

        Its compounds whole, a lone Han word as its gram.
        What a dictionary entry needs ("登录", "merge request"), without the parts that `bag` adds.
        Empty where it would lose its meaning with its stop words: "不舒服" is not "舒服", "turn
        off" is not "turn".
        """
        words: list[str] = []
        parts: list[str] = []
        dropped = False
        for stretch in _STRETCH().finditer(unicodedata.normalize("NFKC", text)):
            if stretch.lastgroup == "latin":
                parts.append(_part(stretch[0], self._known(stretch[0])))
            kept, is_whole = self._phrase_of(stretch)
            words += kept
            dropped |= not is_whole
        whole = self._compounds(parts) if len(parts) == _PAIR else []
        if dropped and not whole and (len(words) < _PAIR or self.bag(text).negations):
            return ()
        return tuple(whole or words)

    def _phrase_of(self, stretch: re.Match[str]) -> tuple[list[str], bool]:
        """What of a stretch is no stop word, and whether that is all of it."""
        if stretch.lastgroup == "latin":
            first = list(self._known(stretch[0]).words[:1])
            return first, bool(first)
        if stretch.lastgroup != "han":
            return [], True
        words = self._segmenter.cut(stretch[0])
        kept = _without_stop_words(words)
        return [word if len(word) > 1 else GRAM + word for word in kept], len(kept) == len(words)

    def _known(self, chunk: str) -> Bag:
        known = self._chunks.get(chunk)
        if known is None:
            known = self._latin(chunk)
            if len(self._chunks) >= _REMEMBERED_CHUNKS:
                self._chunks.clear()
            self._chunks[chunk] = known
        return known

    def _compounds(self, parts: list[str]) -> list[str]:
        """The words of one piece that neighbours make: "setting up" is also "setup"."""
        compounds = word_lists.compounds()
        pairs = map(" ".join, pairwise(parts))
        return [self._stem(compounds[pair]) for pair in pairs if pair in compounds]

    def _latin(self, chunk: str) -> Bag:
        found = identifier_words(chunk, self._stem)
        grams: list[str] = []
        if found and chunk.isalpha():  # parts of identifiers are exact, people copy them
            grams = _trigrams(unaccented(chunk))
        negated = bool(_NOT().search(chunk)) or chunk.casefold() in word_lists.negations()
        return Bag(found, tuple(grams), int(negated))

    def _add_han(self, run: str, found: _BagBuilder) -> None:
        stop_words, turning = word_lists.stop_words(), word_lists.negations()
        start = paired = 0
        last = len(run) - 1
        for word in self._segmenter.cut(run):
            end = start + len(word)
            found.negations += word in turning
            if word not in stop_words:
                self._add_han_word(word, found, alone=last == 0)
                # Pairs across the border of a word forgive a wrong cut; those within stop words
                # say nothing.
                first, paired = max(start - 1, paired), min(end, last)
                found.grams += [GRAM + run[i : i + 2] for i in range(first, paired)]
            start = end

    def _add_han_word(self, word: str, found: _BagBuilder, *, alone: bool) -> None:
        if len(word) == 1:
            # One character is too common to be evidence, unless it is all there is.
            if alone:
                found.words.append(word)
            else:
                found.grams.append(GRAM + word)
            return
        found.words += _without_stop_words(self._segmenter.inner(word))
        found.words.append(word)
        if not self._segmenter.knows(word):  # a guess of the model: it may have glued two words
            found.grams += [GRAM + character for character in _without_stop_words(word)]


def _part(chunk: str, known: Bag) -> str:
    """What a Latin stretch is as a part of a compound."""
    return known.words[0] if known.words else chunk.lower()


def _plain(text: str) -> str:
    if text.isascii():
        return text
    return simplified(unicodedata.normalize("NFKC", _WIDE_PUNCTUATION().sub(" ", text)))


def _without_stop_words(words: Iterable[str]) -> list[str]:
    stop_words = word_lists.stop_words()
    return [word for word in words if word not in stop_words]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _trigrams(word: str) -> list[str]:
    if not SHORTEST_FOR_TRIGRAMS <= len(word) <= LONGEST_FOR_TRIGRAMS:
        return []
    return [GRAM + word[i : i + 3] for i in range(len(word) - 2)]
