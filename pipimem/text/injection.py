"""Whether a text reads like an order to a bot that nobody may put into its memory.

The patterns are data: `data/injection/attacks.txt` for what nobody may order, in any text, and
`data/injection/orders.txt` for what orders at all, for text that nobody in a talk said;
`data/injection/accepted.txt` for the words by which a person makes such a text their own,
`data/injection/conduct.txt` for wishes on how a bot treats people, `risky.txt` for what makes one
worse.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from pipimem import resources
from pipimem.text.han import has_han
from pipimem.text.patterns import Pattern
from pipimem.text.plain_readings import plain, readings

_LATIN = Pattern(r"[A-Za-z]{2}|[|{#<]")
_ATTACKS, _ORDERS = "injection/attacks", "injection/orders"
_ACCEPTED = "injection/accepted"
_CONDUCT, _RISKY = "injection/conduct", "injection/risky"


def injection_kind(text: str) -> str:
    """The kind of attack that a text reads like (`override`, `conceal` …), empty where none."""
    return _kind(text)


def is_order(text: str) -> bool:
    """Whether a text tells somebody what to do, in general or as an attack."""
    return bool(_first(_ORDERS, plain(text)) or injection_kind(text))


def directs_conduct(text: str) -> bool:
    """Whether a text says how a bot is to treat people, or what it tells, hands out or counts."""
    return bool(_first(_CONDUCT, plain(text)))


def is_risky(text: str) -> bool:
    """Whether a link, money or a secret stands in a text."""
    return bool(_first(_RISKY, plain(text)))


def asks_to_keep(own: str) -> bool:
    """Whether somebody's own words ask to keep what stands beside them."""
    return _first(_ACCEPTED, plain(own)) == "keep"


def accepts(own: str) -> bool:
    """Whether somebody's own words agree to what was said just before, or ask to keep it."""
    return _first(_ACCEPTED, plain(own)) in ("keep", "agreed", "taken proposal")


def agrees(own: str) -> bool:
    """Whether they agree to a rule that somebody else just set ("agreed", "noted", 收到).

    What they will do themselves, or an objection behind it, is no agreement.
    """
    text = plain(own)
    contrasts = (pattern for kind, _, pattern in _patterns(_ACCEPTED) if kind == "contrast")
    is_contrary = any(pattern().search(text) for pattern in contrasts)
    return not is_contrary and _first(_ACCEPTED, text) in ("keep", "agreed", "taken up")


@lru_cache(maxsize=1024)  # a sentence is judged as it was said, and as an entry
def _kind(text: str) -> str:
    kinds = (_first(_ATTACKS, reading) for reading in readings(text))
    return next(filter(None, kinds), "")


def _first(name: str, text: str) -> str:
    """The heading of the first pattern of a file that the text shows."""
    chinese, latin = has_han(text), _LATIN().search(text) is not None
    for kind, is_chinese, pattern in _patterns(name):
        if (chinese if is_chinese else latin) and pattern().search(text):
            return kind
    return ""


@cache
def _patterns(name: str) -> tuple[tuple[str, bool, Pattern], ...]:
    """The kind of each pattern, whether it finds Chinese only, and the pattern."""
    found: list[tuple[str, bool, Pattern]] = []
    for kind, lines in resources.sections(name).items():
        for line in lines:
            source, _, examples = line.partition("  =>  ")
            found.append((kind, has_han(examples), Pattern(source, re.IGNORECASE)))
    return tuple(found)
