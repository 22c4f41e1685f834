"""The takeover of a channel of format 1 or 2 by its first writer, and its reading before that.

The caller holds the lock of the channel, and `channel.json` has the new format already. A kill at
any step leaves either the old state, whole, or the new one with files that nobody needs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.kinds import NOTE_FILES, etag
from pipimem.notes.ledger import Ledger
from pipimem.notes.operations import Author
from pipimem.state.changes import ChangeRecord, FileChange
from pipimem.state.channel_state import ChannelState
from pipimem.state.texts import ETAG_LENGTH, Texts
from pipimem.store.commit.publish import temporaries_beside
from pipimem.store.disk import presence
from pipimem.store.disk.appended_files import set_aside
from pipimem.store.disk.exchange import move
from pipimem.store.disk.files import (
    free_name,
    put_whole,
    regular_text,
    remove,
    resolved,
    stamp,
    tag_of,
    temporary_for,
)
from pipimem.store.disk.syscalls import read_if_there, store_errors, sync_folder
from pipimem.store.forget.places import Plan, marks_of
from pipimem.store.forget.targets import ForgetTargets, lines_that_go
from pipimem.store.upgrade.old_state import (
    CLOSED,
    JOURNAL,
    LEDGER,
    TAG_LENGTH,
    VERSIONS,
    OldState,
    is_closed,
    old_parts,
    read_old_state,
)
from pipimem.text import json_lines
from pipimem.text.dates.bounds import local
from pipimem.text.folding import folded, folded_as_shown
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.markdown.lines import split_lines

UPGRADE = "upgrade"
"""The task of the change that a takeover is."""
_PLAN = "forget.json"
_OLD_TAG = re.compile(r"([0-9a-f]{16})(-old\d*)?")


def old_stamp(own: Path) -> tuple[int, ...]:
    """Return what changes when an older pipimem writes, or a newer one takes the channel over."""
    stamps = [stamp(own / name) or (0, 0, 0, 0) for name in (JOURNAL, LEDGER)]
    return tuple(number for each in stamps for number in each)


def read_into(state: ChannelState, folder: Path, root: Path) -> dict[str, str]:
    """Fill a state in memory with what an older format keeps, so that it is read like any other.

    Returns by etag the tag under which the newest text of a file may still wait for its place.
    """
    old = read_old_state(folder, root, state.texts)
    changes = list(old.changes)
    if not changes:
        mark = max(old_stamp(folder / ".pipimem")[:8:4])
        time = local(datetime.fromtimestamp(mark / 10**9, UTC)).isoformat(timespec="seconds")
        changes.append(_upgrade(old, state.texts, old.ledger.sequence or 1, time, ""))
    plan, _ = _read_plan(folder / ".pipimem" / _PLAN)
    state.fill(old.ledger, changes, old.texts, old.forgotten, encoded(plan) if plan else None)
    return {state.etag(text): etag(text)[:TAG_LENGTH] for text in old.heads.values()}


def take_over(
    state: ChannelState, folder: Path, root: Path, now: datetime, unknown: Ledger
) -> None:
    """Bring what an older format keeps into `state`, then remove its files.

    `unknown` is the ledger where the old files tell none.
    """
    own = folder / ".pipimem"
    if state.ledger.sequence == 0:
        _close_journal(own)
        old = read_old_state(folder, root, state.texts)
        if old.ledger.sequence == 0:
            old = replace(old, ledger=unknown)
        plan, problem = _read_plan(own / _PLAN)
        _rename_prepared(folder, root, old, state.texts)
        time = now.isoformat(timespec="seconds")
        number = old.ledger.sequence + 1
        changes = [*old.changes, _upgrade(old, state.texts, number, time, problem)]
        marks = _marks_of(plan, old, state.texts.key, now)
        state.fill(old.ledger, changes, old.texts, marks, encoded(plan) if plan else None)
    _remove_old_files(own)


def _close_journal(own: Path) -> None:
    """Set the journal aside, and keep an older pipimem from going on with it."""
    path = own / JOURNAL
    if presence.exists(path) and is_closed(path):
        return
    if presence.exists(path):
        set_aside(path)
    put_whole(path, CLOSED)
    sync_folder(own)


def _upgrade(old: OldState, texts: Texts, sequence: int, time: str, problem: str) -> ChangeRecord:
    """Return the change that a takeover is; it names the files that no other change names."""
    named = {file for change in old.changes for file in change.files}
    marks = {file: texts.etag(text) for file, text in old.heads.items() if file not in named}
    undo = f"Undo reaches back to change {old.changes[0].sequence}." if old.changes else ""
    lost = (
        "A part of the old state was damaged or gone: the notes count as they stand."
        if old.is_cut
        else ""
    )
    return ChangeRecord(
        sequence,
        time,
        UPGRADE,
        Author.RULE,
        "pipimem",
        why=f"Taken over from an older format. {undo or 'What came before cannot be undone.'}",
        notes=tuple(filter(None, (lost, problem))),
        files={file: FileChange(mark, mark, mark) for file, mark in marks.items()},
    )


class _OldPlan(Struct, frozen=True):
    """The texts, and the ids of messages and entries, that are to be forgotten.

    `lines` are entries that stood before. A plan without `inside_words` was written when texts were
    looked for inside words, too.
    """

    texts: tuple[str, ...]
    messages: tuple[str, ...]
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str
    inside_words: bool = True
    lines: tuple[str, ...] = ()

    @property
    def targets(self) -> ForgetTargets:
        """What is removed; the texts are folded again, for an older version folded less."""
        return ForgetTargets(
            tuple(map(folded, self.texts)),
            frozenset(self.messages),
            self.inside_words,
            dict.fromkeys(map(folded_as_shown, self.lines), ""),
            frozenset(self.ids),
            self.keep_transcript,
            self.actor,
        )


def _read_plan(path: Path) -> tuple[Plan | None, str]:
    """Read the plan of a forgetting that was cut off, and what is wrong with it.

    One with a wrong byte, or with an empty text, would remove what nobody named.
    """
    data = read_if_there(path)
    if data is None:
        return None, ""
    value = json_lines.checked_value(data)
    if value is None:  # pipimem 0.1 wrote no checksum
        value = json_lines.value(data)
        value = None if value is None or "sum" in value else value
    try:
        plan = Plan(decoded(_OldPlan, value).targets)
    except CodecError:
        plan = None
    if plan is None or not all(plan.targets.texts):
        return None, "A forgetting that was cut off cannot be read: forget again what is to go."
    return plan, ""


def _marks_of(plan: Plan | None, old: OldState, key: bytes, now: datetime) -> dict[str, int]:
    """Return when each line was forgotten, by its mark, with those that are to go now."""
    if plan is None:
        return dict(old.forgotten)
    lines: set[str] = set()
    for text in old.texts:
        edits = [block.edit for block in plan.targets.held_in(text)]
        lines |= lines_that_go(split_lines(text), edits)
    return {**old.forgotten, **dict.fromkeys(marks_of(lines, key), int(now.timestamp() * 10**9))}


_NO_ETAG = "0" * ETAG_LENGTH


def _rename_prepared(folder: Path, root: Path, old: OldState, texts: Texts) -> None:
    """Give what lies beside the files the names that it has now, or remove what nobody waits for.

    A prepared text that is not the newest was never acknowledged. Any other text was displaced by
    the one that its name tells, and may hold a person's words.
    """
    etags = {etag(text)[:TAG_LENGTH]: texts.etag(text) for text in old.texts}
    for file in NOTE_FILES:
        target = resolved(folder / file, root)
        newest = old.heads.get(file)
        for path in temporaries_beside(target):
            found = _OLD_TAG.fullmatch(tag_of(path, target))
            if found:
                _rename(path, target, found, newest, etags, texts)
        sync_folder(target.parent)


def _rename(
    path: Path,
    target: Path,
    tag: re.Match[str],
    newest: str | None,
    etags: Mapping[str, str],
    texts: Texts,
) -> None:
    if newest is None:
        is_newest, head = False, _NO_ETAG
    else:
        is_newest, head = etag(newest).startswith(tag[1]), texts.etag(newest)
        if not is_newest and not tag[2] and _is_prepared(path, tag[1]):
            remove(path)
            return
    by = temporary_for(target, head if is_newest else etags.get(tag[1], head))
    if not is_newest or tag[2] or presence.exists(by):
        by = free_name(by)
    with store_errors("write", path):
        move(path, by)


def _is_prepared(path: Path, tag: str) -> bool:
    """Whether a text lies there as it was written, and was not displaced."""
    text = regular_text(path)
    return text is not None and etag(text).startswith(tag)


def _remove_old_files(own: Path) -> None:
    """Remove what an older format kept; the closed journal stays."""
    versions = own / VERSIONS
    with store_errors("remove", versions):
        if presence.is_folder(versions) and not presence.is_link(versions):
            shutil.rmtree(versions)
    for part in old_parts(own):
        remove(part)
    for fence in own.glob("*fence"):  # of several hosts
        remove(fence)
    for name in (_PLAN, "unread", LEDGER):
        remove(own / name)
    sync_folder(own)
