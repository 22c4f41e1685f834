"""Dates named in Chinese: 明天, 下周四, 上个月, 三天前, 3月5日, 2026年3月."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from pipimem.text.dates.bounds import Span, day, named, period, weekday_after, weekday_before
from pipimem.text.dates.calendar_words import CHINESE, WEEK_ZH, group, number, weekday
from pipimem.text.dates.rules import FoundDate, Meaning, Reader, Rules, sentence_around
from pipimem.text.patterns import Pattern

_HABIT = Pattern(
    r"从不|从来|不许|不准|禁止|不能|不要|不可|不得|不发|不上线|每|都|一律|总是|一般|通常|永远|别|习惯|固定|例|经常|平时"
)
# 周五可以发布 is a rule; 我周五可以来 and 周五可以发布吗 speak of the next one.
_PERMISSION = Pattern(r"\A(?!.*(?:[我你您他她咱]|吗|么)).*(?:可以|允许|才能|才可|只有|只能)")
_PAST = Pattern(
    r"已经|已于|刚刚|上次|当时|[开做去见聊吃买看定改修说发]了(?!吧|算)|[开做去见聊吃买看]过"
)
_CLAUSE_END = Pattern(r"[。！？!?;；\n]")
_RANGE_AFTER = Pattern(rf"\s?[到至~～—–-]\s?(?:{WEEK_ZH})?[{CHINESE}]")
_RANGE_BEFORE = Pattern(rf"[{CHINESE}]\s?[到至~～—–-]\s?\Z")
_SHIFTS = {"上上": -2, "上": -1, "本": 0, "这": 0, "": 0, "下": 1, "下下": 2}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "": 0, "今": 0, "明": 1, "后": 2, "大后": 3}
_PARTS = {"早": "早上", "晨": "早上", "晚": "晚上", "夜": "夜里"}
# By the last character of a unit: 周, 星期, 礼拜, 周末 …
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "期": "week",
    "拜": "week",
    "末": "weekend",
    "月": "month",
    "年": "year",
}
# What is written in the place of a relative date, by what it names; `{0}` is its first day.
_PHRASES = {
    "day": "{0}",
    "week": "{0}那周",
    "weekend": "{0}那个周末",
    "month": "{0.year:04}年{0.month}月",
    "year": "{0.year:04}年",
}


def found(text: str, when: date) -> Iterator[FoundDate]:
    """Dates in the order of the rules; a caller drops those that overlap earlier ones."""
    if not text.isascii():
        for match, meant in _rules().read(text, text, when):
            yield _placed(match, meant)


def _placed(match: re.Match[str], meant: Meaning) -> FoundDate:
    """A phrase with a part of its own group `is` is replaced in that part alone.

    去年 of 去年3月5日.
    """
    start, end = match.span("is" if "is" in match.re.groupindex else 0)
    said, text = meant.phrase, match.string
    if said is not None:  # digits do not run into the ones beside them: 明天3点
        before = " " if _is_latin(text[max(0, start - 1) : start]) else ""
        after = " " if said[-1].isdigit() and _is_latin(text[end : end + 1]) else ""
        said = f"{before}{said}{after}"
    return FoundDate(start, end, meant.span, said)


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _absolute(match: re.Match[str], when: date) -> Meaning:
    """2026年3月5日 and its parts; without a year the nearest."""
    shift = group(match, "is")
    full = when.year + _YEARS[shift] if shift else number(match, "year") or None
    span = named(when, full, number(match, "month"), number(match, "day"))
    return Meaning(span, f"{full:04}年" if shift else None)


def _day(match: re.Match[str], when: date) -> Meaning:
    span = day(when, _DAYS[group(match, "day") or group(match, "day2")])
    part = _PARTS.get(group(match, "part"), "")
    if match.string.startswith("上", match.end()):
        part = part.removesuffix("上")  # 明早上课: what follows brings it
    return Meaning(span, f"{span.start}{part}")


def _weekday(match: re.Match[str], when: date) -> Meaning:
    there = day(period("week", when, _SHIFTS[match["which"]]).start, weekday(match))
    return Meaning(there, str(there.start))


def _bare_weekday(match: re.Match[str], when: date) -> Meaning | None:
    """周五 alone: the next one; the last one in a past clause.

    A habit (周五不许发布), a permission (周五可以发布) or a range stays.
    """
    if weekday(match) == when.weekday() or _is_range(match):
        return None  # today, or a week away: nobody but the speaker knows
    clause = sentence_around(match, _CLAUSE_END(), _CLAUSE_END())
    if clause is None or _HABIT().search(clause) or _PERMISSION().search(clause):
        return None
    there = (weekday_before if _PAST().search(clause) else weekday_after)(when, weekday(match))
    return Meaning(there, str(there.start))


def _is_range(match: re.Match[str]) -> bool:
    """Whether it begins or ends a range: 周一到周五."""
    begins = _RANGE_AFTER().match(match.string, match.end())
    ends = _RANGE_BEFORE().search(match.string[max(0, match.start() - 4) : match.start()])
    return begins is not None or ends is not None


def _stretch(unit: str, span: Span) -> Meaning:
    return Meaning(span, _PHRASES[unit].format(span.start))


def _period(match: re.Match[str], when: date) -> Meaning:
    unit = _UNITS[match["unit"][-1]]
    span = period(unit, when, _SHIFTS[match["which"]])
    of_month = number(match, "of_month")
    there = named(when, span.start.year, span.start.month, of_month) if of_month else span
    return Meaning(there, _stretch(unit, span).phrase)


def _edge(match: re.Match[str], when: date) -> Meaning:
    """月底, 月初: ten days. 年底, 年初: two months."""
    unit = _UNITS[match["is"]]
    whole = period(unit, when)
    if unit == "month":
        first, last = day(whole.start, 9), day(whole.end, -9)
    else:
        first, last = named(when, when.year, 2, 0), named(when, when.year, 11, 0)
    part = Span(whole.start, first.end) if match["edge"] == "初" else Span(last.start, whole.end)
    return Meaning(part, _stretch(unit, whole).phrase)


def _counted(match: re.Match[str], when: date) -> Meaning:
    count = number(match, "number") * (-1 if match["side"].endswith("前") else 1)
    unit = _UNITS[match["unit"][-1]]
    span = period(unit, when, count)
    if unit == "week":
        return Meaning(span, f"{day(when, 7 * count).start}前后")
    return _stretch(unit, span)


@cache
def _rules() -> Rules:
    readers: dict[str, Reader] = {
        "absolute": _absolute,
        "day": _day,
        "period": _period,
        "weekday": _weekday,
        "bare weekday": _bare_weekday,
        "edge": _edge,
        "counted": _counted,
    }
    return Rules("chinese", readers)
