"""What a statement is made of: clauses, values, names, and the words that say what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.talk.sentence_rules import as_written, first_match, matches, rules, without_quotes
from pipimem.text.word_lists import negations, stop_words
from pipimem.text.words.index_words import Words
from pipimem.text.words.remembered import remembered

# Each statement of a window is held against each other one: what is read of a text is read once.
_TEXTS_READ = 4096
_CLAUSE = Pattern(
    r"[，。；;！!：\n…]|,(?!\d{3}\b)|:(?!\d)|\s[-–—]+\s|(?<=\w)\.\s"
    r"|\b(?:because|since|so that)\b|因为|原因"
    rf"|(?<=[{HAN}])\s+(?=[{HAN}])"  # a space between Chinese words is a comma typed in a hurry
)
# A day may be given as a date here and as a weekday there.
_TIMES = {"date": "time", "clock": "time", "weekday": "time"}
# A path is looked for where a run of its characters begins: a run without a slash is read once.
_LATIN_NAME = re.compile(
    r"(?P<word>(?<![A-Za-z0-9])[A-Z][A-Za-z0-9.+#_-]*)"
    r"|(?<![\w.-])[.-]*+(?![A-Z])(?P<path>[\w.-]++/[\w./-]+)"
)
_DAY_NUMBER, _MONTH_NAME = re.compile(r"\d+"), re.compile(r"[a-z]{3,}")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)|of")
_WORDS_IN_VALUE = re.compile(r"[a-z]+")
# What stands beside an amount or an hour.
_UNIT = re.compile(r"[^\d一二两三四五六七八九十百千万.:/-]+|[.:/-]+$")
_HOUR = re.compile(r"[ap]\.?m\.?$|o'clock$|点$")
_DIGITS = re.compile(r"[\d一二两三四五六七八九十百千万半.,]+")
_TOKEN = Pattern(rf"@|[A-Za-z0-9][\w./+#'’-]*|[{HAN}]+")


@lru_cache(_TEXTS_READ)
def without(section: str, clause: str) -> str:
    """A clause without what the patterns of a section of changes.txt find."""
    for rule in rules("changes")[section]:
        clause = rule.pattern.sub(" ", clause)
    return clause


@lru_cache(_TEXTS_READ)
def says(section: str, text: str) -> bool:
    """Whether a pattern of a section of changes.txt is found in a text."""
    return matches("changes", section, text)


@remembered(_TEXTS_READ)
def clauses_of(text: str, words: Words) -> tuple[str, ...]:
    """The clauses of a text; a mere time (", 21:00") or "it's …" belongs to the one in front."""
    clauses: list[str] = []
    for part in _CLAUSE().split(text):
        if clauses and (not matter(part, words) or says("carried on", part)):
            clauses[-1] += f", {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(clauses) or (text,)


@lru_cache(_TEXTS_READ)
def without_values(text: str) -> str:
    """A text without its numbers, days and amounts."""
    for some in rules("values").values():
        for rule in some:
            text = rule.pattern.sub(" ", text)
    return text


@remembered(_TEXTS_READ)
def matter(text: str, words: Words) -> frozenset[str]:
    """The words that say what a text is about: no values, no words of change, none of grammar."""
    text = without("pronoun", without("forbids", without("reported", without_values(text))))
    return frozenset(word for word in _tokens(text, words) if not is_light(word))


def signs_of(subject: Iterable[str]) -> frozenset[str]:
    """The words of a subject, Chinese ones as their characters: they may be cut otherwise there."""
    found: set[str] = set()
    for word in subject:
        found.update([word] if word.isascii() else word)
    return frozenset(found)


def topic(clauses: Sequence[str], words: Words) -> frozenset[str]:
    """What a statement begins with: the words of its first clause that is about something."""
    return next(filter(None, (matter(clause, words) for clause in clauses)), frozenset())


def _tokens(text: str, words: Words) -> Iterable[str]:
    """Words, and the single characters that the index leaves out: 不喝了 is about 喝 alone."""
    for found in _TOKEN().finditer(text):
        if found[0] == "@":
            yield "@"
        else:
            bag = words.bag(found[0])
            yield from bag.words
            if not found[0].isascii():
                yield from (gram[1:] for gram in bag.grams if len(gram) == 2)


@lru_cache(_TEXTS_READ)
def is_light(word: str) -> bool:
    """Whether a word says nothing of what a text is about: grammar, "today", "move"."""
    light = first_match(rules("changes")["light"], word)
    return word in stop_words() or word in negations() or light is not None


@lru_cache(_TEXTS_READ)
def values_of(text: str) -> frozenset[tuple[str, str]]:
    """The values of a text, type and wording; the first type that fits a stretch takes it."""
    found: set[tuple[str, str]] = set()
    for kind, some in rules("values").items():
        for rule in some:
            found |= {
                (_TIMES.get(kind, kind), "".join(one[0].split()).casefold())
                for one in rule.pattern.finditer(text)
            }
            text = rule.pattern.sub("·", text)
    return frozenset(found)


@lru_cache(_TEXTS_READ)
def dates_of(text: str) -> frozenset[str]:
    """The dates of a text: no weekdays, and no time of a day."""
    found: set[str] = set()
    for rule in rules("values")["date"]:
        found |= {"".join(one[0].split()).casefold() for one in rule.pattern.finditer(text)}
    return frozenset(found)


@lru_cache(_TEXTS_READ)
def days_of(text: str) -> frozenset[tuple[str, str]]:
    """The dates of a text as month and day; the month is empty where none is named: the 26th."""
    found = set[tuple[str, str]]()
    for date in dates_of(text):
        *before, day = _DAY_NUMBER.findall(date)
        named = _MONTH_NAME.search(_ORDINAL.sub("", date))
        month = named[0][:3] if named else "".join(before[-1:])
        found.add((month.lstrip("0"), day.lstrip("0")))
    return frozenset(found)


@lru_cache(_TEXTS_READ)
def numbers_of(text: str) -> frozenset[tuple[str, str]]:
    """The values of a text that are no times."""
    return frozenset((kind, value) for kind, value in values_of(text) if kind != "time")


@lru_cache(_TEXTS_READ)
def units_of(text: str) -> frozenset[str]:
    """What a text counts or measures: seats, £, 张."""
    return frozenset(_DIGITS.sub("", value) for kind, value in values_of(text) if kind == "amount")


@lru_cache(_TEXTS_READ)
def names_of(text: str) -> frozenset[str]:
    """The names in Latin letters that a text holds, its first word and "I" aside."""
    found = (match for match in _LATIN_NAME.finditer(text) if match.start() or match["path"])
    names = {(match["word"] or match["path"]).casefold() for match in found}
    names -= {*stop_words(), "i"}
    in_values = {word for _, value in values_of(text) for word in _WORDS_IN_VALUE.findall(value)}
    return frozenset(name for name in names - in_values if not values_of(name))


@lru_cache(_TEXTS_READ)
def has_its_names(text: str, other: str) -> bool:
    """Whether the names in a text stand in another one, where one may be its first word."""
    return names_of(text) <= tokens_of(other)


@lru_cache(_TEXTS_READ)
def tokens_of(text: str) -> frozenset[str]:
    """The Latin words of a text in small letters, its names among them."""
    said = (token[0].casefold() for token in _TOKEN().finditer(text))
    return names_of(text).union(one for one in said if one.isascii())


def parts_of(text: str) -> list[str]:
    """What stands between the clauses of a text: one fewer than there are."""
    return _CLAUSE().findall(text)


@lru_cache(_TEXTS_READ)
def values_left(said: str) -> frozenset[str]:
    """The bare values that a text says to hold no longer: those denied, 24 of "from 24 to 30"."""
    return values_denied(said) | _values_in("left", said)


@lru_cache(_TEXTS_READ)
def values_denied(said: str) -> frozenset[str]:
    """The bare values that a text says to be wrong: 65 of "50 a head, not 65"."""
    return _values_in("denied", said)


def words_denied(said: str) -> frozenset[str]:
    """What a text says to be wrong and is no value: pollen of "it's not pollen, it's dust"."""
    text = without_quotes(as_written(said))
    found = set[str]()
    for rule in rules("changes")["denied words"]:
        found.update(one["left"].strip() for one in rule.pattern.finditer(text))
    return frozenset(word for word in found if not bare_values(word))


def _values_in(section: str, said: str) -> frozenset[str]:
    """The values that the group `left` of a section's patterns finds, each where it is alone."""
    found = set[str]()
    for rule in rules("changes")[section]:
        for one in rule.pattern.finditer(without_quotes(as_written(said))):
            left = bare_values(one["left"])
            found |= left if len(left) == 1 else frozenset()
    return frozenset(found)


@lru_cache(_TEXTS_READ)
def bare_values(text: str) -> frozenset[str]:
    """The values of a text, amounts and hours without their unit: 65 is £65, and 8 is 8 pm."""
    bare = {
        _HOUR.sub("", value) if kind == "time" else _UNIT.sub("", value)
        for kind, value in values_of(text)
    }
    return frozenset(bare - {""})
