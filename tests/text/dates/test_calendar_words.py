"""Numbers in Chinese characters are the numbers people mean."""

from __future__ import annotations

from pipimem.text.dates.calendar_words import chinese_number

from tests.cases import each, table


@each(
    ("written", "meant"),
    table(__file__, "a_number_is_read"),
)
def test_a_number_is_read(written, meant):
    """In digits, with 十 for the tens, or one character after the other as in years."""
    assert chinese_number(written) == meant
