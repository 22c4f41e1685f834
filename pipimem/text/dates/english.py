"""Dates named in English or in digits.

"tomorrow morning", "last Friday", "in two weeks", March 5th, 5/3, 2026-03-05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from pipimem.text.dates.bounds import Span, day, named, period, weekday_after, weekday_before
from pipimem.text.dates.calendar_words import group, month_name, number, weekday
from pipimem.text.dates.rules import FoundDate, Meaning, Reader, Rules, sentence_around
from pipimem.text.patterns import Pattern

_PREPOSITION = Pattern(
    r"(?:\b(?:on|by|until|till?|before|after|since|from|to|for|of|about|around|through|than"
    r"|starting|due|between|in|during|as)"
    r"|[:(\[=→—–-])[ ]?\Z",
    re.IGNORECASE,
)
_SUBJECT = Pattern(
    r"[ ]+(?:is|was|will|would|works?|won['’]t|isn['’]t|wasn['’]t|suits?|looks?|sounds?)\b",
    re.IGNORECASE,
)
_CLAUSE_START = Pattern(r"(?:\A|[.!?;,:\n。！？，；：\"“(（>*-])\s*\Z")
_SENTENCE_START = Pattern(r"(?:\A|[.!?\n。！？][\"“(]?)\s*\Z")
_SENTENCE_BEFORE = Pattern(r"[.!?\n。！？;；]\s")
_SENTENCE_END = Pattern(r"[.!?\n。！？;；](?:\s|\Z)")
_PAST = Pattern(
    r"\b(?:was|were|went|had|did|didn['’]t|met|saw|came|got|took|made|said|told|bought|gave"
    r"|left|felt|ran|found|sent|wrote|broke|fell|lost|won|began|spent"
    r"|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_FUTURE = Pattern(
    r"\b(?:will|going to|shall|should|must|needs?|plan|let['’]s|due|can|could|please)\b|['’]ll\b",
    re.IGNORECASE,
)
_GENERIC = Pattern(
    r"\b(?:never|always|every|each|usually|normally|typically|generally|whenever|weekly|any"
    r"|no|not|don['’]t|avoid|often|sometimes|regularly|most|once)\b",
    re.IGNORECASE,
)
_IDIOM = Pattern(
    r"['’]s (?:news|papers?|man|men|world|society|standards?|youth|kids|generation|age|leaders"
    r"|problems?|technology)\b"
    r"|,? gone tomorrow\b|, tomorrow the world",
    re.IGNORECASE,
)


def found(text: str, lowered: str, when: date) -> Iterator[FoundDate]:
    """Dates in the order of the rules; a caller drops those that overlap earlier ones."""
    for match, meant in _rules().read(text, lowered, when):
        yield _placed(match, meant)


def _placed(match: re.Match[str], meant: Meaning) -> FoundDate:
    said = meant.phrase
    if said is None:
        return FoundDate(match.start(), match.end(), meant.span)
    if meant.preposition and _lacks_preposition(match):
        said = f"{meant.preposition} {said}"
    if match[0][0].isupper() and _SENTENCE_START().search(_before(match)):
        said = said[0].upper() + said[1:]
    return FoundDate(match.start(), match.end(), meant.span, said)


def _lacks_preposition(match: re.Match[str]) -> bool:
    """Whether no preposition stands before the phrase, and it is not the subject of its clause."""
    before = _before(match)
    after = match.string[match.end() : match.end() + 20]
    if _PREPOSITION().search(before) or after.startswith(("'s", "’s")):
        return False
    begins_clause = _CLAUSE_START().search(before) and (match.start() <= 20 or before.strip())
    return not begins_clause or _SUBJECT().match(after) is None


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 20) : match.start()]


def _sentence(match: re.Match[str]) -> str | None:
    return sentence_around(match, _SENTENCE_BEFORE(), _SENTENCE_END())


_SHIFT = {"last": -1, "this": 0, "next": 1}
_DAYS = {
    "day before yesterday": -2,
    "last night": -1,
    "yesterday": -1,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
_PARTS = {
    "morning": "morning",
    "afternoon": "afternoon",
    "evening": "evening",
    "night": "night",
    "tonight": "evening",
}


def _day(match: re.Match[str], when: date) -> Meaning | None:
    if _IDIOM().match(match.string, match.end("day")):
        return None
    words = group(match, "day").removeprefix("the ")
    part = _PARTS.get(words.split()[-1]) or group(match, "part")
    own = match.string.startswith(("'s", "’s"), match.end())
    return _part_of_day("" if own else part, day(when, _DAYS.get(words, 0)))


def _part_of_day(part: str, span: Span) -> Meaning:
    return Meaning(span, f"the {part} of {span.start}" if part else str(span.start), "on")


def _weekday(match: re.Match[str], when: date) -> Meaning:
    which = group(match, "which")
    if which in ("last", "past", "previous"):
        span = weekday_before(when, weekday(match))
    elif which in ("coming", "this coming", "upcoming"):
        span = weekday_after(when, weekday(match))
    else:
        span = day(
            period("week", when, _SHIFT[which or group(match, "week")]).start, weekday(match)
        )
    return _part_of_day(group(match, "part"), span)


def _bare_weekday(match: re.Match[str], when: date) -> Meaning | None:
    """Reads "on Friday", "by Friday": the next one, in a past sentence the last.

    "never on Friday" stays.
    """
    if weekday(match) == when.weekday() or _is_habit(match):
        return None  # today, or a week away: nobody but the speaker knows
    past = group(match, "lead") == "since" or (not _is_deadline(match) and _is_past(match))
    span = (weekday_before if past else weekday_after)(when, weekday(match))
    return Meaning(span, f"{match['lead']} {_part_of_day(group(match, 'part'), span).phrase}")


def _is_deadline(match: re.Match[str]) -> bool:
    """Whether the day lies ahead, whatever else the sentence tells: "submitted by Monday"."""
    return group(match, "lead") in ("by", "until", "till", "due")


def _is_habit(match: re.Match[str]) -> bool:
    sentence = _sentence(match)
    if sentence is None:
        return True  # whether it is one stands too far away
    habit = _GENERIC().search(sentence)
    if habit is None:
        return False
    always = habit[0].lower() in ("never", "always", "every", "each", "usually")
    return always or not _is_deadline(match)


# What is written in the place of a relative date, by what it names, and the preposition before it.
_PHRASES = {
    "day": ("{first}", "on"),
    "week": ("the week of {first}", ""),
    "weekend": ("the weekend of {first}", "on"),
    "month": ("{month}", "in"),
    "quarter": ("Q{quarter} {first.year:04}", "in"),
    "year": ("{first.year:04}", "in"),
}


def _stretch(unit: str, span: Span) -> Meaning:
    phrase, preposition = _PHRASES[unit]
    first = span.start
    quarter = (first.month + 2) // 3
    said = phrase.format(first=first, month=month_name(first), quarter=quarter)
    return Meaning(span, said, preposition)


def _period(match: re.Match[str], when: date) -> Meaning:
    unit = group(match, "unit")
    meant = _stretch(unit, period(unit, when, _SHIFT.get(group(match, "which"), 0)))
    edge = group(match, "edge")
    return Meaning(meant.span, f"{match['edge']} of {meant.phrase}") if edge else meant


def _named_period(match: re.Match[str], when: date) -> Meaning:
    month, which = number(match, "month"), group(match, "which")
    back = which == "last" and month >= when.month
    ahead = which == "next" and month <= when.month
    return _stretch("month", named(when, when.year - back + ahead, month, 0))


def _is_duration(match: re.Match[str]) -> bool:
    """ "did it in two days", "twice in two weeks": how long, not when."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    if _sentence(match) is None or _is_past(match):
        return True
    return re.search(r"\b(?:once|twice|times?|only)\s+\Z", before) is not None


