"""Texts with a secret in them and ordinary lines, drawn from shapes and surroundings by a seed."""

from __future__ import annotations

import base64
import random
import re
import string
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
# What stands in the place of a masked secret, and how long a piece of it must be to count.
_MARK, _PIECE = re.compile(r"\[secret:[^\]\n]*\]"), 4
_FIELD = re.compile(r"«([a-zA-Z0-9_]+)(?::(\d+))?»")
_UPPER_DIGITS = string.ascii_uppercase + string.digits
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "alnumlower": string.ascii_lowercase + string.digits,
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase,
    "upper": _UPPER_DIGITS,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "_-",
    "b32": string.ascii_uppercase + "234567",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech32": "023456789ACDEFGHJKLMNPQRSTUVWXYZ",
    "bcrypt": string.ascii_letters + string.digits + "./",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and what of it must be masked whole."""

    kind: str
    text: str
    secrets: tuple[str, ...]


@cache
def read(name: str) -> Mapping[str, Any]:
    """A file of the corpus."""
    return tomllib.loads((CORPUS / f"{name}.toml").read_text("utf-8"))


def cases(seed: int, each: int, *, held: bool) -> Iterator[Case]:
    """`each` texts of every kind; `held`: in the surroundings that were held back."""
    for name, kind in read("kinds").items():
        draw = random.Random(f"{seed} {name}")
        templates = _templates(name, kind, held=held)
        for number in range(each):
            # The first round takes each of the surroundings once, the rest is drawn.
            fits = number < len(templates)
            template = templates[number] if fits else draw.choice(templates)
            yield _case(name, kind, template, draw)


def _templates(name: str, kind: Mapping[str, Any], *, held: bool) -> Sequence[str]:
    if held:
        groups, own = read("held"), read("held")["lines"].get(name, [])
    else:
        groups, own = read("surroundings"), kind.get("lines", [])
    found = [*own]
    for group in kind.get("around", []):
        found += groups[group]
    return found


def _case(name: str, kind: Mapping[str, Any], template: str, draw: random.Random) -> Case:
    env = kind.get("env", "")
    first, *rest = env.lower().split("_")
    known = {
        "env": env,
        "env_lower": env.lower(),
        "env_dash": env.lower().replace("_", "-"),
        "env_camel": first + "".join(map(str.capitalize, rest)),
        "label": kind.get("label", ""),
        "label_zh": kind.get("label_zh", ""),
    }
    hidden = {}
    for field in ("secret", "id", "other"):
        if f"«{field}»" in template:
            hidden[field] = filled(draw.choice(kind[field]), draw, {})
    return Case(name, filled(template, draw, known | hidden), tuple(hidden.values()))


def filled(template: str, draw: random.Random, known: Mapping[str, str]) -> str:
    """The template with each `«field»` replaced by what is known of it, or else drawn."""

    def field(match: re.Match[str]) -> str:
        name, length = match[1], int(match[2] or 0)
        if name in known:
            return known[name]
        if name in _ALPHABETS:
            return _run(draw, _ALPHABETS[name], length)
        return _VALUES[name](draw, length)

    return _FIELD.sub(field, template)


def _run(draw: random.Random, alphabet: str, length: int) -> str:
    """A run as a generator of keys makes it: of mixed characters, if it is long enough for it."""
    while True:
        run = "".join(draw.choices(alphabet, k=length))
        if length < 8 or alphabet.isdigit() or len(set(run)) > 5:
            return run


def _digits_without_zero(draw: random.Random, length: int) -> str:
    return "".join(draw.choices("123456789", k=length))


def _uuid(draw: random.Random, _: int) -> str:
    digits = _run(draw, _ALPHABETS["hex"], 32)
    return "-".join(
        (digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:])
    )


def _word(draw: random.Random, _: int) -> str:
    return str(draw.choice(read("fillers")["word"]))


def _seed_words(draw: random.Random, length: int) -> str:
    return " ".join(draw.choices(read("fillers")["seed_words"], k=length))


def _password(draw: random.Random, _: int) -> str:
    return filled(draw.choice(read("fillers")["password"]), draw, {})


def _old_password(draw: random.Random, _: int) -> str:
    return f"{_word(draw, 0)}{draw.randint(10, 99)}"


def _plain_password(draw: random.Random, _: int) -> str:
    """One without the signs that a shell or a connection string would need in quotes."""
    return filled(draw.choice(read("fillers")["plain_password"]), draw, {})


def _identity(draw: random.Random, _: int) -> str:
    area = draw.choice(("110105", "310104", "440305", "330106", "510107"))
    born = f"{draw.randint(1955, 2012)}{draw.randint(1, 12):02}{draw.randint(1, 28):02}"
    first = f"{area}{born}{draw.randint(0, 999):03}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(first, weights, strict=True))
    return first + "10X98765432"[total % 11]


def _card(draw: random.Random, _: int) -> str:
    prefix, length = draw.choice(
        (("622202", 19), ("621483", 16), ("4", 16), ("53", 16), ("37", 15))
    )
    body = prefix + _run(draw, string.digits, length - len(prefix) - 1)
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (1 if place % 2 else 2)
        total += value - 9 if value > 9 else value
    number = body + str(-total % 10)
    if draw.random() < 0.4 and length != 15:
        return " ".join(re.findall(r"\d{1,4}", number))
    return number


def _social_security(draw: random.Random, _: int) -> str:
    return f"{draw.randint(100, 665)}-{draw.randint(10, 99)}-{draw.randint(1000, 9999)}"


def _iban(draw: random.Random, _: int) -> str:
    country, length = draw.choice((("DE", 18), ("FR", 23), ("NL", 0), ("GB", 0)))
    letters = _run(draw, string.ascii_uppercase, 4)
    account = _run(draw, string.digits, length) if length else letters + _run(draw, "123456789", 10)
    moved = "".join(str(int(one, 36)) for one in f"{account}{country}00")
    return f"{country}{98 - int(moved) % 97:02}{account}"


def _base64_image(draw: random.Random, length: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + draw.randbytes(length)).decode()


def _choice(name: str) -> Callable[[random.Random, int], str]:
    return lambda draw, _: draw.choice(read("fillers")[name])


_VALUES: dict[str, Callable[[random.Random, int], str]] = {
    "digits19": _digits_without_zero,
    "uuid": _uuid,
    "word": _word,
    "seedwords": _seed_words,
    "password": _password,
    "passwordplain": _plain_password,
    "old": _old_password,
    "zh_identity": _identity,
    "card": _card,
    "ssn": _social_security,
    "iban": _iban,
    "image": _base64_image,
    **{name: _choice(name) for name in ("user", "host", "name_zh", "identifier", "path", "thing")},
}


def ordinary(seed: int, count: int, *, held: bool) -> list[str]:
    """Lines of dev and office chat without a secret."""
    name = "ordinary-held.txt" if held else "ordinary.txt"
    lines = (CORPUS / name).read_text("utf-8").splitlines()
    templates = [line.replace("\\n", "\n") for line in lines if line and not line.startswith("# ")]
    draw = random.Random(f"{seed} {name}")
    found = [filled(template, draw, {}) for template in templates]
    found += [filled(draw.choice(templates), draw, {}) for _ in range(count - len(found))]
    return found[:count]


def leaks(case: Case, masked: str) -> bool:
    """Return whether four characters of a secret that stand together remain in `masked`."""
    around, masked = case.text, _MARK.sub("\0", masked)
    for secret in case.secrets:
        around = around.replace(secret, "\0")
    for secret in case.secrets:
        size = min(_PIECE, len(secret))
        for start in range(len(secret) - size + 1):
            piece = secret[start : start + size]
            if piece in masked and piece not in around:
                return True
    return False
