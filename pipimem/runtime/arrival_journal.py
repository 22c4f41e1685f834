"""The arrival journal: messages that a bot acknowledged, until the transcript has them.

One checked line for each, in `.pipimem/`; a torn one counts for nothing. What was stored is cut off
again as soon as nothing else waits.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pipimem.notes.message import Message
from pipimem.runtime.intake import Intake
from pipimem.store.disk import json_lines
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.disk.syscalls import append_synced, make_folder, read_if_there, sync_folder
from pipimem.store.transcript import log

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

# So many lines that are over may stand before those that are not; then the file is written anew.
_MOST_OVER = 256

_log = logging.getLogger(__name__)

# A channel, the platform's id of a message, and whether it was taken back.
ArrivalKey = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Arrival:
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


@dataclass(slots=True)
class ArrivalJournal:
    """The journal of one bot. The methods are for threads, one at a time; they raise `StoreError`.

    Whoever adds to it sees to it that nothing of an arrival is off the record; what is private or
    secret in one is taken out here.
    """

    path: Path
    pipimem: Pipimem
    # The lines of those that are not over.
    _waiting: dict[ArrivalKey, bytes] = field(default_factory=dict, repr=False)
    _lines: int = 0
    # Where a write failed, half a line may stand at the end.
    _is_whole: bool = True

    @classmethod
    def of(cls, pipimem: Pipimem, bot: str) -> Self:
        """The journal of a bot in a workspace; nothing is read yet."""
        return cls(pipimem.store.root / ".pipimem" / f"{bot}-arrivals.jsonl", pipimem)

    def left(self) -> list[Arrival]:
        """What the process before this one acknowledged and may not have stored, in its order.

        A message that was taken back comes without its words.
        """
        data = read_if_there(self.path) or b""
        lines = data.splitlines(keepends=True)
        found = [arrival for line in lines for arrival in _read(line)]
        self._waiting = {one.key: _line(one) for one in found}
        self._lines, self._is_whole = len(lines), len(found) == len(lines)
        if not self._is_whole:
            _log.warning("%s: %d lines are damaged", self.path, len(lines) - len(found))
        return [self._without_words(one) for one in found]

    def _without_words(self, one: Arrival) -> Arrival:
        if (one.channel, one.message.id, True) not in self._waiting:
            return one
        return replace(one, message=replace(one.message, content=""))

    def commit(self, added: Iterable[Arrival], over: Iterable[ArrivalKey]) -> None:
        """Make what was added durable, with one wait for the disk, and drop what is over."""
        fresh = {one.key: _line(self._cleaned(one)) for one in added}
        for key in over:
            self._waiting.pop(key, None)
        self._waiting |= fresh
        if not self._waiting:
            self._empty()
        elif not self._is_whole or self._lines + len(fresh) > len(self._waiting) + _MOST_OVER:
            self._write_anew()
        elif fresh:
            self._append(fresh.values())

    def _cleaned(self, one: Arrival) -> Arrival:
        settings = self.pipimem.settings
        intake = Intake(settings.private, secrets=settings.secrets)
        found = intake.cleaned([one.message], self.pipimem.clock.now())
        # Only an injected block: nothing of it will be stored.
        message = found[0] if found else Message.user("", id=one.message.id)
        return replace(one, message=message, title=intake.named(one.title))

    def _empty(self) -> None:
        if self._lines or not self._is_whole:
            remove(self.path)
        self._lines, self._is_whole = 0, True

    def _write_anew(self) -> None:
        make_folder(self.path.parent)
        put_whole(self.path, b"".join(self._waiting.values()))
        sync_folder(self.path.parent)
        self._lines, self._is_whole = len(self._waiting), True

    def _append(self, lines: Iterable[bytes]) -> None:
        data = b"".join(lines)
        make_folder(self.path.parent)
        self._is_whole = False
        size = append_synced(self.path, data)
        if size == len(data):
            sync_folder(self.path.parent)
        self._lines, self._is_whole = self._lines + data.count(b"\n"), True


def _line(one: Arrival) -> bytes:
    fields: dict[str, object] = {"channel": one.channel, "kind": one.kind, "title": one.title}
    if one.is_taken_back:
        fields["taken_back"] = True
    # The transcript's own line, which holds a number; here it means nothing.
    fields["message"] = json_lines.value(log.line(replace(one.message, number=1)))
    return json_lines.checked_line(fields)


def _read(data: bytes) -> Iterator[Arrival]:
    """The arrival on a line; nothing where it is damaged."""
    match json_lines.checked_value(data):
        case {
            "channel": str(channel),
            "kind": "dm" | "group" as kind,
            "title": str(title),
            "message": dict(fields),
            **rest,
        }:
            message = log.parsed(json_lines.line(fields))
            if message is not None:
                said = replace(message, number=0)
                yield Arrival(channel, said, kind, title, "taken_back" in rest)
