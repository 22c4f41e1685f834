"""Values of JSON and CSV as other programs write them: texts, times, roles."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import cast

from pipimem.notes.message import Role

Json = Mapping[str, object]

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
}
# Seconds since 1970 have ten digits until 2286; more of them are thousandths.
_MILLISECONDS_FROM = 100_000_000_000
# Of a conversation's title so much names its session.
_TITLE = 60


def session_label(title: str, key: str) -> str:
    """The label of a conversation's session: its title, and the beginning of its id."""
    short = title[:_TITLE]
    return f"{short} ({key[:8]})".strip() if key else short


def text_of(row: Json, *names: str) -> str:
    """The first of some fields that is a text, or a number as one; empty for none."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def time_of(value: object) -> datetime | None:
    """A time with offset out of ISO 8601 or of seconds since 1970; `None` for anything else.

    A time without an offset is local.
    """
    try:
        if isinstance(value, str) and value.strip():
            number = _number(value)
            if number is None:
                found = datetime.fromisoformat(value.strip())
                return found if found.tzinfo else found.astimezone()
            value = number
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        seconds = value / 1000 if value >= _MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def day_of_name(name: str) -> date | None:
    """The day that a file's name begins with, as in 2026-03-02.md; `None` for none."""
    try:
        return date.fromisoformat(name[:10])
    except ValueError:
        return None


def role_of(word: str) -> Role | None:
    """The role that a word stands for, `None` for an unknown one."""
    return _ROLES.get(word.strip().casefold())


def as_object(value: object) -> Json:
    """The value as an object; an empty one where it is none."""
    return cast("Json", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """The value as a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


def texts_of_blocks(row: Json) -> str:
    """The texts among the blocks of a message's content, as paragraphs; empty without any."""
    texts = []
    for one in as_list(row.get("content")):
        block = as_object(one)
        if block.get("type") == "text":
            texts.append(text_of(block, "text"))
    return "\n\n".join(filter(None, texts))


def with_name(name: str, text: str) -> str:
    """The text behind a name, unless it has the name already."""
    return text if name.casefold() in text.casefold() else f"{name}: {text}"
