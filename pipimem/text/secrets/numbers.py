"""Numbers that are secrets by their check sums: bank cards and identity numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.text.patterns import Pattern

_LONG_NUMBER = Pattern(r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w]|[ -]?\d|\.\d)", re.ASCII)
_IDENTITY = Pattern(r"(?<![A-Za-z0-9])\d{17}[\dXx](?![A-Za-z0-9])")
_CARD_ISSUER = Pattern(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
_OTHER_NUMBER = Pattern(
    r"(?:单号|订单|快递|运单|编号|流水|工单|order|tracking|invoice|ticket|\bid|message|msg|isbn|imei)\W{0,6}$",
    re.IGNORECASE,
)


LONG = Pattern(r"\d(?:[ -]?\d){12}")
"""What every one of them has in it."""


def secret_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """The places of card and identity numbers: kind, start, end."""
    yield from _identity_numbers(text)
    for match in _LONG_NUMBER().finditer(text):
        digits = re.sub(r"\D", "", match[0])
        before = text[max(0, match.start() - 16) : match.start()]
        if _is_card(digits) and not _OTHER_NUMBER().search(before):
            yield ("card number", *match.span())


def _identity_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _IDENTITY().finditer(text):
        if _is_identity(match[0], text[max(0, match.start() - 12) : match.end() + 6]):
            yield ("identity number", *match.span())


def _is_card(digits: str) -> bool:
    return _CARD_ISSUER().fullmatch(digits) is not None and _luhn(digits)


def _is_identity(number: str, around: str) -> bool:
    """A Chinese identity number.

    A birth date inside and the check digit of GB 11643 (or called one).
    """
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    if not 1900 <= born.year <= 2100:
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], weights, strict=True))
    return "10X98765432"[total % 11] == number[17].upper() or "身份证" in around


def _luhn(digits: str) -> bool:
    """The check sum of card numbers (ISO/IEC 7812-1)."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(two // 10 + two % 10 for two in doubled)
    return total % 10 == 0 and len(set(digits)) > 1
