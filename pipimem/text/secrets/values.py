"""Whether what follows the words of a secret is one, or a placeholder, a reference, mere talk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from pipimem import resources
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import hinted


class Secret(NamedTuple):
    """A secret: what it is, and where it stands in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int


# Nothing shorter is a key by its form alone. Commas and quotes end a run, so that JSON on one line
# is no run of a thousand characters.
_RUN = Pattern(r"[!#-&(-+\--;=?-\[\]-_a-~]{16,}")
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)
_MAY_HAVE_NO_DIGIT = frozenset(
    (
        "aws-access-key",
        "slack-webhook",
        "hugging-face-token",
        "license-key",
        "private-key",
        "recovery-codes",
        "seed-phrase",
    )
)
# What people choose or encode: neither its length nor its characters tell anything.
_CHOSEN = frozenset(
    ("password", "basic-credentials", "social-security-number", "passport-number", "key")
)
_DIGITS_AND_LETTERS = Pattern(r"[A-Za-z0-9]{8}")
# "bearer authentication-is-required": letters are a key only where cases mix within.
_MIXED_CASE = Pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def by_shape(text: str) -> Iterator[Secret]:
    """The places of secrets that are told by their shape, without a text that they open with."""
    for run in _RUN().finditer(text):
        lowered = run[0].lower()
        for form in hinted("secrets/key_shapes"):
            if _any_of(form.hints, lowered):
                for match in form.pattern().finditer(text, *run.span()):
                    yield from by_format(form.kind, match)


def by_format(kind: str, match: re.Match[str]) -> Iterator[Secret]:
    """The place of what a format or a context matched, if it is a secret."""
    group = "secret" if "secret" in match.re.groupindex else 0
    if _is_secret(kind, match[group]):
        yield Secret(kind, *match.span(group))


def _any_of(hints: tuple[str, ...], lowered: str) -> bool:
    for hint in hints:  # noqa: SIM110 - a generator costs as much as the looks
        if hint in lowered:
            return True
    return False


def _is_secret(kind: str, value: str) -> bool:
    """Whether a match is no placeholder, reference or word ("sk-learn-…", "sk-xxxx…")."""
    if kind == "private-key":
        return True
    if is_placeholder(value):
        return False
    if kind == "url-password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if kind in _CHOSEN:
        # "xxx" and "xyxy" stand for a value; 1122 is the code of many a door, 0000 of none yet.
        return len(set(value)) > (1 if value.isdigit() else 2)
    if len(set(value)) < 6:
        return False
    return kind in _MAY_HAVE_NO_DIGIT or _is_random(value)


def _is_random(value: str) -> bool:
    """Whether it has a run that no word with hyphens has: of digits and letters, or mixed cases."""
    if _DIGITS_AND_LETTERS().search(value) is None:
        return False
    return has_digit(value) or len(_MIXED_CASE().findall(value)) > 2


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


