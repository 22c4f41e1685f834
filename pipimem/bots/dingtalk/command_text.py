"""Which command of the bot a message calls, and what stands behind it."""

from __future__ import annotations

import re

_NAMES = ("/help", "/memory", "/review", "/forget", "/confirm", "/private", "/new", "/usage")
_COMMAND = re.compile(r"[/／]([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


def command_in(text: str) -> str:
    """The command that a text calls, empty for none; another word behind a slash is talk."""
    found = _COMMAND.fullmatch(text.strip())
    name = f"/{found[1].casefold()}" if found else ""
    return name if name in _NAMES else ""


def argument_in(text: str) -> str:
    """What stands behind a command."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[2] or "").strip() if found else ""
