"""Removes forgotten text from past texts, archive, transcript, arrivals and usage ledger."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author
from pipimem.store import identity
from pipimem.store.arrivals import arrival_files, arrival_line, arrival_of
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.commit.manual_edits import View, removed_again
from pipimem.store.commit.publish import merged_displaced, read_when_closed, temporaries_beside
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files, json_lines
from pipimem.store.disk.editor_saves import is_recent
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.files import (
    HALF,
    prepare,
    put_whole,
    read,
    remove,
    resolved,
    stamp,
    tag_of,
    temporary_for,
)
from pipimem.store.disk.syscalls import opened, store_errors, sync_data, sync_folder
from pipimem.store.forget.targets import ForgetTargets, blanked_message, without
from pipimem.store.journal.past_texts import past_texts
from pipimem.store.journal.records import JournalRecord
from pipimem.store.journal.text_versions import NAME_LENGTH
from pipimem.store.merge.forgotten_lines import (
    is_placeholder,
    marks_in,
    placeholder,
    without_forgotten_lines,
)
from pipimem.store.merge.merge_base import PastText
from pipimem.store.merge.three_way import only_added
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed
from pipimem.text.markdown.lines import split_lines

# A person cannot save more often between a reading and the exchange right after it, a script might.
_ARCHIVE_TRIES = 10


def clean_archive(path: Path, root: Path, left: Callable[[str], str]) -> bool:
    """Brings the archive to `left(text)`; whether it stands so, with nothing beside it.

    As in a commit the new text is prepared, the two trade places, and what was displaced is read
    once nobody writes to it. What a person saved there meanwhile is merged, and goes through `left`
    too. False where somebody is saving: whoever tries again goes on. The caller holds the lock.
    """
    target = resolved(path, root)
    for _ in range(_ARCHIVE_TRIES):
        if is_archive_being_saved(path, root):
            return False
        leftovers = temporaries_beside(target)
        if leftovers:
            if not all(_takes_in(leftover, path, root, left) for leftover in leftovers):
                return False
            continue  # what was merged has displaced another text
        reading = read(path, root)
        if reading is None:
            return True
        wanted = left(reading.text)
        if wanted == reading.text:
            return True
        _exchange(target, wanted, wanted)
    return False


def clean_archive_again(working_copy: WorkingCopy, now: datetime) -> None:
    """Removes forgotten lines that an older buffer of an editor brought back into the archive.

    That is journalled. Looks only where the archive changed since the last look.
    """
    path = working_copy.path(File.ARCHIVE)
    state = working_copy.state
    if not state.ledger.forgotten or stamp(path) == working_copy.archive_seen:
        return
    older = list(past_texts(state, File.ARCHIVE))
    tombstones = {f"line:{mark}" for each in older for mark in marks_in(each.marked)}
    past = [*(PastText(each.lines) for each in older), *older]
    counts = [0]

    def without_forgotten(text: str) -> str:
        save = without_forgotten_lines(text, "", past, working_copy.key, tombstones)
        counts.append(save.removed)
        return save.text

    with suppress(UnreadableNote):
        if older and not clean_archive(path, working_copy.root, without_forgotten):
            return
    if any(counts):
        time, why = now.isoformat(timespec="seconds"), removed_again(File.ARCHIVE, max(counts))
        record = JournalRecord(state.ledger.sequence + 1, time, "edit", Author.EDITOR, why=why)
        state.append([record], {})
    working_copy.archive_seen = stamp(path)


def is_archive_being_saved(path: Path, root: Path) -> bool:
    """Whether somebody is, or seems to be, halfway through saving the archive."""
    reading = read(path, root)
    if reading is None:
        return False
    # All that we add to the archive ends with a line.
    is_cut = not reading.text.endswith(("\n", "\r"))
    return reading.is_open or (is_cut and is_recent(reading.stamp[0] / 10**9))


def _exchange(target: Path, text: str, expected: str) -> Path:
    """Puts a text in the archive's place; answers with the path where it was prepared.

    The name has the etag of `expected`, the text without the forgotten words that it displaces if
    nobody saves in between: by it the next look tells whether somebody did.
    """
    ready = temporary_for(target, etag(expected)[:NAME_LENGTH])
    prepare(ready, target, text)
    displace(ready, target)
    sync_folder(target.parent)
    return ready


def _takes_in(leftover: Path, path: Path, root: Path, left: Callable[[str], str]) -> bool:
    """Merges what an exchange displaced, here or before a crash, then removes it.

    Returns False, and leaves it where it is, while somebody still writes to it.
    """
    target = resolved(path, root)
    if tag_of(leftover, target) == HALF:
        remove(leftover)  # written by us, and never exchanged
        return True
    try:
        displaced, standing = read_when_closed(leftover, root), read(path, root)
    except UnreadableNote:
        displace(leftover, target)  # back in its place: whoever saved it is told
        raise
    if displaced is None:
        return True
    if displaced.is_open:
        return False
    text = standing.text if standing else ""
    merged = _merged(left(text), left(displaced.text), tag_of(leftover, target)[:NAME_LENGTH])
    # The text that is merged may be prepared under the same name, and displaces another one to it.
    if merged == text or _exchange(target, merged, left(text)) != leftover:
        remove(leftover)
    return True


def _merged(standing: str, displaced: str, tag: str) -> str:
    """The archive with what a displaced text has beside it; neither has the forgotten words.

    `tag` begins the etag of the text that was expected to be displaced. Where the archive is that
    text still, the displaced one differs from it by a person's hand alone; where it is another,
    nothing counts as deleted.
    """
    if etag(displaced).startswith(tag):
        return standing
    if etag(standing).startswith(tag):
        return merged_displaced(standing, standing, displaced)
    return only_added(standing, standing, displaced)


@dataclass(frozen=True, slots=True)
class _Held:
    """A line that holds a target: the byte where it begins, and what is to stand there."""

    at: int
    line: bytes
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
            _overwrite_lines(path, held)
        else:
            raise StoreError(f"{path}: it kept changing; try again")


def _channel(working_copy: WorkingCopy) -> str:
    """The platform's id of a channel, which its arrivals name."""
    known = identity.load(working_copy.folder)
    return known.id if known else working_copy.folder.name


def _held_in(path: Path, channel: str, targets: ForgetTargets) -> Iterator[_Held]:
    at = 0
    for data in appended_files.lines(path):
        clean = _clean(data, channel, targets)
        if clean != data:
            yield _Held(at, data, clean)
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


def _overwrite_lines(path: Path, held: list[_Held]) -> None:
    """Puts clean lines in their places, up to the first that does not stand there any more."""
    with store_errors("write", path):
        try:
            descriptor = opened(path, os.O_RDWR)
        except FileNotFoundError:
            return
        try:
            for one in held:
                os.lseek(descriptor, one.at, os.SEEK_SET)
                if os.read(descriptor, len(one.line)) != one.line:
                    return
                os.lseek(descriptor, one.at, os.SEEK_SET)
                os.write(descriptor, one.clean)
            sync_data(descriptor)
        finally:
            os.close(descriptor)


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


def empty_messages(
    folder: Path, transcript: Transcript, messages: Iterable[str], key: bytes
) -> None:
    """Empties messages of the channel in `folder`; they keep their places and ids.

    Each file of the transcript is rewritten whole or not at all. Undo goes on as before. Raises
    `StoreError`.
    """
    targets = ForgetTargets.of((), messages)
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
