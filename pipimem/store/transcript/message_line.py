"""A message as a line of the transcript, and back."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from datetime import datetime
from typing import get_args

from pipimem.notes.message import YEARS, Message, Role
from pipimem.text import json_lines
from pipimem.text.dates.bounds import aware

_ROLES = frozenset(get_args(Role))


def line(message: Message) -> bytes:
    """A message as its line; `id` and `n` come first, the scans rely on it."""
    value: dict[str, object] = {
        "id": message.id,
        "n": message.number,
        "ts": message.time.isoformat(timespec="seconds") if message.time else "",
        "role": message.role,
        "name": message.speaker,
        "content": message.content,
    }
    if message.session:
        value["session"] = message.session
    if message.emptied:
        value["emptied"] = message.emptied
    return json_lines.line(value)


def parsed(data: bytes) -> Message | None:
    """The message on a line, `None` where it is none."""
    match json_lines.value(data):
        case {
            "id": str(name),
            "n": int(number),
            "role": str(role),
            "content": str(content),
            **rest,
        } if number > 0 and role in _ROLES:
            return Message(
                role=role,  # type: ignore[arg-type]  # one of `_ROLES`, as just checked
                content=content,
                id=name,
                time=_time(rest.get("ts")),
                speaker=str(rest.get("name") or ""),
                session=str(rest.get("session") or ""),
                number=number,
                emptied=str(rest.get("emptied") or ""),
            )
    return None


def stored(message: Message, number: int, ids: Container[str]) -> Message:
    """The message as reading it back will give it."""
    name = message.id or f"m{number}"
    while not message.id and name in ids:
        name += "+"  # a platform's own id looks like ours
    time = message.time and _usable(message.time)
    return replace(message, id=name, number=number, time=time and time.replace(microsecond=0))


def _time(value: object) -> datetime | None:
    try:
        return _usable(datetime.fromisoformat(str(value))) if value else None
    except ValueError:
        return None


def _usable(time: datetime) -> datetime | None:
    """The time with its offset, else as local time; `None` for years that no sum survives."""
    if time.year not in YEARS:
        return None
    return aware(time)
