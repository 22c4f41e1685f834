"""Past texts, the transcript and the usage ledger without what is forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Outcome
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files, json_lines
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import opened, store_errors, sync_data
from pipimem.store.forget.targets import ForgetTargets, blanked_message, without
from pipimem.store.journal.past_texts import past_texts
from pipimem.store.merge.forgotten_lines import is_placeholder, placeholder
from pipimem.store.merge.merge_base import PastText
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed
from pipimem.text.markdown.lines import split_lines

# A person cannot rewrite the usage ledger more often between two looks.
_TRIES = 5
# An archive is long, and nobody has an older text of it open than these.
_ARCHIVES = 3


def clean_past(
    working_copy: WorkingCopy, file: File, targets: ForgetTargets, now: datetime
) -> set[str]:
    """Keeps the past texts of a file as versions with placeholders; returns the lines removed."""
    past = past_texts(working_copy.state, file)
    kept, removed = _with_placeholders(past, targets, working_copy.key)
    working_copy.state.versions.keep_only(file, kept, now)
    return removed


def lines_removed(working_copy: WorkingCopy, file: File, targets: ForgetTargets) -> set[str]:
    """The lines that go from the past texts of a file, the newest of which stands in it."""
    return _with_placeholders(past_texts(working_copy.state, file), targets, working_copy.key)[1]


def keep_past_of_archive(
    working_copy: WorkingCopy, archive: str, targets: ForgetTargets, now: datetime
) -> None:
    """Keeps the archive as it is before it is cleaned as a version, with placeholders."""
    past = [PastText(split_lines(archive)), *past_texts(working_copy.state, File.ARCHIVE)]
    kept, _ = _with_placeholders(past, targets, working_copy.key)
    marked = [text for text in kept if is_placeholder(text)]
    working_copy.state.versions.keep_only(File.ARCHIVE, marked[:_ARCHIVES], now)


def _with_placeholders(
    past: Iterable[PastText], targets: ForgetTargets, key: bytes
) -> tuple[list[str], set[str]]:
    """The texts with a placeholder for each line removed, and those lines.

    A text of which nothing else stays is left out.
    """
    removed: set[str] = set()
    kept: list[str] = []
    for each in past:
        # Neighbours have most lines in common: what was removed from one is not looked for by its
        # blocks in the next.
        rest = [line for line in each.lines if line not in removed]
        clean = split_lines(without("".join(rest), targets, key)[0])
        removed.update(filter(str.strip, set(rest) - set(clean)))
        if any(map(str.strip, clean)):
            lines = each.marked or each.lines
            marked = [placeholder(key, line) if line in removed else line for line in lines]
            kept.append("".join(marked))
    return kept, removed


def blanked(data: bytes, targets: ForgetTargets, key: bytes = b"") -> bytes:
    """A line of the transcript without the targets; empty where it is no message and has one."""
    message = parsed(data)
    if message is None:
        return b"" if targets.are_in(data.decode("utf-8", "replace")) else data
    blank = blanked_message(message, targets, key)
    return data if blank == message else line(blank)


def clean_transcript(part: Path, targets: ForgetTargets, key: bytes) -> None:
    """Rewrites a file of the transcript without the targets, whole or not at all."""
    lines = list(appended_files.lines(part))
    kept = [blanked(data, targets, key) for data in lines]
    if kept != lines:
        put_whole(part, b"".join(kept))


Quote = tuple[int, bytes]
"""The byte in a file where a reason begins, and its bytes."""


def quotes(folder: Path, targets: ForgetTargets) -> dict[Path, list[Quote]]:
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


def _overwrite(path: Path, places: Iterable[Quote]) -> None:
    """Puts blanks in the place of quotes, up to the first that does not stand there any more."""
    with store_errors("write", path):
        descriptor = opened(path, os.O_RDWR)
        try:
            for offset, written in places:
                os.lseek(descriptor, offset, os.SEEK_SET)
                if os.read(descriptor, len(written)) != written:
                    return
                os.lseek(descriptor, offset, os.SEEK_SET)
                os.write(descriptor, b" " * len(written))
            sync_data(descriptor)
        finally:
            os.close(descriptor)


def _quotes_in(path: Path, targets: ForgetTargets) -> Iterator[Quote]:
    offset = 0
    for data in appended_files.lines(path):
        reason = (json_lines.value(data) or {}).get("reason")
        if isinstance(reason, str) and targets.are_in(reason):
            quoted = json.dumps(reason, ensure_ascii=False).encode("utf-8", "backslashreplace")
            written = quoted[1:-1]
            at = data.find(written, data.find(b'"reason"'))
            if at >= 0:
                yield offset + at, written
        offset += len(data)


def empty_message(folder: Path, transcript: Transcript, message: str, key: bytes) -> None:
    """Empties a message of the channel in `folder`; it keeps its place and id.

    Each file of the transcript is rewritten whole or not at all. Undo goes on as before. Raises
    `StoreError`.
    """
    targets = ForgetTargets.of((), [message])
    with transcript.lock.held():
        transcript.take_in_spool()
        drop_texts(folder / ".pipimem")
        for part in transcript.parts():
            clean_transcript(part, targets, key)
        transcript.drop_cached()


def without_what_was_read(_: WorkingCopy, __: View) -> Outcome:
    """No other text, but what was decided on talk of before is refused from now on.

    Recent questions go, for they may quote what was emptied.
    """
    return Outcome({}, delta=Delta(forgets_asked=True))
