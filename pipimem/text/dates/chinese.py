"""Dates named in Chinese: 明天, 下周四, 上个月, 三天前, 3月5日, 2026年3月."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.text.dates.rules import Meant, Reader, Rule, Rules
from pipimem.text.dates.spans import (
    Found,
    Span,
    day,
    month,
    nearest,
    week,
    weekday_after,
    weekday_before,
    weekend,
    year,
)
from pipimem.text.han import HAN
from pipimem.text.numerals import number
from pipimem.text.patterns import Pattern
from pipimem.text.weekdays import CHINESE, WEEK_ZH

_NUM = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
# 马上周五, 以上, 线下周边, 一下周报: there 上 and 下 belong to the word before.
_UP_DOWN = r"(?:上上|下下|(?<![马早晚以之身网线路])上|(?<![一以之底线私地乡楼])下|(?<![基版剧书成日])本|这)"
_HABIT = Pattern(
    r"从不|从来|不许|不准|禁止|不能|不要|不可|不得|不发|不上线|每|都|一律|总是|一般|通常|永远|别|习惯|固定|例|经常|平时"
)
_PAST = Pattern(
    r"已经|已于|刚刚|上次|当时|[开做去见聊吃买看定改修说发]了(?!吧|算)|[开做去见聊吃买看]过"
)
_RANGE_AFTER = Pattern(rf"\s?[到至~～—–-]\s?(?:{WEEK_ZH})?[{CHINESE}]")
_RANGE_BEFORE = Pattern(rf"[{CHINESE}]\s?[到至~～—–-]\s?\Z")
_SHIFTS = {"上上": -2, "上": -1, "本": 0, "这": 0, "": 0, "下": 1, "下下": 2}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}


def found(text: str, when: date) -> Iterator[Found]:
    """Dates in the order of the rules; a caller drops those that overlap earlier ones."""
    if not text.isascii():
        for match, meant in _RULES.read(text, text, when):
            yield _placed(match, meant)


def _placed(match: re.Match[str], meant: Meant) -> Found:
    """A phrase with a part of its own group `is` is replaced in that part alone: 去年 of 去年3月5日."""
    start, end = match.span("is" if "is" in match.re.groupindex else 0)
    said = meant.phrase
    if said is not None:  # digits do not run into the ones beside them: 明天3点
        text = match.string
        if start and text[start - 1].isascii() and text[start - 1].isalnum():
            said = f" {said}"
        if said[-1].isdigit() and text[end : end + 1].isascii() and text[end : end + 1].isalnum():
            said = f"{said} "
    return Found(start, end, meant.span, said)


def _absolute(match: re.Match[str], when: date) -> Meant | None:
    """2026年3月5日 and its parts; without a year the nearest."""
    parts = match.groupdict()
    shift = parts.get("is")
    full = int(parts.get("year") or 0) if shift is None else when.year + _YEARS[shift]
    month_number = number(parts["month"]) if parts.get("month") else 0
    of_month = number(parts["day"]) if parts.get("day") else None
    said = f"{full}年" if shift else None
    if not full:
        return (
            Meant(nearest(when, month_number, of_month), said) if 1 <= month_number <= 12 else None
        )
    if not month_number:
        return Meant(year(full), said)
    return Meant(
        day(date(full, month_number, of_month)) if of_month else month(full, month_number), said
    )


def _day(match: re.Match[str], when: date) -> Meant:
    parts = match.groupdict()
    span = day(when, _DAYS[parts.get("day") or parts.get("day2") or "今"])
    part = {"早": "早上", "晨": "早上", "晚": "晚上", "夜": "夜里"}.get(parts.get("part") or "", "")
    if match.string.startswith("上", match.end()):
        part = part.removesuffix("上")  # 明早上课: what follows brings it
    return Meant(span, f"{span.start}{part}")


def _weekday(match: re.Match[str], when: date) -> Meant:
    there = day(week(when, _SHIFTS[match["which"]]).start, _weekday_number(match))
    return Meant(there, str(there.start))


def _bare_weekday(match: re.Match[str], when: date) -> Meant | None:
    """周五 alone: the next one; the last one in a past clause; a habit (周五不许发布) or a range stays."""
    text, start, end = match.string, *match.span()
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    clause = (
        re.split(r"[。！？!?;；\n]", before)[-1] + match[0] + re.split(r"[。！？!?;；\n]", after)[0]
    )
    if _HABIT().search(clause) or _RANGE_AFTER().match(after) or _RANGE_BEFORE().search(before):
        return None
    if _weekday_number(match) == when.weekday():
        return None  # today, or a week away: nobody but the speaker knows
    there = (weekday_before if _PAST().search(clause) else weekday_after)(
        when, _weekday_number(match)
    )
    return Meant(there, str(there.start))


def _weekday_number(match: re.Match[str]) -> int:
    return min(CHINESE.index(match["weekday"]), 6)


def _week(match: re.Match[str], when: date) -> Meant:
    span = week(when, _SHIFTS[match["which"]])
    return Meant(span, f"{span.start}那周")


def _weekend(match: re.Match[str], when: date) -> Meant:
    span = weekend(when, _SHIFTS[match["which"]])
    return Meant(span, f"{span.start}那个周末")


def _month(match: re.Match[str], when: date) -> Meant:
    span = month(when.year, when.month, _SHIFTS[match["which"]])
    said = f"{span.start.year}年{span.start.month}月"
    of_month = match["of_month"]
    return Meant(
        day(date(span.start.year, span.start.month, number(of_month))) if of_month else span, said
    )


def _edge_of_month(match: re.Match[str], when: date) -> Meant:
    span = month(when.year, when.month)
    part = (
        Span(span.start, day(span.start, 9).start)
        if match["edge"] == "初"
        else Span(day(span.end, -9).start, span.end)
    )
    return Meant(part, f"{when.year}年{when.month}月")


def _edge_of_year(match: re.Match[str], when: date) -> Meant:
    months = (1, 2) if match["edge"] == "初" else (11, 12)
    return Meant(
        Span(month(when.year, months[0]).start, month(when.year, months[1]).end), f"{when.year}年"
    )


def _counted(match: re.Match[str], when: date) -> Meant:
    count = number(match["number"]) * (-1 if match["side"].endswith("前") else 1)
    match match["unit"][-1]:
        case "天" | "日":
            span = day(when, count)
            return Meant(span, str(span.start))
        case "月":
            span = month(when.year, when.month, count)
            return Meant(span, f"{span.start.year}年{span.start.month}月")
        case "年":
            return Meant(year(when.year + count), f"{when.year + count}年")
        case _:
            middle = day(when, 7 * count).start
            return Meant(week(middle), f"{middle}前后")


def _rule(hints: str, pattern: str, reader: Reader) -> Rule:
    return Rule(frozenset(hints.split()), Pattern(pattern), reader)


_MD = rf"(?P<month>{_NUM})月(?:(?P<day>{_NUM})[日号](?!线|楼|院|店))"
# What makes 周一 the beginning of another word (老周一直在, 周日常) or of a count (三周三天).
_WEEKDAY = (
    rf"{WEEK_ZH}(?P<weekday>[一二三四五六日]|(?<!周)天)"
    r"(?!(?<=周一)[直起样个些共定边般旦次点块](?!床)|(?<=四)川|(?<=日)[常程期志本均活]|[人个名位岁倍天年百千万折刊])"
)
# A count of days says when only where nothing before it does: 出院三天后 counts from then.
_FREE = rf"(?:(?<![{HAN}\d.])(?<!\d )|(?<=[我你您他她它们会在于将就再约是的请定改说等从自]))"
_MONTH_AFTER = r"(?![球台亮光饼经食色老宫])"
# 后端, 前台, 前提 …: the side begins another word.
_SIDE = r"(?P<side>(?:之|以)?(?:前(?![端台提言期缀置沿景途进面任锋])|后(?![端台勤悔续期果面来代退置缀门备援])))"

_COUNTED = "一二两三四五六七八九十"
_YEAR = r"(?<!\d)(?P<year>(?:19|20)\d\d)年"
# 失去, 以前年年, 三天后年年 …: the word begins in the one before.
_OTHER_YEAR = (
    rf"(?P<is>(?<![过失])去年|今年|明年|(?<![以之从生此多几目\d{_COUNTED}])前年"
    rf"|(?<![以今之然最天月年周先\d{_COUNTED}])后年)"
)
_AFTERWARDS = r"(?:[性形培养努]|学习|免疫|获得|因素|失调|环境|教育|习得)"  # 后天 as "acquired", not "in two days"
_DAY = (
    r"(?P<day>大前|(?<![以之从目])前|昨|明)天"
    rf"|(?P<day2>大后|(?<![天周月年日雨饭课会之以最然先事此])后)天(?!{_AFTERWARDS})"
)
# 今天下午, not 当今天下; not 如今天气.
_TODAY = (
    r"今(?:天(?!(?<=如今天)气|下(?!午|班|雨|雪|周|个|课|单|线|去|来|楼|了))|日(?!头条|份)|儿)"
    r"|(?P<day>昨|明)日(?!之星|方舟)"
)
_PART_OF_WEEK = rf"(?![{CHINESE}末边围转到而密年刊报会期游折])"
# 老周一, 三周一次, 每周五 …; the date that stands beside it says it already.
_BARE = (
    rf"(?<![\d{_COUNTED}每几半数整多老小姓大个那隔逢单双各某上下这本色])"
    rf"{_WEEKDAY}(?!六|日|餐厅|\s?[(（]|\s?\d{{4}}-|\s?\d{{1,2}}月)"
)
_OF_MONTH = rf"(?:(?P<of_month>{_NUM})[日号])?{_MONTH_AFTER}"
_BARE_MONTH = (
    rf"(?<![\d{_COUNTED}个每上下本这该当几年岁日蜜明正腊半全整])(?P<is>月)(?P<edge>底|末|初)(?!静)"
)
_BARE_YEAR = (
    rf"(?<![\d{_COUNTED}〇零去今明前后每半全同当几多周期拜])(?P<is>年)(?P<edge>底|末|初)(?!级)"
)

# The order counts: longer readings first, absolute ones before all.
_RULES = Rules(
    _rule("年", rf"{_YEAR}{_MD}", _absolute),
    _rule("年", rf"{_YEAR}(?P<month>{_NUM})月", _absolute),
    _rule("年", rf"{_YEAR}(?!代)", _absolute),
    _rule("去年 今年 明年 前年 后年", rf"{_OTHER_YEAR}{_MD}", _absolute),
    _rule("去年 今年 明年 前年 后年", rf"{_OTHER_YEAR}(?P<month>{_NUM})月", _absolute),
    _rule("月", rf"(?<![\d年第]){_MD}", _absolute),
    _rule("去年 今年 明年 前年 后年", rf"{_OTHER_YEAR}(?!轻|龄|华|味|老|少|画)", _absolute),
    _rule("昨天 明天 前天 后天", _DAY, _day),
    _rule("今 昨日 明日", _TODAY, _day),
    _rule("今 昨 明", r"(?P<day>今|明|昨)(?P<part>早|晨|晚|夜)", _day),
    _rule("周 星期 礼拜", rf"(?P<which>{_UP_DOWN})个?{WEEK_ZH}末", _weekend),
    _rule("周 星期 礼拜", rf"(?P<which>{_UP_DOWN})个?{_WEEKDAY}", _weekday),
    _rule("周 星期 礼拜", rf"(?P<which>{_UP_DOWN})个?{WEEK_ZH}{_PART_OF_WEEK}", _week),
    _rule("周 星期 礼拜", _BARE, _bare_weekday),
    _rule("月", rf"(?P<is>(?P<which>{_UP_DOWN})个月){_OF_MONTH}", _month),
    _rule("上月 下月 本月", rf"(?P<is>(?P<which>(?:{_UP_DOWN})(?<!这))月){_OF_MONTH}", _month),
    _rule("月底 月末 月初", _BARE_MONTH, _edge_of_month),
    _rule("年底 年末 年初", _BARE_YEAR, _edge_of_year),
    _rule(
        "前 后",
        rf"{_FREE}(?P<number>{_NUM})(?P<unit>天|日|周|个?星期|个?礼拜|个月|年){_SIDE}",
        _counted,
    ),
    _rule("月", rf"(?<![\d年个第])(?P<month>{_NUM})月(?:份|(?![\d{_COUNTED}]))", _absolute),
)
