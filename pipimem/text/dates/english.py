"""Dates named relatively in English: "tomorrow morning", "last Friday", "in two weeks", "next month"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.text.dates.english_calendar import (
    MONTH,
    NUMBER,
    WEEKDAY,
    WEEKDAY_HINTS,
    group,
    month_name,
    month_number,
    number,
    rule,
    weekday_number,
)
from pipimem.text.dates.rules import Meant, Rules
from pipimem.text.dates.spans import (
    Found,
    Span,
    day,
    month,
    week,
    weekday_after,
    weekday_before,
    weekend,
    year,
)
from pipimem.text.dates.written import BARE, WRITTEN
from pipimem.text.patterns import Pattern

_PREPOSITION = Pattern(
    r"(?:\b(?:on|by|until|till?|before|after|since|from|to|for|of|about|around|through|than|starting|due"
    r"|between|in|during|as)"
    r"|[:(\[=→—–-])[ ]?\Z",
    re.IGNORECASE,
)
_SUBJECT = Pattern(
    r"[ ]+(?:is|was|will|would|works?|won['’]t|isn['’]t|wasn['’]t|suits?|looks?|sounds?)\b",
    re.IGNORECASE,
)
_CLAUSE_START = Pattern(r"(?:\A|[.!?;,:\n。！？，；：\"“(（>*-])\s*\Z")
_SENTENCE_START = Pattern(r"(?:\A|[.!?\n。！？][\"“(]?)\s*\Z")
_PAST = Pattern(
    r"\b(?:was|were|went|had|did|didn['’]t|met|saw|came|got|took|made|said|told|bought|gave|left|felt|ran"
    r"|found|sent|wrote|broke|fell|lost|won|began|spent"
    r"|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_FUTURE = Pattern(
    r"\b(?:will|going to|shall|should|must|needs?|plan|let['’]s|due|can|could|please)\b|['’]ll\b",
    re.IGNORECASE,
)
_GENERIC = Pattern(
    r"\b(?:never|always|every|each|usually|normally|typically|generally|whenever|weekly|any|no|not|don['’]t|avoid"
    r"|often|sometimes|regularly|most|once)\b",
    re.IGNORECASE,
)
_IDIOM = Pattern(
    r"['’]s (?:news|papers?|man|men|world|society|standards?|youth|kids|generation|age|leaders"
    r"|problems?|technology)\b"
    r"|,? gone tomorrow\b|, tomorrow the world",
    re.IGNORECASE,
)


def found(text: str, lowered: str, when: date) -> Iterator[Found]:
    """Dates in the order of the rules; a caller drops those that overlap earlier ones."""
    for match, meant in _RULES.read(text, lowered, when):
        yield _placed(match, meant)


def _placed(match: re.Match[str], meant: Meant) -> Found:
    said = meant.phrase
    before = match.string[max(0, match.start() - 20) : match.start()]
    after = match.string[match.end() : match.end() + 20]
    if (
        said
        and meant.preposition
        and not _PREPOSITION().search(before)
        and not after.startswith(("'s", "’s"))
    ):
        first = _CLAUSE_START().search(before) if match.start() <= 20 or before.strip() else None
        if not (first and _SUBJECT().match(after)):
            said = f"{meant.preposition} {said}"
    if said and match[0][0].isupper() and _SENTENCE_START().search(before):
        said = said[0].upper() + said[1:]
    return Found(match.start(), match.end(), meant.span, said)


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around a place, up to 200 characters to either side."""
    before = re.split(r"[.!?\n。！？;；]\s", text[max(0, start - 200) : start])[-1]
    after = re.split(r"[.!?\n。！？;；](?:\s|\Z)", text[end : end + 200], maxsplit=1)[0]
    return before + text[start:end] + after


