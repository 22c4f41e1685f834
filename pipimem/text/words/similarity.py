"""How alike two texts are, from where on they say the same, and whether one denies the other.

The measure is Dice's coefficient of pairs of letters: cheap, and the same for Chinese and English.
Where the words of the index are at hand (`near_duplicate`), their Jaccard coefficient stands in for
it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from pipimem.text.characters import HAN, is_chinese
from pipimem.text.dates.calendar_words import WEEKDAY_EN, WEEKDAY_ZH
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import QuoteParts, of_different_people, read_quote, words_said
from pipimem.text.word_lists import deny_nothing, negations, simplified, stop_words
from pipimem.text.words.stemmer import Stemmer

if TYPE_CHECKING:
    from pipimem.text.words.index_words import Bag


# Of numbers those of a year, a port or a price; the two digits of a day stand everywhere.
_STRETCH = Pattern(rf"(?P<han>[{HAN}]+)|[^\W\d_{HAN}]{{2,}}|\d{{3,}}")


# A word that more texts have says little, and each of them would cost a step for each other.
_COMMON_SHARE, _COMMON_LEAST = 50, 50


def shared_words_with_each(
    texts: Sequence[str], others: Sequence[str]
) -> Iterator[dict[int, float]]:
    """For each of the `others`, the indexes of the texts that share words, and their weight.

    A word weighs `log(1 + n / df)`, where `df` of the `n` texts and others have it; words that
    stand in more than 50 texts and in every fiftieth are left out. The sum is divided by the root
    of the text's length. Chinese counts by pairs of characters, which need no dictionary.
    """
    stemmer = Stemmer()
    bags = [_words(text, stemmer) for text in texts]
    wanted = [_words(text, stemmer) for text in others]
    spread = Counter(chain.from_iterable(chain(bags, wanted)))
    count = len(bags) + len(wanted)
    holding: dict[str, list[int]] = {}
    for index, bag in enumerate(bags):
        for word in bag:
            holding.setdefault(word, []).append(index)
    common = max(_COMMON_LEAST, len(bags) // _COMMON_SHARE)
    for words in wanted:
        weights: dict[int, float] = {}
        for word in sorted(words):
            indexes = holding.get(word, ())
            if len(indexes) <= common:
                weight = math.log(1 + count / spread[word])
                for index in indexes:
                    weights[index] = weights.get(index, 0.0) + weight
        yield {index: weight / math.sqrt(len(bags[index])) for index, weight in weights.items()}


def shares_new_words(old: str, new: str, said: Iterable[str]) -> bool:
    """Return whether texts that were `said` have a word that `new` has and `old` has not.

    If `new` has no such word (a denial, the order or a word of grammar is all that changed), any
    word of `new` counts.
    """
    stemmer = Stemmer()
    words = _words(denials().sub(" ", new), stemmer)
    wanted = words - _words(old, stemmer) or words
    return any(wanted & _words(text, stemmer) for text in said)


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text without words of grammar and denials; of Chinese the pairs."""
    return _words(denials().sub(" ", text), Stemmer())


def _words(text: str, stemmer: Stemmer) -> frozenset[str]:
    found: set[str] = set()
    for stretch in _STRETCH().finditer(simplified(text).casefold()):
        if stretch["han"]:
            found.update("".join(pair) for pair in pairwise(stretch[0]))
        elif stretch[0] not in stop_words():
            found.add(stemmer.stem(stretch[0]))
    return frozenset(found)


# A tighter wording has hardly a pair of letters that the longer one has not.
_TIGHTENED = 0.8
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？、\n]")


def is_tightened(old: str, new: str) -> bool:
    """Whether `new` says `old` in fewer of its words: the same names, numbers, days and denials."""
    if names_differ(old, new) or values(old) != values(new) or not denies_the_same((old,), new):
        return False
    return share_in(bigrams(new), bigrams(old)) >= _TIGHTENED


