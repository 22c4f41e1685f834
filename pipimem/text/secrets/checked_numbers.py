"""Numbers that carry a checksum: payment cards, Chinese identity numbers, bank accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.text.patterns import Pattern
from pipimem.text.secrets.keys import Secret

# Each opens with its first character and then looks behind it: the other way round `re` would try
# every position of the text.
_LONG = Pattern(r"\d[\d -]{12,}")
_LONG_NUMBER = Pattern(r"\d(?<![\w.+-]\d)(?:[ -]?\d){12,18}(?![\w]|[ -]?\d|\.\d)", re.ASCII)
_IDENTITY = Pattern(r"\d(?<![A-Za-z0-9]\d)\d{16}[\dXx](?![A-Za-z0-9])")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643
_CARD_ISSUER = Pattern(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
_OTHER_NUMBER = Pattern(
    r"(?:单号|订单|快递|运单|编号|流水|工单|order|tracking|invoice|ticket|\bid|message|msg|isbn|imei)\W{0,6}$",
    re.IGNORECASE,
)
_CARD_BEFORE = Pattern(
    r"(?:卡号?|card(?: (?:number|no\.?))?)\W{0,6}(?:是|is)?\W{0,3}$", re.IGNORECASE
)
_LOOK = 3  # characters behind a run that say whether it goes on: an X, a full stop and a digit
_IBAN = Pattern(r"[A-Z](?<![A-Za-z0-9].)[A-Z]\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_IBAN_COUNTRIES = (
    "A[DELTZ]|B[AEGHIRY]|C[HRYZ]|D[EJKO]|E[EGS]|F[IKOR]|G[BEILRT]|H[NRU]|I[ELQST]|JO|K[WZ]"
    "|L[BCITUVY]|M[CDEKNRTU]|N[ILO]|OM|P[KLST]|QA|R[OSU]|S[ACDEIKMOTV]|T[LNR]|UA|V[AG]|XK|YE"
)


def checked_numbers(text: str) -> Iterator[Secret]:
    """Yield card, identity and bank account numbers whose check digits are right."""
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
        if _is_card(digits, text[max(0, match.start() - 16) : match.start()]):
            yield Secret("card-number", *match.span())


def _is_card(digits: str, before: str) -> bool:
    """Return whether a number is a card's; behind "order" or "tracking" it is another's."""
    if _CARD_ISSUER().fullmatch(digits) is None or len(set(digits)) == 1:
        return False
    if _CARD_BEFORE().search(before):
        return True
    doubled = (int(digit) * 2 for digit in digits[-2::-2])  # ISO/IEC 7812-1
    total = sum(map(int, digits[-1::-2])) + sum(two // 10 + two % 10 for two in doubled)
    return total % 10 == 0 and not _OTHER_NUMBER().search(before)


def _is_identity(number: str, around: str) -> bool:
    """Return whether a number has a birth date and the check digit, or is called an identity's."""
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    is_checked = "10X98765432"[total % 11] == number[17].upper()
    return 1800 <= born.year <= 2100 and (is_checked or "身份证" in around)


def _is_iban(number: str) -> bool:
    """Return whether the check digits of ISO 13616 are right: the rest modulo 97 is 1."""
    if re.match(_IBAN_COUNTRIES, number) is None:
        return False
    digits = "".join(str(int(sign, 36)) for sign in number[4:] + number[:4])
    return int(digits) % 97 == 1