def _day(match: re.Match[str], when: date) -> Meant | None:
    if _IDIOM().match(match.string, match.end("day")):
        return None
    words, part = group(match, "day"), group(match, "part")
    shifts = {"yesterday": -1, "tomorrow": 1, "today": 0, "tonight": 0, "last night": -1}
    if "day before" in words or "day after" in words:
        span = day(when, -2 if "before" in words else 2)
    else:
        span = day(when, shifts.get(words, 0))
    if words in ("tonight", "last night"):
        part = "evening" if words == "tonight" else "night"
    elif words not in shifts and "this " in words:
        part = words.split()[-1]
    own = match.string.startswith(("'s", "’s"), match.end())
    return Meant(span, f"the {part} of {span.start}" if part and not own else str(span.start), "on")


def _weekday(match: re.Match[str], when: date) -> Meant | None:
    number, which = weekday_number(match), group(match, "which")
    which_week = group(match, "week")
    if which in ("last", "past", "previous"):
        span = weekday_before(when, number)
    elif which in ("coming", "this coming", "upcoming"):
        span = weekday_after(when, number)
    else:
        span = day(week(when, _SHIFT.get(which or which_week, 0)).start, number)
    return _weekday_meant(match, span)


def _bare_weekday(match: re.Match[str], when: date) -> Meant | None:
    """ "on Friday", "by Friday": the next one, in a past sentence the last; "never on Friday" stays."""
    around = _sentence(match.string, match.start(), match.end())
    lead = match["lead"].lower()
    habit = _GENERIC().search(around)
    if habit and (
        lead not in ("by", "until", "till", "due")
        or habit[0].lower() in ("never", "always", "every", "each", "usually")
    ):
        return None
    if weekday_number(match) == when.weekday():
        return None  # today, or a week away: nobody but the speaker knows
    # "submitted by Monday, it took long last time": a deadline lies ahead, whatever else the sentence tells.
    past = lead == "since" or (lead not in ("by", "until", "till", "due") and _is_past(match))
    pick = weekday_before if past else weekday_after
    meant = _weekday_meant(match, pick(when, weekday_number(match)))
    return Meant(meant.span, f"{match['lead']} {meant.phrase}")


def _weekday_meant(match: re.Match[str], span: Span) -> Meant:
    part = group(match, "part")
    return Meant(span, f"the {part} of {span.start}" if part else str(span.start), "on")


_SHIFT = {"last": -1, "this": 0, "next": 1}


