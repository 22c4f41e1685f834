"""Numbers that are known by their check sums: bank cards, Chinese identity cards, IBANs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.text.patterns import Pattern
from pipimem.text.secrets.secret import Secret

# Each opens with its first character and then looks behind it: the other way round `re` would try
# every position of the text.
_LONG = Pattern(r"\d[\d -]{12,}")
_LONG_NUMBER = Pattern(r"\d(?<![\w.+-]\d)(?:[ -]?\d){12,18}(?![\w]|[ -]?\d|\.\d)", re.ASCII)
_IDENTITY = Pattern(r"\d(?<![A-Za-z0-9]\d)\d{16}[\dXx](?![A-Za-z0-9])")
_CARD_ISSUER = Pattern(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
_OTHER_NUMBER = Pattern(
    r"(?:单号|订单|快递|运单|编号|流水|工单|order|tracking|invoice|ticket|\bid|message|msg|isbn|imei)\W{0,6}$",
    re.IGNORECASE,
)
# Behind a run of digits, what says that it goes on: an X, a letter, a full stop and a digit.
_LOOK = 3
_IBAN = Pattern(r"[A-Z](?<![A-Za-z0-9].)[A-Z]\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")


def checked_numbers(text: str) -> Iterator[Secret]:
    """The places of such numbers; a card's number behind "order" or "tracking" is another's."""
    for run in _LONG().finditer(text):
        yield from _long_numbers(text, run.start(), run.end() + _LOOK)
    for match in _IBAN().finditer(text):
        if _is_iban(match[0].replace(" ", "")):
            yield Secret("iban", *match.span())


def _long_numbers(text: str, start: int, end: int) -> Iterator[Secret]:
    for match in _IDENTITY().finditer(text, start, end):
        if _is_identity(match[0], text[max(0, match.start() - 12) : match.end() + 6]):
            yield Secret("identity-number", *match.span())
    for match in _LONG_NUMBER().finditer(text, start, end):
        digits = re.sub(r"\D", "", match[0])
        before = text[max(0, match.start() - 16) : match.start()]
        if _is_card(digits) and not _OTHER_NUMBER().search(before):
            yield Secret("card-number", *match.span())


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


def _is_iban(number: str) -> bool:
    """The check digits of ISO 13616: moved to the end, the rest of a division by 97 is 1."""
    digits = "".join(str(int(one, 36)) for one in number[4:] + number[:4])
    return int(digits) % 97 == 1