def denies_the_same(olds: Sequence[str], new: str) -> bool:
    """Return whether `new` has the denials of the texts it stands for: none more, none fewer.

    Texts that deny one thing may share their denial. A denial is kept if most of what follows it
    in its clause follows a denial on the other side, too, and no more of it stands in what the
    other side says without one.
    """
    before, after = [_Denials.of(old) for old in olds], _Denials.of(new)
    counts = [one.count for one in before]
    if not max(counts, default=0) <= after.count <= sum(counts):
        return False
    both = _Denials(
        sum(counts),
        [clause for one in before for clause in one.denied],
        [clause for one in before for clause in one.said],
    )
    return both.stand_in(after) and after.stand_in(both)


class _Denials(Struct, frozen=True):
    """How many denials a text has, what follows the first of each clause, and the other clauses."""

    count: int
    denied: list[str]
    said: list[str]

    @classmethod
    def of(cls, text: str) -> _Denials:
        count, denied, said = 0, list[str](), list[str]()
        for clause in _CLAUSE_END.split(words_said(text)):
            ends = [found.end() for found in denials().finditer(clause)]
            count += len(ends)
            denied += [clause[end:] for end in ends[:1]]
            said += [] if ends else [clause]
        return cls(count, denied, said)

    def stand_in(self, other: _Denials) -> bool:
        """Return whether most of what is denied is denied by the other, rather than said there."""
        denied, said = (subject_grams(" ".join(part)) for part in (other.denied, other.said))
        for clause in map(subject_grams, self.denied):
            share = share_in(clause, denied)
            if share < REWORDED or share < share_in(clause, said):
                return False
        return True


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
# Comparing 100 texts takes 0.2 ms. Among 5,000 lines of docs and talk with 500 copies, reworded a
# little, none is missed.
_MOST_COMPARED = 100

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


# Stretches are compared of so many bytes: three characters of Chinese, nine of English.
_STRETCH_BYTES = 9


def stretches(text: str) -> frozenset[bytes]:
    """All stretches of a text, without white space and case; of a shorter text itself."""
    folded = "".join(text.split()).casefold().encode("utf-8", "replace")
    last = max(1, len(folded) - _STRETCH_BYTES + 1)
    return frozenset(folded[start : start + _STRETCH_BYTES] for start in range(last)) - {b""}


def share_in(part: frozenset[object], whole: frozenset[object]) -> float:
    """How much of the pairs of `part` stands in `whole` too, 0 to 1; nothing stands anywhere."""
    return len(part & whole) / len(part) if part else 1.0


def says_the_same(a: str, b: str) -> bool:
    """Return whether two texts have the very same words, numbers, names and denials."""
    return Statement.of(a).says_the_same(Statement.of(b))


def values(text: str) -> list[str]:
    """Return the numbers, dates and days of a text, sorted."""
    return sorted(found[0].casefold() for found in _VALUE().finditer(text))


class Statement(Struct, frozen=True):
    """What of a text is compared, for those that are compared with many.

    `key` has the stems of its words without those of grammar, its numbers, and how often it denies.
    """

    key: tuple[frozenset[str], tuple[str, ...], int]
    quote: QuoteParts

    @classmethod
    def of(cls, text: str) -> Statement:
        """Return what of a text is compared: of a quote the words that were said."""
        quote = read_quote(text)
        numbers = tuple(sorted(_NUMBERS.findall(quote.said)))
        denied = len(denials().findall(quote.said))
        words = content_words(quote.said) or frozenset(quote.said.casefold().split())
        return cls((words, numbers, denied), quote)

    def says_the_same(self, other: Statement) -> bool:
        """Return whether both say one thing.

        Who and when of a quote do not count; only what two people say of themselves are two things.
        """
        if self.key != other.key or of_different_people(self.quote, other.quote):
            return False
        return not names_differ(self.quote.said, other.quote.said)


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
    """Texts, to be asked as `says_the_same` would be of each."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._statements = [Statement.of(text) for text in texts]
        self._indexes: dict[tuple[object, ...], list[int]] = {}
        for index, statement in enumerate(self._statements):
            self._indexes.setdefault(statement.key, []).append(index)

    def of(self, text: str) -> list[int]:
        """Return the indexes of the texts that say what this one says, in order."""
        said = Statement.of(text)
        indexes = self._indexes.get(said.key, ())
        return [index for index in indexes if said.says_the_same(self._statements[index])]
