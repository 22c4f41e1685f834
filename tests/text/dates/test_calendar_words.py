"""Numbers in Chinese characters are the numbers people mean."""

from __future__ import annotations

from pipimem.text.dates.calendar_words import chinese_number

from tests.cases import each


@each(
    ("written", "meant"),
    [
        ("7", 7),
        ("120", 120),
        ("三", 3),
        ("两", 2),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("三十一", 31),
        ("二〇二六", 2026),
        ("二零二六", 2026),
    ],
)
def test_a_number_is_read(written, meant):
    """In digits, with 十 for the tens, or one character after the other as in years."""
    assert chinese_number(written) == meant
