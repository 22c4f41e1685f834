"""The words and phrases that questions are known by: the lists of `data/recall/`."""

from __future__ import annotations

import re
from functools import cache

from pipimem import resources
from pipimem.text.dates.calendar_words import WEEKDAY_EN, WEEKDAY_ZH
from pipimem.text.patterns import Pattern

# Longer lines are pasted scripts, and asked about.
_LONGEST_COMMAND = 200
# Longer than this, a message of nothing but such phrases is not worth recognising.
_LONGEST_CHAT = 120
# What is asked in general is asked in a line; what is longer tells of something.
_LONGEST_GENERAL = 200

_SENTENCE_END = Pattern(r"[.!?](?=\s)|[。！？\n]")

_CLAUSE_END = Pattern(r"[,;，；]\s*")

# What answers a question for a time.
NAMES_A_TIME = Pattern(
    r"\d{1,2}[:：]\d\d|\d{4}-\d\d|\d\s?(?:am|pm)\b"
    rf"|\b{WEEKDAY_EN}\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:noon|midnight|o'clock|in (?:19|20)\d\d)\b"
    r"|\d\s?[月日号](?!本)"
    rf"|{WEEKDAY_ZH}|[一二三四五六七八九十两\d]点(?!儿)",
    re.IGNORECASE,
)


@cache
def weak_words(*lists: str) -> frozenset[str]:
    """The words of some lists of `weak_words.txt`."""
    found = resources.sections("recall/weak_words")
    return frozenset(word for name in lists for word in found[name])


@cache
def phrases(name: str) -> re.Pattern[str]:
    """A section of `phrases.txt` as one pattern, for texts in small letters."""
    return re.compile(_alternatives(name))


def says(name: str, text: str) -> bool:
    """Whether one of the phrases of a section stands in a text."""
    return phrases(name).search(text.lower()) is not None


def asks(text: str) -> bool:
    """Whether a text asks, or wants to be told something."""
    return says("question", text) or says("request", text)


def is_one_question(text: str) -> bool:
    """Whether a message is one sentence that asks, and not after the listener themselves."""
    text = text.strip()
    if len(text) > _LONGEST_GENERAL or _SENTENCE_END().search(text.rstrip(".!?。！？ ")):
        return False
    last = _CLAUSE_END().split(text.rstrip(".!?。！？ "))[-1]
    return asks(text) and not says("of the listener", last)


def is_chat(text: str) -> bool:
    """Whether a message is nothing but chat that asks for nothing."""
    return len(text) <= _LONGEST_CHAT and _chat().fullmatch(text.lower()) is not None


def is_command(text: str) -> bool:
    """Whether a message is a line for a shell."""
    return len(text) <= _LONGEST_COMMAND and _command().fullmatch(text.lower()) is not None


def is_order(text: str) -> bool:
    """Whether a message orders something that entries cannot help with: a joke, the weather."""
    return len(text) <= _LONGEST_GENERAL and says("order", text)


def is_general(text: str, things: int) -> bool:
    """Whether a message that names so many things asks about the world at large, by its form."""
    return (len(text) <= _LONGEST_GENERAL and says("general", text)) or is_procedure(text, things)


def is_procedure(text: str, things: int) -> bool:
    """Whether a message asks for a way of doing something that names more than one thing."""
    return things > 1 and len(text) <= _LONGEST_GENERAL and says("procedure", text)


@cache
def _chat() -> re.Pattern[str]:
    return re.compile(rf"(?:(?>(?:{_alternatives('chat')})(?![a-z]))[\s\W_]*+)++")


@cache
def _command() -> re.Pattern[str]:
    """A program with a subcommand, or with arguments no sentence has: flags, paths, refs.

    A program's name alone may well be asked about; those that are typed alone stand first.
    """
    programs, subcommands = _alternatives("program"), _alternatives("subcommand")
    flag = rf"-[\w-]+(?:=\S+|\s+(?:{programs})(?!\S))?"
    path = r"[!-~]*[./:=@*][!-~]*"
    quoted = r"\"[^\"]*\"|'[^']*'"
    arguments = rf"{flag}|{path}|origin|main|master|head|\d+|{quoted}"
    alone = r"(?:ls|ll|pwd|whoami|ps|df|du|top|cd)"
    started = rf"(?:sudo\s+)?(?:{programs})(?=\s)(?:\s+(?:{subcommands}))*"
    return re.compile(rf"[$>❯]?\s*(?:{alone}|{started}(?:\s+(?:{arguments}))*+)\s*")


def _alternatives(name: str) -> str:
    sections = resources.sections("recall/phrases")
    whole = sections.get(f"{name}: words", ())
    words = (rf"\b(?:{'|'.join(whole)})\b",) if whole else ()
    return "|".join((*words, *sections.get(name, ())))
