"""A password that follows the name of an account: "login for grafana: admin / …"."""

from __future__ import annotations

import re

from pipimem.text.patterns import Pattern
from pipimem.text.secrets.phrases import phrases
from pipimem.text.secrets.values import (
    has_digit,
    has_letter,
    is_no_secret,
    looks_made_up,
    looks_typed_blindly,
)

_PAIR = Pattern(
    r"[^\n/]{0,30}?(?<![\w./@-])(?P<user>[\w.@-]{2,64}?)"
    rf"(?P<sign>{phrases('between an account and its password: english')}"
    r"|[ ]{0,2}[/:|：][ ]{0,2}|[ ]?[，,][ ]?)"
    r"(?P<value>[^\s,，;；。/|\"']{4,64})",
    re.ASCII,
)
_BEFORE = Pattern(
    r"(?<![\w./-])[\w.@-]{2,64}[ ]?/[ ]?(?P<value>[^\s,，;；。/|\"']{4,64})[^\n]{0,4}$", re.ASCII
)


# The word for a password between an account and it.
_NAMED = Pattern(r"(?:pass|pwd?)$")
# "login for grafana: admin / …": the first pair is no account.
_TRIES = 3


def account_password(text: str, cue: re.Match[str]) -> tuple[int, int] | None:
    """Where the password stands behind the word for an account and its name, or before the word."""
    reached = cue.end()
    for _ in range(_TRIES):
        found = _PAIR().match(text, reached)
        if found is None:
            break
        value = found["value"].rstrip(".:?)）")
        if _is_password(value, found["sign"].strip()):
            return found.start("value"), found.start("value") + len(value)
        reached = found.end("sign")
    start = max(0, cue.start() - 100)
    before = _BEFORE().search(text[start : cue.start()])
    if before is not None and looks_made_up(before["value"]):
        return start + before.start("value"), start + before.end("value")
    return None


def _is_password(value: str, sign: str) -> bool:
    if is_no_secret(value):
        return False
    if _NAMED().search(sign):  # "user guest, pass Blue-Lake-77": what looks like a name is none
        return len(value) >= 6 and has_digit(value) and has_letter(value)
    if sign in ("/", "|"):
        return (has_digit(value) or looks_typed_blindly(value)) and not value.endswith(("px", "%"))
    return looks_made_up(value) or (sign == "with" and looks_typed_blindly(value))
