"""Lines of arrivals and of the usage ledger that hold forgotten text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import StoreError
from pipimem.store import identity
from pipimem.store.arrivals import arrival_files, arrival_line, arrival_of
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files
from pipimem.store.disk.syscalls import opened, store_errors, sync_data
from pipimem.store.forget.targets import ForgetTargets, blanked_message
from pipimem.text import json_lines

# A person cannot rewrite the usage ledger more often between two looks.
_TRIES = 5


class Held(Struct, frozen=True):
    """Bytes that hold a target: where they begin in a file, and as many to stand there instead."""

    at: int
    written: bytes
    clean: bytes


def held_arrivals(working_copy: WorkingCopy, targets: ForgetTargets) -> dict[Path, int]:
    """How many lines of each file of the workspace hold a target, of this channel or damaged."""
    channel, files = _channel(working_copy), arrival_files(working_copy.root).values()
    counts = {path: len(list(_held_in(path, channel, targets))) for path in files}
    return {path: count for path, count in counts.items() if count}


def clean_arrivals(working_copy: WorkingCopy, targets: ForgetTargets) -> None:
    """Overwrites the lines with as many bytes: emptied messages, which keep their ids, and blanks.

    Looks again until none is left, for a bot may have written the file anew. Raises `StoreError`
    where it does so each time.
    """
    channel = _channel(working_copy)
    for path in arrival_files(working_copy.root).values():
        for _ in range(_TRIES):
            held = list(_held_in(path, channel, targets))
            if not held:
                break
            _overwrite(path, held)
        else:
            raise StoreError(f"{path}: it kept changing; try again")


def _channel(working_copy: WorkingCopy) -> str:
    """The platform's id of a channel, which its arrivals name."""
    known = identity.load(working_copy.folder)
    return known.id if known else working_copy.folder.name


def _held_in(path: Path, channel: str, targets: ForgetTargets) -> Iterator[Held]:
    at = 0
    for data in appended_files.lines(path):
        clean = _clean(data, channel, targets)
        if clean != data:
            yield Held(at, data, clean)
        at += len(data)


def _clean(data: bytes, channel: str, targets: ForgetTargets) -> bytes:
    """A line without the targets, of the same length."""
    arrival = arrival_of(data)
    if arrival is None:  # nobody knows whose it is, and nobody takes it in
        return _blanks(len(data)) if targets.are_in(data.decode("utf-8", "replace")) else data
    if arrival.channel != channel:
        return data
    message = blanked_message(arrival.message, targets)
    title = "" if targets.are_in(arrival.title) else arrival.title
    if (message, title) == (arrival.message, arrival.title):
        return data
    clean = arrival_line(replace(arrival, message=message, title=title))
    return clean + _blanks(len(data) - len(clean))


def _blanks(length: int) -> bytes:
    """A line of blanks, nothing for no byte."""
    return b" " * (length - 1) + b"\n" if length else b""


def _overwrite(path: Path, held: Iterable[Held]) -> None:
    """Puts clean bytes in their places, up to the first that do not stand there any more."""
    with store_errors("write", path):
        try:
            descriptor = opened(path, os.O_RDWR)
        except FileNotFoundError:
            return
        try:
            for one in held:
                os.lseek(descriptor, one.at, os.SEEK_SET)
                if os.read(descriptor, len(one.written)) != one.written:
                    return
                os.lseek(descriptor, one.at, os.SEEK_SET)
                os.write(descriptor, one.clean)
            sync_data(descriptor)
        finally:
            os.close(descriptor)


def quotes(folder: Path, targets: ForgetTargets) -> dict[Path, list[Held]]:
    """The reasons of calls that hold a target, by file: the one field that may quote somebody."""
    found = {path: list(_quotes_in(path, targets)) for path in sorted(folder.glob("usage-*.jsonl"))}
    return {path: places for path, places in found.items() if places}


def blank_quotes(folder: Path, targets: ForgetTargets) -> None:
    """Overwrites the quotes with as many blanks: whoever appends meanwhile is not disturbed.

    Looks again until none is left: a file that somebody rewrote or replaced has them elsewhere.
    Raises `StoreError` where it is rewritten each time.
    """
    for _ in range(_TRIES):
        found = quotes(folder, targets)
        if not found:
            return
        for path, places in found.items():
            _overwrite(path, places)
    raise StoreError(f"{folder}: the usage ledger kept changing; try again")


def _quotes_in(path: Path, targets: ForgetTargets) -> Iterator[Held]:
    offset = 0
    for data in appended_files.lines(path):
        reason = (json_lines.value(data) or {}).get("reason")
        if isinstance(reason, str) and targets.are_in(reason):
            quoted = json.dumps(reason, ensure_ascii=False).encode("utf-8", "backslashreplace")
            written = quoted[1:-1]
            at = data.find(written, data.find(b'"reason"'))
            if at >= 0:
                yield Held(offset + at, written, b" " * len(written))
        offset += len(data)
