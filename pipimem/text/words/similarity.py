"""How alike two texts are, and from where on they say the same.

The measure is Dice's coefficient of pairs of letters: cheap, and the same for Chinese and English.
Where the words of the index are at hand (`near_duplicate`), their Jaccard coefficient stands in for
it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from pipimem.text.dates.calendar_words import WEEKDAY_EN, WEEKDAY_ZH
from pipimem.text.han import is_chinese
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import Quote, of_different_people, read_quote, words_said
from pipimem.text.word_lists import deny_nothing, negations, stop_words

if TYPE_CHECKING:
    from pipimem.text.words.index_words import Bag

# Two texts may be about one subject (of the shorter's pairs, values and grammar aside). Of twenty
# changed values in two languages ("Bob lives in Paris", "Bob moved to London") the least alike
# share 0.22.
SAME_SUBJECT = 0.2
# A reworded line keeps most of its characters; below this it is another line. Measured on pairs by
# hand: rewordings share 0.5 to 0.95, unrelated bullets of one section less than 0.25.
REWORDED = 0.4
# They say the same in other words, if they also agree in every number and denial.
SAME_STATEMENT = 0.82
# Above this share of common words of the index two entries say the same to a reader (the design's
# number).
NEAR_DUPLICATE = 0.7

_NUMBERS = re.compile(r"\d+")
_DENYING = "不没别勿无非禁未"
# What is written in one piece: words, paths, versions. A full stop at its end is the sentence's.
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-_./@:\\'’][A-Za-z0-9]+)*")

# What a newer value changes: numbers, dates, days.
_VALUE = Pattern(
    rf"\d+(?:[-:/.,]\d+)*|\b{WEEKDAY_EN}s?\b"
    r"|\b(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b"
    rf"|{WEEKDAY_ZH}|[一二三四五六七八九十两]{{1,8}}[点号日月年]",
    re.IGNORECASE,
)
# The commonest words of any sentence; rarer ones of grammar hardly count among the pairs of a text.
_GRAMMAR = Pattern(
    r"\b(?:the|an?|is|are|was|were|be|been|to|of|in|on|at|for|and|or|with|by|it|its|this|that"
    r"|has|have|had|will|from|as"
    r"|not|no|until|since)\b|[的了是在和与及也都把被]",
    re.IGNORECASE,
)


def bigrams(text: str) -> frozenset[str]:
    """Every two neighbouring characters of what is said, white space and case aside.

    A lone one is its own pair.
    """
    plain = "".join(words_said(text).split()).casefold()
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1)) or frozenset({plain} - {""})


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of pairs, 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def share_in(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of the pairs of `part` stands in `whole` too, 0 to 1; nothing stands anywhere."""
    return len(part & whole) / len(part) if part else 1.0


def says_the_same(a: str, b: str) -> bool:
    """Whether two texts have nearly the same letters, and the very same numbers and denials."""
    return Statement.of(a).says_the_same(Statement.of(b))


def values(text: str) -> list[str]:
    """Return the numbers, dates and days of a text, sorted."""
    return sorted(found[0].casefold() for found in _VALUE().finditer(text))


@dataclass(frozen=True, slots=True)
class Statement:
    """What of a text is compared, for those that are compared with many."""

    grams: frozenset[str]
    numbers: tuple[str, ...]
    denials: int
    quote: Quote

    @classmethod
    def of(cls, text: str) -> Statement:
        """What of a text is compared: of a quote the words that were said."""
        quote = read_quote(text)
        numbers = tuple(sorted(_NUMBERS.findall(quote.said)))
        return cls(bigrams(text), numbers, len(denials().findall(quote.said)), quote)

    def says_the_same(self, other: Statement) -> bool:
        """Whether both have nearly the same letters, and the very same numbers and denials.

        Who and when of a quote do not count; only what two people say of themselves are two things.
        """
        if (self.numbers, self.denials) != (other.numbers, other.denials):
            return False
        if of_different_people(self.quote, other.quote):
            return False
        return alike(self.grams, other.grams) >= SAME_STATEMENT


@cache
def denials() -> re.Pattern[str]:
    """Return the pattern of the words and characters that deny: the longest first."""
    chinese = [word for word in negations() if not word.isascii() and len(word) > 1]
    english = [re.sub("nt$", "n['’]?t", word) for word in negations() if word.isascii()]
    words = "|".join(sorted((*english, "stop", r"\w{2,8}n['’]t"), key=len, reverse=True))
    longer = "|".join(sorted(chinese, key=len, reverse=True))
    aside = "".join(map(_not_in, deny_nothing()))
    return re.compile(rf"\b(?:{words})\b|{aside}(?:{longer}|[{_DENYING}])", re.IGNORECASE)


