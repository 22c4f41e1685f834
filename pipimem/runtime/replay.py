"""Replay: a recorded conversation fed through the real runtime as if it happened."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import cast, get_args

from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import TranscriptError
from pipimem.notes.message import YEARS, Message, Role
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.maintenance.jobs import Ran
from pipimem.runtime.turns import Receipt

_STANDARD_INPUT = Path("-")


@dataclass(slots=True)
class EventTime:
    """The time of the newest message seen so far; an earlier message does not turn it back."""

    latest: datetime | None = None

    def clock(self) -> Clock:
        """A clock whose `now` is event time; `wall` and `monotonic` are real."""
        real = Clock()
        return Clock(now=lambda: self.latest or real.now())

    def seen(self, when: datetime | None) -> None:
        """Move on to a message's time."""
        if when is not None and (self.latest is None or when > self.latest):
            self.latest = when


@dataclass(slots=True)
class Replayed:
    """Counts of a replay: messages read and stored, compactions, jobs that ran."""

    messages: int = 0
    new: int = 0
    turns: int = 0
    compactions: int = 0
    deferred: int = 0
    reasons: list[str] = field(default_factory=list)
    jobs: list[Ran] = field(default_factory=list)


def recorded(path: Path) -> list[Message]:
    """The messages of a JSON Lines file (`-`: standard input), all checked before any is used.

    A line is an object with `role` and `content`, and `id`, `ts` (ISO 8601), `name` and `session`
    where known; a message without an id gets one from its place in the file and from what the line
    says, so that a second replay knows it, and another file of the same name is another talk.
    Raises `TranscriptError` with the line's number.
    """
    try:
        data = sys.stdin.buffer.read() if path == _STANDARD_INPUT else path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TranscriptError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from error
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}") from error
    lines = text.split("\n")
    messages = [
        _message(line, path, number) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not messages:
        raise TranscriptError(f"{path} holds no message")
    return messages


async def replay(
    channel: Channel,
    messages: Sequence[Message],
    time: EventTime,
    *,
    compact_every: int = 0,
    maintain: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Feed `messages` turn by turn through the runtime.

    After every `compact_every` messages (0: never) there is a compaction; with `maintain` the
    idle jobs run at the end.

    Messages the channel has are skipped, compactions it went through are not repeated: a replay
    that was killed goes on where it stopped, and a second one adds nothing.
    """
    report = Replayed(messages=len(messages))
    numbers = await to_thread.run_sync(
        lambda: {m.id: m.number for m in upkeep_of(channel).store.transcript.messages()}
    )
    done = compacted = 0
    for turn in _turns(messages):
        for message in turn:
            time.seen(message.time)
        await _take_turn(channel, turn, numbers, report)
        done += len(turn)
        if compact_every and done - compacted >= compact_every:
            compacted = done
            await _compact(channel, numbers[turn[-1].id], report)
        progress(done)
    await _finish(channel, max(numbers.values(), default=0), report, maintain=maintain)
    # A killed replay may have left its last commit in the state alone: the files get it now.
    await to_thread.run_sync(upkeep_of(channel).store.record_edits, time.clock().wall())
    return report


async def _take_turn(
    channel: Channel, turn: Sequence[Message], numbers: dict[str, int], report: Replayed
) -> None:
    if all(message.id in numbers for message in turn):
        return
    report.turns += 1
    asked = next((message for message in turn if message.role == "user"), None)
    context = await channel.before_turn(asked.content, speaker=asked.speaker) if asked else None
    written = await channel.talk.append(turn)
    await channel.after_turn(context, ())
    report.new += len(written)
    numbers |= {message.id: message.number for message in written}
    # A message that was nothing but what memory itself had injected is not written; it stands where
    # the last one does.
    last = await to_thread.run_sync(lambda: upkeep_of(channel).store.transcript.last_number)
    for message in turn:
        numbers.setdefault(message.id, last)


async def _compact(channel: Channel, upto: int, report: Replayed) -> None:
    ledger = (await upkeep_of(channel).notes()).ledger
    if ledger.epoch_start >= upto:
        return
    report.compactions += 1
    receipt = await _gate(channel, report)
    if receipt.may_compact:
        await channel.compacted(receipt)


async def _finish(channel: Channel, last: int, report: Replayed, *, maintain: bool) -> None:
    """Consolidate what is left, as at a shutdown, then run the idle jobs if asked for."""
    if (await upkeep_of(channel).notes()).ledger.boundary < last:
        await _gate(channel, report)
    if maintain:
        report.jobs = await upkeep_of(channel).maintain(forced=True)


async def _gate(channel: Channel, report: Replayed) -> Receipt:
    # No host waits for a replay: its gates may take as long as background jobs.
    model = upkeep_of(channel).access.settings.model
    deadline = max(model.consolidate_timeout, model.consolidate_gate_timeout)
    receipt = await channel.before_compaction(deadline=deadline)
    if receipt.state != "consolidated":
        report.deferred += 1
        report.reasons.append(receipt.reason)
    return receipt


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Each user message with what follows it up to the next one."""
    turn: list[Message] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _message(line: str, path: Path, number: int) -> Message:
    try:
        mark = blake2b(line.strip().encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
        return _read(json.loads(line), f"{path.stem}:{number}-{mark}")
    except _Unreadable as error:
        reason = str(error)
    except (
        ValueError,
        RecursionError,
    ) as error:  # a line of brackets alone is deeper than Python goes
        reason = f"not JSON ({error})"
    raise TranscriptError(f"{path}, line {number}: {reason}; nothing was taken in")


class _Unreadable(Exception):
    """What is wrong with a line."""


def _read(row: object, own_id: str) -> Message:
    if not isinstance(row, dict):
        raise _Unreadable("must be an object with role and content")
    for key in ("role", "content"):
        if not isinstance(row.get(key), str):
            raise _Unreadable(f"{key!r} must be a string")
    if row["role"] not in get_args(Role):
        raise _Unreadable(f"role {row['role']!r} must be one of {', '.join(get_args(Role))}")
    id_, name, session = (row.get(key) or "" for key in ("id", "name", "session"))
    if not all(isinstance(value, str) for value in (id_, name, session)):
        raise _Unreadable("id, name and session must be strings")
    return Message(
        cast("Role", row["role"]),
        row["content"],
        id_ or own_id,
        _time(row.get("ts")),
        name,
        session,
    )


def _time(value: object) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        when = datetime.fromisoformat(str(value))
        when = when if when.tzinfo else when.astimezone()
    except (ValueError, OverflowError) as error:
        raise _Unreadable(f"ts {value!r} is not an ISO 8601 time") from error
    if when.year not in YEARS:
        raise _Unreadable(f"ts {value!r} is outside the years {YEARS.start} to {YEARS.stop - 1}")
    return when
