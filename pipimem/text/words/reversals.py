"""Whether a text turns another one round: a denial, an opposite, the order of who does what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from msgspec import Struct

from pipimem import resources
from pipimem.text.words.numbers import number_values, values_of
from pipimem.text.words.similarity import (
    REWORDED,
    SAME_STATEMENT,
    alike,
    bigrams,
    content_words,
    denials,
    share_in,
    subject_grams,
)

_CLAUSE = re.compile(r"[,.;:!?，。；：！？、\n]|\band\b|\bbut\b|但|而")
_SENTENCE = re.compile(r"(?<=[.;!?。；！？\n])\s*")
_NAME = re.compile(r"(?<![\w'’])[A-Z][\w'’-]*")
_TOKEN = re.compile(r"[A-Za-z0-9'’]+|[^\W_A-Za-z0-9]")
_JOINED = re.compile(r"\s*(?:,|&|and|or|/|、|和|与|或)\s*")
# A message says a clause that has so much of its words. "兽医说鹦鹉可以吃面包了" has 3 of the 7
# pairs of 可以给鹦鹉喂面包, "no more sugar for him" a third of "take sugar in his coffee".
_SAID, _DENIED = 0.4, 0.2


class Opposite(Struct, frozen=True):
    """A word that stands in a text: its pair of opposites, its side of it, and its clause."""

    pair: int
    is_second: bool
    clause: str


def is_reversed(olds: Sequence[str], new: str) -> bool:
    """Return whether `new`, in the place of texts, denies, swaps or turns round what they say."""
    return bool(_turned(olds, new) or _swapped(olds, new)) or _reorders(olds, new)


def new_values(olds: Iterable[str], new: str) -> frozenset[str]:
    """Return the numbers and weekdays of a text that none of the others has; days are left out."""
    return values_of(new).difference(*map(values_of, olds))


def says_so(old: str, new: str, talk: Iterable[str], names: str = "") -> bool:
    """Return whether talk says in its words what makes `new` another text than `old`.

    Each message of `talk` may say it, and so may the next with it, which may be its answer; those
    who spoke, by their `names`, say "I". A text that turns nothing round needs no such word.
    """
    texts = list(talk)
    texts += [f"{before}\n{text}" for before, text in pairwise(texts)]
    sentences = [part for text in texts for part in _SENTENCE.split(text)]
    own = content_words(names)
    return (
        _says_values(old, new, texts)
        and _says_opposites(old, new, texts)
        and all(_says(clause, texts, own) for clause in _turned((old,), new))
        and (not _reorders((old,), new) or _says(_Clause(new, False), sentences, own))
    )


def _says_values(old: str, new: str, texts: Iterable[str]) -> bool:
    """Return whether talk has one of the numbers or days that stand in the place of others."""
    fresh, gone = new_values((old,), new), new_values((new,), old)
    if not fresh or not gone:
        return True
    numbers = {float(value) for value in fresh if value.replace(".", "").isdigit()}
    return any(numbers & number_values(text) or fresh & values_of(text) for text in texts)


def _says_opposites(old: str, new: str, texts: Sequence[str]) -> bool:
    """Return whether talk has each opposite of `new` that takes the place of a word of `old`."""
    swapped = _swapped((old,), new)
    return all(any(_has_side(text, word) for text in texts) for word in swapped)


class _Clause(Struct, frozen=True):
    """What a clause says, or denies."""

    text: str
    is_denied: bool


def _says(clause: _Clause, texts: Iterable[str], names: frozenset[str]) -> bool:
    """Return whether a message has words of a clause, with a denial if it is denied, else without.

    A message that denies nothing has no denial in the sentence with the words.
    """
    words = content_words(clause.text) - names
    if clause.is_denied:
        denying = (text for text in texts if denials().search(text))
        return any(_share(words, text) >= _DENIED for text in denying)
    parts = (part for text in texts for part in _SENTENCE.split(text))
    return any(_share(words, part) >= _SAID for part in parts if not denials().search(part))


def _share(words: frozenset[str], text: str) -> float:
    return share_in(words, content_words(text)) if words else 0.0


def _turned(olds: Sequence[str], new: str) -> list[_Clause]:
    """Return the clauses of `new` that deny what the texts say, or say what they deny."""
    before = [clause for old in olds for clause in _denied_and_said(old)]
    return [clause for clause in _denied_and_said(new) if _is_turned(clause, before)]


def _is_turned(clause: _Clause, before: Iterable[_Clause]) -> bool:
    own, same, other = _matter(clause.text), 0.0, 0.0
    for one in before:
        words = _matter(one.text)
        if one.is_denied is clause.is_denied:
            same = max(same, share_in(own, words))
        elif words:
            other = max(other, share_in(own, words), share_in(words, own))
    return bool(own) and other >= REWORDED and other > same


def _matter(text: str) -> frozenset[str]:
    """Return the content words of a text, or its pairs of letters where it has none."""
    return content_words(text) or subject_grams(text)


def _denied_and_said(text: str) -> list[_Clause]:
    """Return what stands behind the first denial of each clause, and all else."""
    found: list[_Clause] = []
    for clause in _clauses(text):
        denial = denials().search(clause)
        said = clause[: denial.start()] if denial else clause
        found += [_Clause(said, False)] if said.strip() else []
        found += [_Clause(clause[denial.end() :], True)] if denial else []
    return found


def _swapped(olds: Sequence[str], new: str) -> list[Opposite]:
    """Return the opposites in `new` that stand in the place of those of the texts."""
    before = [word for old in olds for word in opposites_in(old)]
    return [word for word in opposites_in(new) if _is_swapped(word, before)]


def _is_swapped(word: Opposite, before: Iterable[Opposite]) -> bool:
    """Return whether the words of a pair in the most similar clauses are all of the other side."""
    pair = [other for other in before if other.pair == word.pair]
    if not pair:
        return False
    grams = subject_grams(word.clause)
    shares = [share_in(grams, subject_grams(other.clause)) for other in pair]
    best = max(shares)
    if best < REWORDED and len(pair) > 1:
        return False
    nearest = [other for other, share in zip(pair, shares, strict=True) if share >= best]
    return all(other.is_second is not word.is_second for other in nearest)


def opposites_in(text: str) -> Iterator[Opposite]:
    """Yield the words of a text that have an opposite, of each pair and clause once."""
    for clause in _CLAUSE.split(text):
        for number, sides in enumerate(_pairs()):
            for is_second, side in enumerate(sides):
                if side.search(clause):
                    yield Opposite(number, bool(is_second), clause)


def _has_side(text: str, one: Opposite) -> bool:
    return bool(_pairs()[one.pair][one.is_second].search(text))


def _reorders(olds: Sequence[str], new: str) -> bool:
    """Return whether a clause has the names, or the characters, of a text in another order."""
    clauses = [clause for old in olds for clause in _clauses(old)]
    return any(_is_reordered(old, clause) for clause in _clauses(new) for old in clauses)


def _clauses(text: str) -> list[str]:
    return [part for part in re.split(r"[,.;:!?，。；：！？、\n]", text) if part.strip()]


def _is_reordered(old: str, new: str) -> bool:
    before, after = _tokens(old), _tokens(new)
    if before == after:
        return False
    is_same_bag = sorted(before) == sorted(after)
    if not is_same_bag and alike(bigrams(old), bigrams(new)) < SAME_STATEMENT:
        return False
    if not any(character.isascii() and character.isalpha() for character in old + new):
        return is_same_bag
    names = {name for text in (old, new) for name in _NAME.findall(text)}
    first, second = _in_order(old, names), _in_order(new, names)
    return sorted(first) == sorted(second) and first != second


def _in_order(text: str, names: set[str]) -> list[str]:
    """Return the names of a text in their order; those of a list of names in alphabetical order."""
    found: list[list[str]] = []
    end = -1
    for name in _NAME.finditer(text):
        if name[0] not in names:
            continue
        is_joined = end >= 0 and _JOINED.fullmatch(text, end, name.start()) is not None
        if is_joined:
            found[-1].append(name[0])
        else:
            found.append([name[0]])
        end = name.end()
    return [name for group in found for name in sorted(group)]


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text)]


@cache
def _pairs() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """The pairs of `words/opposites.txt`, as patterns for each side."""
    found = []
    for line in resources.sections("words/opposites")[""]:
        one, other = line.split(" | ")
        found.append((_side(one), _side(other)))
    return tuple(found)


def _side(words: str) -> re.Pattern[str]:
    parts = sorted(words.split(", "), key=len, reverse=True)
    escaped = (rf"\b{re.escape(part)}\b" if part.isascii() else re.escape(part) for part in parts)
    return re.compile("|".join(escaped), re.IGNORECASE)
