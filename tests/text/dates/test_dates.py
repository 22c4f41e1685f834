"""Relative dates become absolute; the days a text names are found. Cases stand in
cases/dates.jsonl.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pipimem.text.dates import Span, dated, lasts_until, mentioned, without_days

from tests.cases import each

NOW = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)  # a Wednesday
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "dates.jsonl")
    .read_text("utf-8")
    .splitlines()
]
SAID = [(case["said"], case["dated"]) for case in CASES if "dated" in case]
NAMED = [(case["said"], case["spans"]) for case in CASES if "spans" in case]


@each(("said", "becomes"), SAID)
def test_relative_dates_become_absolute(said, becomes):
    """Seen from Wednesday, 4 March 2026; idioms, habits, ranges and code stay as they are."""
    assert dated(said, NOW) == becomes


@each(("said", "spans"), NAMED)
def test_the_days_a_text_names(said, spans):
    """Absolute and relative; without a year the nearest; a day is a span of one."""
    expected = tuple(
        Span(date.fromisoformat(first), date.fromisoformat(last)) for first, last in spans
    )
    assert mentioned(said, NOW) == expected


@each("said", ["10月13日周二", "改到15号（周四）", "3月20日，周五"])
def test_a_weekday_behind_its_date_is_no_relative_day(said):
    """The date says which week it is of."""
    assert dated(said, NOW) == said


def test_the_day_is_that_of_the_place():
    """`when` counts in its own time zone: the same moment is another day elsewhere."""
    late = datetime.fromisoformat("2026-03-04T23:30:00+08:00")
    assert dated("明天", late) == "2026-03-05"
    assert dated("明天", late.astimezone(UTC)) == "2026-03-05"
    assert dated("明天", datetime.fromisoformat("2026-03-05T00:30:00+08:00")) == "2026-03-06"


@each(
    ("said", "becomes"),
    [("last month", "in December 2025"), ("上个月", "2025年12月"), ("昨天", "2025-12-31")],
)
def test_a_year_may_end_between(said, becomes):
    """Months and days are counted across New Year."""
    assert dated(said, datetime(2026, 1, 1, tzinfo=UTC)) == becomes


@each("said", ["2027年2月30日", "2027-02-30", "30 February 2027", "明年2月30日", "上个月31日"])
def test_an_impossible_date_names_no_day(said):
    """Nor the month or the year it would stand in; it stays as it was said."""
    assert mentioned(f"until {said}, or so", NOW) == ()
    assert without_days(said, NOW) == dated(said, NOW) == said


@each("when", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
def test_the_end_of_the_calendar_is_no_error(when):
    """What cannot be counted stays as it was said."""
    said = (
        "yesterday tomorrow last week next week 999 years ago 去年 明年 上个月 下下周五 下个月 5月"
    )
    beyond = "yesterday 去年" if when.year == 1 else "tomorrow 明年"
    assert dated(beyond, when) == beyond
    assert mentioned(beyond, when) == ()
    assert "999 years ago" in dated(said, datetime(500, 1, 1, tzinfo=UTC))
    assert all(span.start <= span.end for span in mentioned(said, when))


PIECES = [part for case in CASES for part in case["said"].split(" ")] + [
    " ",
    "，",
    ". ",
    "of ",
    "last ",
    "the ",
    "in ",
    "on ",
    "3",
    "前",
    "后",
    "周",
    "月",
    "年",
    "底",
    "一",
    "`",
    "那",
]


@each("said", ["周一 到 周三我出差", "周一 ~ 周五门诊开放", "周二 – 周四"])
def test_a_range_of_weekdays_stays(said: str) -> None:
    """Its two ends would be counted apart."""
    assert dated(said, NOW) == said


@example(pieces=["每月底", "meet", "meet", "tomorrow", "tomorrow", "礼拜五见"], glue=" ", when=NOW)
@example(pieces=["every", *["tomorrow"] * 40, "on Friday"], glue=" ", when=NOW)
@given(
    st.lists(st.sampled_from(PIECES), max_size=7),
    st.sampled_from(["", " "]),
    st.datetimes(timezones=st.just(UTC)),
)
def test_dating_twice_changes_nothing_more(pieces, glue, when):
    """What was made absolute is not read as relative again, even on another day."""
    once = dated(glue.join(pieces), when)
    assert dated(once, when) == once


@pytest.mark.slow
@given(st.text())
def test_any_text_is_read(text):
    """No text is an error, and spans never run backwards."""
    dated(text, NOW)
    assert all(span.start <= span.end for span in mentioned(text, NOW))


def test_the_days_a_text_names_can_be_taken_out() -> None:
    """Code stays; a text without any is as it was."""
    assert without_days("what did we do last Friday, 上周四 too?", NOW).split() == [
        "what",
        "did",
        "we",
        "do",
        ",",
        "too?",
    ]
    assert without_days("`last Friday` and 2.4", NOW) == "`last Friday` and 2.4"


@each(
    ("text", "last"),
    [
        ("the code freeze lasts until 2026-03-05", date(2026, 3, 5)),
        ("Dana is away till Friday 2026-03-06, then back", date(2026, 3, 6)),
        ("valid through (2026-03-05)", date(2026, 3, 5)),
        ("优惠码有效期至2026-03-05", date(2026, 3, 5)),
        ("代码冻结到 2026-03-05 为止", date(2026, 3, 5)),
        ("until 2026-03-05, extended until 2026-04-01", date(2026, 4, 1)),
        ("the domain expires on 2026-03-05", None),
        ("the release is on 2026-03-05", None),
        ("会议改到 2026-03-05", None),
        ("until 2026-02-30", None),
        ("until Friday", None),
    ],
)
def test_only_what_is_said_of_the_statement_itself_ends_it(text: str, last: date | None) -> None:
    """A date of which something is told is no end of the telling."""
    assert lasts_until(text) == last