def _period(match: re.Match[str], when: date) -> Meant | None:
    shift, unit = _SHIFT[match["which"].lower()], match["unit"].lower()
    match unit:
        case "week":
            span = week(when, shift)
            return Meant(span, f"the week of {span.start}")
        case "weekend":
            span = weekend(when, shift)
            return Meant(span, f"the weekend of {span.start}", "on")
        case "quarter":
            first = month(when.year, (when.month - 1) // 3 * 3 + 1, 3 * shift).start
            span = Span(first, month(first.year, first.month, 2).end)
            return Meant(span, f"Q{(first.month + 2) // 3} {first.year}", "in")
        case _:
            return _month_or_year(unit, when, shift)


def _month_or_year(unit: str, when: date, shift: int) -> Meant:
    if unit == "month":
        span = month(when.year, when.month, shift)
        return Meant(span, month_name(span.start), "in")
    return Meant(year(when.year + shift), str(when.year + shift), "in")


def _edge(match: re.Match[str], when: date) -> Meant | None:
    shift = _SHIFT.get(match["which"].lower(), 0)
    meant = _month_or_year(match["unit"].lower(), when, shift)
    return Meant(meant.span, f"{match['edge']} of {meant.phrase}")


def _named_period(match: re.Match[str], when: date) -> Meant | None:
    number, which = month_number(match), match["which"].lower()
    back = which == "last" and number >= when.month
    ahead = which == "next" and number <= when.month
    span = month(when.year - back + ahead, number)
    return Meant(span, month_name(span.start), "in")


def _is_duration(match: re.Match[str]) -> bool:
    """ "did it in two days", "twice in two weeks": how long, not when."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    return _is_past(match) or re.search(r"\b(?:once|twice|times?|only)\s+\Z", before) is not None


def _is_past(match: re.Match[str]) -> bool:
    around = _sentence(match.string, match.start(), match.end())
    return _PAST().search(around) is not None and _FUTURE().search(around) is None


def _counted(match: re.Match[str], when: date) -> Meant | None:
    count = number(match)
    if group(match, "within") and _is_duration(match):
        return None
    count = -count if group(match, "ago") else count
    match match["unit"].lower():
        case "day":
            span = day(when, count)
            return Meant(span, str(span.start), "on")
        case "week":
            middle = day(when, 7 * count).start
            return Meant(week(middle), f"around {middle}")
        case unit:
            return _month_or_year(unit, when, count)


_UNIT = r"(?P<unit>day|week|month|year)s?"
_PART = r"(?:[ ]+(?P<part>morning|afternoon|evening|night)(?!s))?"
# "Sunday school", "Friday the 13th", and a weekday whose date stands beside it.
_NO_WEEKDAY = (
    r"(?![ ](?:school|best|roast|the 13)|,?[ ](?:the[ ])?\d|[ ]?[(（]\d"
    rf"|,?[ ]{MONTH.replace('?P<month>', '?:')}[ ]\d)"
)
_DAY = (
    r"(?P<day>(?:the[ ])?day[ ]before[ ]yesterday|(?:the[ ])?day[ ]after[ ]tomorrow|yesterday|today|tomorrow"
    r"|tonight|last[ ]night|(?:(?:earlier|later|early|late)[ ])?this[ ](?:morning|afternoon|evening))"
)
# "over the last week" is a duration, "every last week" a habit, "more than a year ago" a bound.
_NOT_THE = r"(?<!the[ ])(?<!every[ ])(?<!each[ ])"
_EXACT = r"(?<!than[ ])(?<!over[ ])(?<!almost[ ])(?<!nearly[ ])"
_LAST = "last |next |this "

# The order counts: longer readings first.
_RELATIVE = (
    rule("yesterday|tomorrow|today|tonight|night|this", rf"{_DAY}{_PART}", _day),
    rule(
        WEEKDAY_HINTS,
        rf"(?P<which>last|next|this[ ]coming|this|coming|upcoming|past|previous)[ ]{WEEKDAY}"
        rf"{_PART}{_NO_WEEKDAY}",
        _weekday,
    ),
    rule(WEEKDAY_HINTS, rf"{WEEKDAY}{_PART}[ ](?:of[ ])?(?P<week>next|last|this)[ ]week", _weekday),
    rule(
        WEEKDAY_HINTS,
        rf"(?P<week>next|last|this)[ ]week(?:['’]s|[ ]on)?,?[ ]{WEEKDAY}{_PART}",
        _weekday,
    ),
    rule(
        WEEKDAY_HINTS,
        rf"(?P<lead>on|by|until|till|before|after|since|from|due)[ ]{WEEKDAY}{_PART}{_NO_WEEKDAY}",
        _bare_weekday,
    ),
    rule(
        f"the |{_LAST}",
        r"(?P<edge>end|start|beginning|middle)[ ]of[ ](?P<which>the|this|next|last)[ ](?P<unit>month|year)",
        _edge,
    ),
    rule(
        _LAST,
        rf"{_NOT_THE}(?P<which>last|next|this)[ ](?P<unit>weekend|week|month|quarter|year)"
        r"(?![ ]of\b|[ ]or[ ])",
        _period,
    ),
    rule(_LAST, rf"{_NOT_THE}(?P<which>last|next|this)[ ]{MONTH}", _named_period),
    rule(
        "in ",
        rf"{_EXACT}(?P<within>in)[ ]{NUMBER}[ ]{_UNIT}(?:['’]?[ ]time)?"
        r"(?![ ](?:or|flat|straight|of|in[ ]a)\b)",
        _counted,
    ),
    rule(
        " ago| from ",
        rf"{_EXACT}{NUMBER}[ ]{_UNIT}[ ](?:(?P<ago>ago)|from[ ](?:now|today))",
        _counted,
    ),
)
_RULES = Rules(*WRITTEN, *_RELATIVE, *BARE)
