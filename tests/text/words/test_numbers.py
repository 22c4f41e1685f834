"""Numbers of a text by value, and what of them two wordings have in common."""

from __future__ import annotations

import pytest
from pipimem.text.words.numbers import number_values, values_of, written_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$1,200 and 60%", [1200, 60]),
        ("1.5k or 12万", [1500, 120000]),
        ("v2.3 of B2B on eth0", []),
        ("on 2026-03-02, in 2027, on May 2nd, 5月2日, at 18:00", []),
        ("3 cats. 428.57.", [3, 428.57]),
    ],
)
def test_numbers_are_read_by_value(text: str, values: list[float]) -> None:
    """Days and times are no such numbers, and neither are parts of names."""
    assert [number.value for number in written_numbers(text)] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twenty five", 25),
        ("three hundred and two", 302),
        ("三百二十五", 325),
        ("一万五千", 15000),
        ("a dozen", 12),
        ("一刻", 0.25),
        ("$3,400", 3400),
    ],
)
def test_words_may_mean_a_number(text: str, value: float) -> None:
    assert value in number_values(text)


def test_two_wordings_share_numbers_and_weekdays() -> None:
    """However they are written; days of the calendar are left out."""
    assert values_of("seven on Friday, 2026-03-06") == values_of("7, fridays") == {"7", "friday"}
    assert values_of("周五三十元") == {"30", "周五"}
