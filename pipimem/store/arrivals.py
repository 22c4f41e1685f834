"""Arrivals: messages that a bot acknowledged, one checked line each, until transcripts have them.

`.pipimem/BOT-arrivals.jsonl` of a workspace. A torn or damaged line counts for nothing, blanks are
what a forgetting left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from msgspec import Struct

from pipimem.notes.message import Message
from pipimem.store.disk import appended_files
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed
from pipimem.text import json_lines

_SUFFIX = "-arrivals.jsonl"

# A channel, the platform's id of a message, and whether it was taken back.
ArrivalKey = tuple[str, str, bool]


class Arrival(Struct, frozen=True):
    """A message on its way to the transcript of a channel, under the id that the platform gave it.

    `is_taken_back` where its sender took it back; then it has no content. `kind` and `title` are
    for a channel that is new.
    """

    channel: str
    message: Message
    kind: Literal["dm", "group"] = "dm"
    title: str = ""
    is_taken_back: bool = False

    @property
    def key(self) -> ArrivalKey:
        """What tells it from others."""
        return self.channel, self.message.id, self.is_taken_back


def arrivals_path(root: Path, bot: str) -> Path:
    """The file of a bot in a workspace."""
    return root / ".pipimem" / f"{bot}{_SUFFIX}"


def arrival_files(root: Path) -> dict[str, Path]:
    """The files that a workspace has now, by bot."""
    found = sorted((root / ".pipimem").glob(f"*{_SUFFIX}"))
    return {path.name.removesuffix(_SUFFIX): path for path in found}


def arrival_line(one: Arrival) -> bytes:
    """An arrival as a line."""
    fields: dict[str, object] = {"channel": one.channel, "kind": one.kind, "title": one.title}
    if one.is_taken_back:
        fields["taken_back"] = True
    # The transcript's own line, which holds a number; here it means nothing.
    fields["message"] = json_lines.value(line(replace(one.message, number=1)))
    return json_lines.checked_line(fields)


def arrival_of(data: bytes) -> Arrival | None:
    """The arrival on a line; `None` where it is damaged or blank."""
    match json_lines.checked_value(data):
        case {
            "channel": str(channel),
            "kind": "dm" | "group" as kind,
            "title": str(title),
            "message": dict(fields),
            **rest,
        }:
            message = parsed(json_lines.line(fields))
            if message is not None:
                said = replace(message, number=0)
                return Arrival(channel, said, kind, title, "taken_back" in rest)
    return None


def waiting_messages(root: Path, channel: str, transcript: Transcript | None) -> list[Message]:
    """What arrived in a channel and its transcript does not have, once each. Raises `StoreError`.

    A channel without a transcript has nothing. What was taken back meanwhile is left out.
    """
    found: dict[str, Message] = {}
    for arrival in _arrivals_of(root, channel):
        if arrival.is_taken_back:
            found.pop(arrival.message.id, None)
        else:
            found.setdefault(arrival.message.id, arrival.message)
    if found and transcript is not None:
        stored = {message.id for message in transcript.messages()}
        found = {name: message for name, message in found.items() if name not in stored}
    return list(found.values())


def first_arrival(root: Path, channel: str) -> Arrival | None:
    """The first that a bot left in a channel; `None` without any. Raises `StoreError`."""
    return next(_arrivals_of(root, channel), None)


def _arrivals_of(root: Path, channel: str) -> Iterator[Arrival]:
    for path in arrival_files(root).values():
        arrivals, _ = read_arrivals(path)
        yield from (one for one in arrivals if one.channel == channel)


def read_arrivals(path: Path) -> tuple[list[Arrival], int]:
    """The arrivals in a file, in their order, and how many lines of it are damaged."""
    lines = [line for line in appended_files.lines(path) if line.strip()]
    found = [one for one in map(arrival_of, lines) if one is not None]
    return found, len(lines) - len(found)
