"""Pairs of texts of which one denies the other, or gives the same thing another value.

A text is read as its content words, in order, and the values among them. Two texts are a pair if

- one denies what the other says: its words, names and values all stand in the other one, or
- the same content words stand before a value of one type (a day, a time, an amount, a place, a
  name), and the value is another. Behind it stand the same words, or one text ends there.

So two sentences of one form about two people, days or things are no pair: a name, a day or a number
that stands before the value is part of what the text is about.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from msgspec import Struct

from pipimem import resources
from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import read_quote, speaks_of_itself
from pipimem.text.talk.sentence_rules import rules
from pipimem.text.word_lists import forms, simplified, stop_words
from pipimem.text.words.stemmer import Stemmer

# What is compared of a text: more is a pasted document, and says many things.
_LONGEST = 600
# A text that denies is compared with so many that hold its rarest word, and a value with so many
# others of one subject: time stays in proportion to the number of texts.
_MOST_COMPARED = 50
# One word makes no statement: "no", "不要".
_LEAST_DENIED = 2
# "No problem, Jon" denies nothing of a long sentence with both words.
_LEAST_SHARE = 0.5
# "need" and "feed" are no past forms.
_SHORTEST_PAST = 4
_TIMES = ("date", "clock", "weekday")
_TOKEN = Pattern(rf"[^\W\d_{HAN}][\w&'’-]*|\d[\w.,:/-]*\w|\d|[{HAN}]|[:：]")
_FIRST_PERSON = Pattern(r"\b(?:i|i['’]m|me|my|mine|myself)\b|我(?!们)|本人", re.IGNORECASE)
_UNIT = re.compile(r"[\d.,\s一二两三四五六七八九十百千万]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|[一二两三四五六七八九十百千万]+")
_DETERMINERS = frozenset(("the", "a", "an", "our", "my", "your", "their", "his", "her"))
# Between a link and the place or name; behind any other such word ("in it") there is none.
_BEFORE_NAMES = _DETERMINERS | frozenset(("to", "了", "成", "为", "于", "在", "到"))
_INDEFINITE = frozenset(("a", "an", "some", "any"))
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "gets"))


def _never(_one: int, _other: int) -> bool:
    return False


class _Token(Struct, frozen=True):
    """A piece of a text: a word's stem, one Han character, or a value with its type."""

    text: str
    kind: str = ""  # of a value
    raw: str = ""
    is_light: bool = False
    link: str = ""  # place or copula: what follows is a value


class _Slot(Struct, frozen=True):
    """A value, the words before it, and those behind it. `values` are by type."""

    subject: frozenset[str]
    kind: str
    values: dict[str, str]
    rest: frozenset[str]

    def differs(self, other: _Slot) -> bool:
        """Return whether a value of one type is another, and what follows fits."""
        if not (self.rest <= other.rest or other.rest <= self.rest):
            return False
        shared = self.values.keys() & other.values.keys()
        return any(self.values[kind] != other.values[kind] for kind in shared)


class _Statement(Struct, frozen=True):
    denies: bool
    words: frozenset[str]
    slots: tuple[_Slot, ...]

    def denies_what_is_in(self, other: _Statement) -> bool:
        """Return whether all that this denies is said by the other, and is half of it at least."""
        is_much = len(self.words) >= _LEAST_SHARE * len(other.words)
        return is_much and self.words <= other.words


def contradictions(
    texts: Sequence[str], is_settled: Callable[[int, int], bool] = _never
) -> Iterator[tuple[int, int]]:
    """Yield the indices of pairs of texts that may contradict each other, the earlier first.

    Of several texts that contradict one text the newest before it is given, so that there are no
    more pairs than texts. Pairs that are settled, by their indices, are passed over.
    """
    statements = [_statement(text) for text in texts]
    found = {*_denied(statements, is_settled), *_other_values(statements, is_settled)}
    yield from sorted(found)


