"""Numbers as people write them in Chinese: 三, 两, 二十一, 二〇二六."""

from __future__ import annotations

_DIGITS = "〇一二三四五六七八九"
_OTHER_FORMS = str.maketrans("零两", "〇二")


def number(written: str) -> int:
    """The number in digits, in characters up to 99, or character by character as years are read."""
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.translate(_OTHER_FORMS).rpartition("十")
    if ten:
        return 10 * (_DIGITS.index(tens) if tens else 1) + (_DIGITS.index(ones) if ones else 0)
    return int("".join(str(_DIGITS.index(digit)) for digit in ones))
