"""A date gives the same words whatever way it is written, and what only looks like one gives
none.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.dates.calendar_words import without_dates

from tests.cases import each, table

FULL = ["2026-11-21", "11-21", "2026-11", "2026", "11月"]


@each(
    "text",
    table(__file__, "a_full_date_gives_its_words"),
)
def test_a_full_date_gives_its_words(text):
    """Day, month and year, each part findable without the others."""
    assert without_dates(text)[1] == FULL


@each(
    ("text", "words"),
    [
        ("3月5日", ["03-05", "3月"]),
        ("三月五号", ["03-05", "3月"]),
        ("六月份", ["6月"]),
        ("March 5", ["03-05", "3月"]),
        ("2026-03", ["2026-03", "2026", "3月"]),
        ("二〇二六年", ["2026"]),
        ("May 2023", ["2023-05", "2023", "5月"]),
    ],
)
def test_a_part_of_a_date_gives_its_part(text, words):
    """What is not said is not guessed."""
    assert without_dates(text)[1] == words


@each(
    "text",
    table(__file__, "what_only_looks_like_a_date_is_left_alone"),
)
def test_what_only_looks_like_a_date_is_left_alone(text):
    """Bands, durations, versions, impossible months and impossible days."""
    assert without_dates(text) == (text, [])


def test_a_time_of_day_stays_in_the_text():
    """Only the date is taken out; English months stay, too."""
    assert without_dates("at 2026-03-05T10:30:00+08:00!")[0].split() == ["at", "10:30", "!"]
    assert without_dates("on March 5")[0] == "on March 5"


@given(st.dates())
def test_every_day_of_these_centuries_is_read(day):
    """ISO and Chinese writing agree on any day from 1900 to 2099; other years are no dates."""
    iso, chinese = (
        without_dates(day.isoformat())[1],
        without_dates(f"{day.year}年{day.month}月{day.day}日")[1],
    )
    if 1900 <= day.year <= 2099:
        assert iso == chinese
        assert iso[0] == day.isoformat()
    else:
        assert iso == []