_PLACEHOLDER = Pattern(
    r"[*•·.…_#?-]+|\W*(?:[xX]{3,})\W*|\$\{.*|\$\(.*|\$[A-Z][A-Z0-9_]*|\$[a-z_]+|\{\{?.*"
    r"|%[sd]|%\(.*|<.*|\[.*|@\w+|#\{.*",
    re.DOTALL,
)
# What stands in a placeholder, in lower case: an expression for all takes ten times as long.
_IN_PLACEHOLDERS = (
    *("***", "xxxx", "•••", "…", "...", "your_", "your-", "example", "placeholder", "changeme"),
    *("redacted", "insert_", "insert-"),
)
_HERE = Pattern(r"[_-]here\b", re.IGNORECASE)
_REFERENCE = Pattern(
    r"[a-z][a-z0-9+.-]{1,15}://.*|(?:~|\.{1,2})?/[\w.-]+/.*|(?:~|\.{1,2})/.*"
    r"|\.env.*|[A-Za-z_][\w.]*(?:\(|\[).*"
    r"|(?:process|os|self|this|config|settings|env|secrets|vars|ctx|request|args|opts|options"
    r"|data|props)"
    r"\.[A-Za-z_].*"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # the name of an environment variable
    r"|[A-Za-z_]+(?:\.[A-Za-z_]+){1,5}",  # a name with dots: req.body.password
    re.DOTALL,
)
_DATE_OR_VERSION = Pattern(
    r"v?\d+(?:\.\d+){1,3}(?:[-+][\w.]+)?|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[:：]\d{2}.*|\d+%"
)
_UNIT = Pattern(
    r"\s{0,2}(?:位|个|次|天|年|月|号|日|周|分|秒|小?时|字|种|块|元"
    r"|bits?\b|bytes?\b|chars?\b|characters?\b|digits?\b|days?\b"
    r"|hours?\b|minutes?\b|seconds?\b|months?\b|years?\b|times?\b|words?\b|letters?\b"
    r"|tokens?\b|users?\b|attempts?\b|%)"
)
_SCHEME = Pattern(
    r"\s{0,2}(?:加密|哈希|散列|存储|存的|编码|算法|hash|encr|encod|format|格式)", re.IGNORECASE
)
_SENTENCE_END = Pattern(r"[\"'`”’)）]?[ \t]*(?:[.!?;,，。！；\n]|$)")
_SAID_OF_PASSWORDS = Pattern(r".*(?:ed|ing|able|ible|ful|less|ive|ous|ly)", re.IGNORECASE)
_SYMBOL = Pattern(r"[^\w.-]")
_VAULT_PATH = Pattern(r"[a-z][a-z-]*(?:/[a-z0-9._-]+)+")
# web-2, us-east-1, OAuth2, zhang.wei: words, and two digits behind them at most.
_NAME = Pattern(r"@?\d?[A-Za-z]+(?:[-_.'+][A-Za-z]+)*[-_.]?\d{0,2}")
# x86_64, k8s-prod-2, v2.1-rc3: short parts.
_IDENTIFIER = Pattern(
    r"(?:[A-Za-z]{1,12}\d{0,2}|\d{1,3})(?:[-_.](?:[A-Za-z]{1,12}\d{0,2}|\d{1,4}))+"
)
_FILE = Pattern(r"[\w.-]{1,80}\.(?:[a-z]{2,5}|[ch]|mp[34]|7z|s3)", re.IGNORECASE)
_ADDRESS = Pattern(
    r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{2,32}){1,4}|(?:[\w-]{1,64}\.){1,4}[a-z]{2,6}(?::\d+)?|[\d.:]+"
    r"|[A-Za-z0-9+.-]+:\d{2,5}"
)
_INNER_SIGN = Pattern(r"[A-Za-z][!@#$%^&*][A-Za-z]")
_UUID = Pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_CASE_CHANGE = Pattern(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_CASE_PARTS = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PARTS = Pattern(r"[-./]")
# 120000tokens, 1.5k/min
_MEASURE = Pattern(r"[\d.,]+[a-z]{1,6}(?:/\w+)?", re.IGNORECASE)


@cache
def no_secrets() -> frozenset[str]:
    """Words that follow "password is" or "token:" in mere talk."""
    return frozenset(resources.sections("secrets/no_secrets")[""])


def is_no_secret(value: str) -> bool:
    """Whether it is a known word, a placeholder, a reference to a secret, a date or a version."""
    return (
        not value
        or value.lower() in no_secrets()
        or is_placeholder(value)
        or _DATE_OR_VERSION().fullmatch(value) is not None
    )


def is_placeholder(value: str) -> bool:
    """Whether it stands in the place of a secret ("<token>", "xxxx") or says where one is."""
    if _PLACEHOLDER().fullmatch(value) is not None or _REFERENCE().fullmatch(value) is not None:
        return True
    lowered = value.lower()
    for piece in _IN_PLACEHOLDERS:  # a generator costs as much as the looks
        if piece in lowered:
            return True
    return "here" in lowered and _HERE().search(value) is not None


def looks_made_up(token: str) -> bool:
    """Whether a token of a sentence is no word, name, number, date or address.

    It has letters, and digits or signs among them.
    """
    if not 5 <= len(token) <= 128 or not has_letter(token) or is_no_secret(token):
        return False
    if not has_digit(token) and _INNER_SIGN().search(token) is None:
        return False
    return not any(
        pattern().fullmatch(token) for pattern in (_NAME, _MEASURE, _FILE, _ADDRESS, _IDENTIFIER)
    )


def looks_typed_blindly(word: str) -> bool:
    """Whether letters change their case as in no name: "GdCUZudx", not "getUserById"."""
    parts = _CASE_PARTS().findall(word)
    short = sum(len(part) <= 2 for part in parts)
    return len(word) >= 8 and len(parts) > 2 and short * 4 >= len(parts)


def looks_random(token: str) -> bool:
    """Whether a machine made it: long, with digits and letters mixed, and no name of things."""
    if len(token) < 16 or is_placeholder(token) or _UUID().fullmatch(token):
        return False
    if not has_digit(token):
        return token.isalpha() and len(_CASE_CHANGE().findall(token)) >= 6
    parts = _PARTS().split(token)
    return has_letter(token) and any(len(part) >= 8 and is_mixed(part) for part in parts)


def tells_about(following: str) -> bool:
    """Whether the text behind a value makes it a measure ("90 days") or a method ("MD5 加密")."""
    return _UNIT().match(following) is not None or _SCHEME().match(following) is not None


def is_measure(value: str) -> bool:
    """Whether it is a number with its unit: 90d, 1.5k/min."""
    return _MEASURE().fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Whether it is a UUID: a key only where one is announced right before it."""
    return _UUID().fullmatch(value) is not None


def is_repeated(value: str) -> bool:
    """Whether it is one character again and again; the same digit may well be a code."""
    if len(value) < 6 or value[0].lower() != value[1].lower() or value.isdigit():
        return False
    return len(set(value.lower())) == 1


def is_code(value: str) -> bool:
    """Whether it may be a code by text message: short, begins with a digit, no signs."""
    return value.isascii() and value.isalnum() and 3 <= len(value) <= 10 and value[0].isdigit()


def is_key(value: str) -> bool:
    """Keys are long and mixed; a plain word, number or short name after "token:" is talk."""
    if len(value) < 8 or not is_mixed(value):
        return False
    return not _VAULT_PATH().fullmatch(value) and not _MEASURE().fullmatch(value)


def is_password(value: str, following: str, *, bare: bool) -> bool:
    """Whether it may be a password.

    `bare` says that no sign stands between it and what announces it.
    """
    if has_digit(value):
        return len(value) >= (4 if has_letter(value) else 3)
    if not has_letter(value):
        return len(value) >= 4
    return _is_password_of_letters(value, following, bare=bare)


def _is_password_of_letters(value: str, following: str, *, bare: bool) -> bool:
    if len(value) >= 5 and _SYMBOL().search(value):  # pa$$word
        return not value.endswith(("'s", "’s"))
    if _is_composed(value):
        return len(value) >= 6
    return len(value) >= 4 and not (bare and "-" in value) and _is_last_word(value, following)


def has_digit(value: str) -> bool:
    """Whether there is a digit in it."""
    return any(map(str.isdigit, value))


def has_letter(value: str) -> bool:
    """Whether there is a letter in it."""
    return any(map(str.isalpha, value))


def is_mixed(value: str) -> bool:
    """Whether there are both digits and letters in it."""
    return has_digit(value) and has_letter(value)


def _is_composed(value: str) -> bool:
    """Whether several words were made one: correct-horse-battery, openSesame."""
    humps = value[1:] != value[1:].lower() and not value.isupper()
    return humps or value.count("-") >= 2


def _is_last_word(word: str, following: str) -> bool:
    """Whether it ends its sentence and is not what is said of passwords ("is expired")."""
    if _SAID_OF_PASSWORDS().fullmatch(word):
        return False
    return _SENTENCE_END().match(following) is not None
