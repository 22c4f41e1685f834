"""Phrases that tell the intent of a question and the kind of its answer (`data/recall/`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from pipimem import resources
from pipimem.notes.kinds import Kind
from pipimem.recall.items import Item, Source
from pipimem.recall.scoring import Term
from pipimem.text.dates.calendar_words import WEEKDAY_EN, WEEKDAY_ZH
from pipimem.text.patterns import Pattern


class Intent(StrEnum):
    """What a question is after; its cues have its name in `data/recall/phrases.txt`."""

    STATE = "current state"
    NEXT = "next steps"
    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    ERRORS = "errors"
    HISTORY = "history"
    PREFERENCES = "preferences"


# What an item of the section that was asked for gains, in hundredths. Session state changes by the
# hour, so asking for it is the surest sign.
BONUS: dict[Intent, float] = {
    Intent.STATE: 10,
    Intent.NEXT: 10,
    Intent.CONSTRAINTS: 9,
    Intent.DECISIONS: 9,
    Intent.ERRORS: 9,
    Intent.HISTORY: 8,
    Intent.PREFERENCES: 8,
}

# Where each is answered: kinds of durable entries, sections of SESSION.md, a whole source.
ANSWERED_BY: dict[Intent, frozenset[str]] = {
    Intent.STATE: frozenset(("Current State", "User Intent", "Session Title", Kind.ONGOING)),
    Intent.NEXT: frozenset(("Next Steps", Kind.OPEN_LOOP)),
    Intent.CONSTRAINTS: frozenset(("Constraints", Kind.CONSTRAINT)),
    Intent.DECISIONS: frozenset(("Decisions", Kind.DECISION)),
    Intent.ERRORS: frozenset(("Errors & Corrections", Kind.LESSON)),
    Intent.HISTORY: frozenset(("Worklog", Source.HISTORY)),
    Intent.PREFERENCES: frozenset((Kind.PREFERENCE, Kind.WISH, Kind.HEALTH)),
}


def intents_of(text: str) -> tuple[Intent, ...]:
    """Every intent that has a cue in the text."""
    lowered = text.lower()
    return tuple([intent for intent in Intent if says(intent, lowered)])


def without_cues(text: str) -> str:
    """The text, in small letters, with the cues of every intent taken out."""
    text = text.lower()
    for intent in Intent:
        text = phrases(intent).sub(" ", text)
    return text


def answers(item: Item, intent: Intent) -> bool:
    """Whether an item stands where this intent is answered."""
    places = ANSWERED_BY[intent]
    return item.kind in places or item.source in places


KINDS = (
    *("money", "age", "duration", "measure", "share"),
    *("location", "contact", "version", "diet"),
)
# No text has such a word: it has a space.
_MARK = "tells: "
# Less than a word that was said: many entries tell an amount, and only one of them answers.
_WEIGHT = 0.7
# Further in a longer text nothing is looked for: the patterns take as long as the square of a run
# of digits, 0.1 s for this many, hours for a line of a megabyte.
_MOST_CHARS = 1_000


def kind_terms(text: str) -> tuple[Term, ...]:
    """What a question wants to be told: each kind as a term that entries which tell it have."""
    lowered = text.lower()
    return tuple(
        [
            Term(_MARK + kind, _WEIGHT)
            for kind in KINDS
            if _answer_kind_finder(kind, "asked").find_in(lowered)
        ]
    )


def kind_marks(text: str) -> list[str]:
    """The words under which `kind_terms` finds a text."""
    lowered = text[:_MOST_CHARS].lower()
    return [_MARK + kind for kind in KINDS if _answer_kind_finder(kind, "told").find_in(lowered)]


def is_kind(term: Term) -> bool:
    """Whether a term stands for a kind of answer and not for a word."""
    return is_mark(term.word)


def is_mark(word: str) -> bool:
    """Whether a word is one of `kind_marks`."""
    return word.startswith(_MARK)


@cache
def _answer_kind_finder(kind: str, side: str) -> PhraseFinder:
    """Return the phrases by which a kind is `asked` or `told`."""
    return phrase_finder(resources.sections("recall/answer_kinds"), f"{kind} {side}")


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


class PhraseFinder(NamedTuple):
    """The phrases of one name as two patterns, for texts in small letters.

    `chinese` holds those that need a character beyond ASCII: a plain English question, which has
    none, is not searched for them. That halves the time of a question's phrases.
    """

    others: re.Pattern[str] | None
    chinese: re.Pattern[str] | None

    def find_in(self, lowered: str) -> re.Match[str] | None:
        """Where one of them stands."""
        found = self.others.search(lowered) if self.others else None
        if found is None and self.chinese is not None and not lowered.isascii():
            return self.chinese.search(lowered)
        return found


def phrase_finder(sections: Mapping[str, Sequence[str]], name: str) -> PhraseFinder:
    """The phrases of the sections `NAME: words`, `NAME: openings`, `NAME` and `NAME: chinese`."""
    others, chinese = _alternatives(sections, name), "|".join(sections.get(f"{name}: chinese", ()))
    return PhraseFinder(
        re.compile(others) if others else None, re.compile(chinese) if chinese else None
    )


@cache
def phrases(name: str) -> re.Pattern[str]:
    """The phrases of a name in `phrases.txt` as one pattern, for texts in small letters."""
    return re.compile(_whole(name))


def says(name: str, text: str) -> bool:
    """Whether one of the phrases of a name in `phrases.txt` stands in a text."""
    return _finder(name).find_in(text.lower()) is not None


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
    return re.compile(rf"(?:(?>(?:{_whole('chat')})(?![a-z]))[\s\W_]*+)++")


@cache
def _command() -> re.Pattern[str]:
    """A program with a subcommand, or with arguments no sentence has: flags, paths, refs.

    A program's name alone may well be asked about; those that are typed alone stand first.
    """
    programs, subcommands = _whole("program"), _whole("subcommand")
    flag = rf"-[\w-]+(?:=\S+|\s+(?:{programs})(?!\S))?"
    path = r"[!-~]*[./:=@*][!-~]*"
    quoted = r"\"[^\"]*\"|'[^']*'"
    arguments = rf"{flag}|{path}|origin|main|master|head|\d+|{quoted}"
    alone = r"(?:ls|ll|pwd|whoami|ps|df|du|top|cd)"
    started = rf"(?:sudo\s+)?(?:{programs})(?=\s)(?:\s+(?:{subcommands}))*"
    return re.compile(rf"[$>❯]?\s*(?:{alone}|{started}(?:\s+(?:{arguments}))*+)\s*")


@cache
def _finder(name: str) -> PhraseFinder:
    return phrase_finder(resources.sections("recall/phrases"), name)


def _whole(name: str) -> str:
    sections = resources.sections("recall/phrases")
    parts = (_alternatives(sections, name), *sections.get(f"{name}: chinese", ()))
    return "|".join(part for part in parts if part)


def _alternatives(sections: Mapping[str, Sequence[str]], name: str) -> str:
    """What stands anywhere or begins where a word does; the bound is looked for once for all."""
    whole = sections.get(f"{name}: words", ())
    at_a_word = list(sections.get(f"{name}: openings", ()))
    if whole:
        at_a_word.insert(0, rf"(?:{'|'.join(whole)})\b")
    begins = (rf"\b(?:{'|'.join(at_a_word)})",) if at_a_word else ()
    return "|".join((*begins, *sections.get(name, ())))