def _denied(
    statements: Sequence[_Statement], is_settled: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of which one denies what the other says, with more words or the same."""
    spread = Counter(word for each in statements for word in each.words)
    holding: dict[str, list[int]] = defaultdict(list)
    for index, each in enumerate(statements):
        if not each.denies:
            for word in each.words:
                holding[word].append(index)
    for index, each in enumerate(statements):
        if not each.denies or len(each.words) < _LEAST_DENIED:
            continue
        rarest = min(each.words, key=lambda word: (spread[word], word))
        for other in islice(reversed(holding[rarest]), _MOST_COMPARED):
            pair = min(index, other), max(index, other)
            if each.denies_what_is_in(statements[other]) and not is_settled(*pair):
                yield pair
                break


def _other_values(
    statements: Sequence[_Statement], is_settled: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield pairs that give one subject two values."""
    known: dict[tuple[bool, frozenset[str], str], list[tuple[int, _Slot]]] = defaultdict(list)
    for index, each in enumerate(statements):
        for slot in each.slots:
            others = known[each.denies, slot.subject, slot.kind]
            for other, older in islice(reversed(others), _MOST_COMPARED):
                if other != index and slot.differs(older) and not is_settled(other, index):
                    yield other, index
                    break
            others.append((index, slot))


def _statement(text: str) -> _Statement:
    quote = read_quote(text)
    said = simplified(quote.said[:_LONGEST])
    if quote.name and speaks_of_itself(said):
        said = _FIRST_PERSON().sub(f" {quote.name} ", said)
    plain = _pattern("forbids").sub(" ", said)
    denies = plain != said
    tokens = _tokens(_pattern("allows").sub(" ", plain))
    words = frozenset(_content(tokens))
    return _Statement(denies, words, tuple(_slots(tokens)))


def _content(tokens: Iterable[_Token]) -> Iterator[str]:
    return (token.text for token in tokens if not token.is_light)


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────


def _tokens(text: str) -> list[_Token]:
    """Return the pieces of a text in order; values that are found first take their stretch."""
    stemmer = Stemmer()
    values = _values(text)
    light = {
        place
        for found in _pattern("light").finditer(text)
        for place in range(found.start(), found.end())
    }
    links = {
        found.start(): name
        for name in ("place", "copula")
        for found in _pattern(name).finditer(text)
    }
    tokens: list[_Token] = []
    position = 0
    for start, end, kind in [*values, (len(text), len(text), "")]:
        for found in _TOKEN().finditer(text, position, start):
            word = found[0].casefold().removesuffix("'s").removesuffix("’s")
            is_light = found.start() in light or _is_grammar(word)
            link = links.get(found.start(), "")
            tokens.append(_Token(stemmer.stem(word), "", found[0], is_light or bool(link), link))
        if kind:
            raw = text[start:end]
            tokens.append(_Token(_normal(kind, raw), kind, raw))
        position = end
    return tokens


def _is_grammar(word: str) -> bool:
    """Return whether a word carries no matter; of Chinese a character alone tells nothing."""
    return word in ":：" or (word.isascii() and word in stop_words())


def _values(text: str) -> list[tuple[int, int, str]]:
    """Return where the values of a text begin and end, with their types; none inside a word."""
    found: list[tuple[int, int, str]] = []
    for kind, some in rules("values").items():
        for rule in some:
            for one in rule.pattern.finditer(text):
                is_free = all(one.end() <= start or end <= one.start() for start, end, _ in found)
                if is_free and not _is_inside_a_word(text, *one.span()):
                    found.append((one.start(), one.end(), kind))
    return sorted(found)


def _is_inside_a_word(text: str, start: int, end: int) -> bool:
    """Return whether a letter or a dash stands before or behind, as in "A12" and "raven-2"."""
    around = text[max(0, start - 1) : start], text[end : end + 1]
    return any(sign.isascii() and (sign.isalpha() or sign in "_-") for sign in around if sign)


def _normal(kind: str, raw: str) -> str:
    plain = "".join(raw.split()).casefold()
    return plain.replace(",", "") if kind in ("amount", "number") else plain.rstrip("s")


@cache
def _pattern(heading: str) -> re.Pattern[str]:
    words = sorted(resources.sections("words/contradictions")[heading], key=len, reverse=True)
    parts = [rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in words]
    return re.compile("|".join(parts), re.IGNORECASE)


# ── slots ────────────────────────────────────────────────────────────────────────────────────────


def _slots(tokens: Sequence[_Token]) -> Iterator[_Slot]:
    """Yield each value of a text that something is said of."""
    index = 0
    while index < len(tokens):
        token, end = tokens[index], index + 1
        if token.kind in _TIMES:
            end = _end_of_time(tokens, index)
        if (token.kind or token.link) and _is_stated(tokens[:index], tokens[end:]):
            subject = frozenset(_content(tokens[:index]))
            if token.link:
                yield from _named(tokens, index, subject)
            elif _is_value(tokens, index):
                yield _valued(tokens, index, end, subject)
        index = end


def _is_stated(before: Sequence[_Token], behind: Sequence[_Token]) -> bool:
    """Return whether something stands before a value that has it, and it did not happen once."""
    is_named = any(not each.kind and not each.is_light for each in before)
    # "A photo of a group": another time it is another one.
    is_indefinite = any(each.raw.casefold() in _INDEFINITE for each in before)
    return is_named and not is_indefinite and not _happened(before, behind)


def _valued(tokens: Sequence[_Token], start: int, end: int, subject: frozenset[str]) -> _Slot:
    """Return the slot of a value, which are the tokens from `start` to `end`."""
    first = tokens[start]
    values = {each.kind: _compared(each) for each in tokens[start:end] if each.kind}
    unit = _UNIT.sub("", first.text) if first.kind == "amount" else ""
    kind = "time" if first.kind in _TIMES else f"{first.kind} {unit}"
    return _Slot(subject, kind, values, frozenset(_content(tokens[end:])))


def _end_of_time(tokens: Sequence[_Token], start: int) -> int:
    """Return where a day with its time ends: they are one value."""
    end = start + 1
    while end < len(tokens) and (tokens[end].kind in _TIMES or tokens[end].is_light):
        end += 1
    while not tokens[end - 1].kind:
        end -= 1
    return end


def _compared(token: _Token) -> str:
    """Return what of a value is compared: days and amounts by their numbers and names."""
    if token.kind in ("amount", "number"):
        return "".join(_NUMBER.findall(token.text))
    return token.text


def _is_value(tokens: Sequence[_Token], index: int) -> bool:
    """Return whether a value is told of something, and is no part of its name.

    It is part of a name in "room 3", and in 周一的会.
    """
    if index + 1 < len(tokens) and tokens[index + 1].raw == "的":
        return False
    if tokens[index].kind not in ("number", "version"):
        return True
    before = [each for each in tokens[:index] if each.raw.casefold() not in _DETERMINERS]
    if before[-1].is_light:
        return True
    # "on port 8080" at the end
    return index == len(tokens) - 1 and len(before) > 1 and before[-2].is_light


def _happened(before: Sequence[_Token], behind: Sequence[_Token]) -> bool:
    """Return whether a text tells of something that happened: a second time it is another thing."""
    helped = False
    for token in before:
        word = token.raw.casefold()
        is_irregular = forms("irregular_forms").get(word, word) != word
        is_past = is_irregular or (word.endswith("ed") and len(word) > _SHORTEST_PAST)
        if is_past and not token.is_light and not helped:
            return True
        helped = word in _BE
    return bool(behind) and behind[0].raw == "了"


def _named(tokens: Sequence[_Token], index: int, subject: frozenset[str]) -> Iterator[_Slot]:
    """Yield the place or name that follows a link."""
    end = index + 1
    while end < len(tokens) and tokens[end].raw.casefold() in _BEFORE_NAMES:
        end += 1
    start = end
    while end < len(tokens) and not tokens[end].is_light and not tokens[end].kind:
        end += 1
    named = tokens[start:end]
    if not named or (end < len(tokens) and tokens[end].kind):
        return
    link = tokens[index].link
    if link == "copula" and named[0].raw.isascii() and not named[0].raw[0].isupper():
        return
    value = " ".join(each.text for each in named)
    yield _Slot(subject, link, {link: value}, frozenset(_content(tokens[end:])))