def _not_in(word: str) -> str:
    """Return a pattern that fails before the first denying character of a word."""
    at = next(at for at, character in enumerate(word) if character in _DENYING)
    return f"(?<!{word[:at]}(?={word[at:]}))"


def same_subject(old: str, new: str) -> bool:
    """Whether `new` may be a newer word on what `old` says, in one language.

    Two that only share a date may not.
    """
    return share_in(subject_grams(old), subject_grams(new)) >= SAME_SUBJECT


def same_script(a: str, b: str) -> bool:
    """Whether both are Chinese or neither is.

    Letters can tell nothing of two texts in different scripts.
    """
    return is_chinese(a) is is_chinese(b)


def subject_grams(text: str) -> frozenset[str]:
    """Return the pairs of letters of a text, values and words of grammar aside."""
    return bigrams(_GRAMMAR().sub(" ", _VALUE().sub(" ", words_said(text))))


def jaccard(a: Set[str], b: Set[str]) -> float:
    """|a ∩ b| / |a ∪ b|; 0.0 when both are empty, for nothing is not the same as nothing."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def near_duplicate(a: Bag, b: Bag) -> bool:
    """Whether two texts say the same.

    Never when their numbers or dates differ, or one negates: "the limit is 20" corrects "the limit
    is 30", it is not its copy. Nor when one Chinese word stands in the place of one other: that may
    be a name.
    """
    if a.negations % 2 != b.negations % 2:
        return False
    words_a, words_b = frozenset(a.words), frozenset(b.words)
    if _numbers(words_a) != _numbers(words_b):
        return False
    if _chinese(words_a - words_b) == _chinese(words_b - words_a) == 1:
        return False
    return jaccard(words_a, words_b) > NEAR_DUPLICATE


def names_differ(a: str, b: str) -> bool:
    """Whether either of two texts has a name, a letter or an identifier that the other has not.

    "Server A is in Berlin" is no copy of "server B is in Berlin", though all their longer words are
    the same.
    """
    tokens, others = _TOKEN.findall(a), _TOKEN.findall(b)
    return _has_own_name(tokens, others) or _has_own_name(others, tokens)


def _has_own_name(tokens: Sequence[str], others: Sequence[str]) -> bool:
    known = {token.casefold() for token in others}
    return any(token.casefold() not in known and _is_name(token) for token in tokens)


def _is_name(piece: str) -> bool:
    if len(piece) == 1:
        return piece not in "aIi"
    is_named = piece[0].isupper() or any(mark in piece for mark in "_./@:\\")
    return is_named and piece.casefold() not in stop_words()


def _chinese(words: frozenset[str]) -> int:
    return sum(not word.isascii() for word in words)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(_has_decimal, words))


def _has_decimal(word: str) -> bool:
    return any(map(str.isdecimal, word))


class SimilarTexts:
    """Texts, to be asked as `says_the_same` would be of each.

    Two that say one thing agree in numbers and denials, and share one of the rarest pairs of
    letters; only those that do are compared.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._statements = [Statement.of(text) for text in texts]
        self._spread = Counter(chain.from_iterable(each.grams for each in self._statements))
        self._holding: dict[tuple[tuple[str, ...], int, str], list[int]] = {}
        for place, each in enumerate(self._statements):
            for gram in self._rarest(each):
                self._holding.setdefault((each.numbers, each.denials, gram), []).append(place)

    def of(self, text: str) -> list[int]:
        """The places of the texts that say what this one says, in order."""
        said = Statement.of(text)
        places: set[int] = set()
        for gram in self._rarest(said):
            places.update(self._holding.get((said.numbers, said.denials, gram), ()))
        return [place for place in sorted(places) if said.says_the_same(self._statements[place])]

    def _rarest(self, statement: Statement) -> Sequence[str]:
        return rarest(statement.grams or {""}, self._spread, SAME_STATEMENT)


def rarest(grams: Iterable[str], spread: Mapping[str, int], least: float) -> list[str]:
    """The rarest pairs of a text; `spread` says in how many texts each stands.

    Two texts with Dice's coefficient `least` share `least / (2 - least)` of the pairs of either, so
    one among the rarest of each: only texts that do need to be compared.
    """
    by_rarity = sorted(grams, key=lambda gram: (spread[gram], gram))
    shared = math.ceil(least / (2 - least) * len(by_rarity))
    return by_rarity[: len(by_rarity) - shared + 1]
