"""Lines of the transcript that hold forgotten text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from pipimem.store.caches import search_index
from pipimem.store.disk import appended_files
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import opened, store_errors, sync_data
from pipimem.store.forget.targets import ForgetTargets, blanked_message
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed

# A bot cannot write arrivals anew more often between two looks.
_TRIES = 5


class Held(Struct, frozen=True):
    """Bytes that hold a target: where they begin in a file, and as many to stand there instead."""

    at: int
    written: bytes
    clean: bytes


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


def blanked(data: bytes, targets: ForgetTargets, key: bytes = b"") -> bytes:
    """A line of the transcript without the targets; empty where it is no message and has one."""
    message = parsed(data)
    if message is None:
        return b"" if targets.are_in(data.decode("utf-8", "replace")) else data
    blank = blanked_message(message, targets, key)
    return data if blank == message else line(blank)


def clean_talk(log: Transcript, targets: ForgetTargets, key: bytes) -> None:
    """Rewrites each file of a transcript without the targets, whole or not at all.

    The caller holds the channel's lock, and this the talk's: who appends waits.
    """
    with log.exclusive():
        # Whoever searches holds the talk's lock alone, and may have written it since others went.
        search_index.drop(log.folder / ".pipimem")
        for part in log.files():
            lines = list(appended_files.lines(part))
            kept = [blanked(data, targets, key) for data in lines]
            if kept != lines:
                put_whole(part, b"".join(kept))