def _is_past(match: re.Match[str]) -> bool:
    around = _sentence(match)
    if around is None:
        return False
    return _PAST().search(around) is not None and _FUTURE().search(around) is None


def _counted(match: re.Match[str], when: date) -> Meaning | None:
    if group(match, "within") and _is_duration(match):
        return None
    unit, count = group(match, "unit"), number(match, "number")
    count = -count if group(match, "ago") else count
    span = period(unit, when, count)
    if unit == "week":
        return Meaning(span, f"around {day(when, 7 * count).start}")
    return _stretch(unit, span)


def _named(match: re.Match[str], when: date) -> Meaning:
    return Meaning(
        named(when, number(match, "year") or None, number(match, "month"), number(match, "day"))
    )


def _slashed(match: re.Match[str], when: date) -> Meaning | None:
    first, second = number(match, "a"), number(match, "b")
    if (first, second) == (24, 7):
        return None
    month, of_month = (first, second) if first <= 12 else (second, first)
    year = number(match, "year") + (2000 if len(group(match, "year")) == 2 else 0)
    return Meaning(named(when, year or None, month, of_month))


@cache
def _rules() -> Rules:
    readers: dict[str, Reader] = {
        "named": _named,
        "slashed": _slashed,
        "day": _day,
        "weekday": _weekday,
        "bare weekday": _bare_weekday,
        "period": _period,
        "named period": _named_period,
        "counted": _counted,
    }
    return Rules("english", readers)
