"""What killed processes, editors and sync clients left behind in a channel's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipimem.errors import LockTimeout, PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import TEMPORARY, read_text, remove
from pipimem.store.disk.folder_lock import FolderLock, locks_hold
from pipimem.store.forget import plan
from pipimem.store.health import older_journal
from pipimem.store.health.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.workspace import WorkspaceStore

_NOTE = r"(?:SESSION|MEMORY|HISTORY|HISTORY\.archive)"
# Copies beside a note, of vim, emacs, editors that keep a backup, git and sync clients.
_COPY_NAMES = (
    rf"\.{_NOTE}\.md\.sw[a-p]",
    rf"{_NOTE}\.md~",
    rf"#{_NOTE}\.md#",
    rf"{_NOTE}\.md\.(?:bak|orig|rej)",
    rf"{_NOTE}.*conflict.*\.md",
    rf"{_NOTE} ?\(.*\)\.md",
)
_COPIES = re.compile("|".join(_COPY_NAMES), re.IGNORECASE)


def leftover_findings(store: ChannelStore) -> Iterator[Finding]:
    """Files that should not be there, and commits that have not reached their files."""
    folder, own = store.folder, store.folder / ".pipimem"

    def finish(now: datetime) -> str:
        store.journal_edits(now)
        store.checkpoint()
        return "what was cut off was finished, the rest swept"

    left = [*folder.glob(f".*{TEMPORARY}"), *folder.glob(f".pipimem/**/.*{TEMPORARY}")]
    if left:
        what = f"{len(left)} unfinished files of a process that ended; the next writing clears them"
        yield worth_knowing(folder, what, finish)
    yield from _unreadable(folder, store.workspace.root)
    yield from _waiting(store)
    yield from _forgetting(own, finish)
    for path in sorted(own.glob(f"{older_journal.NAME}*")):
        yield worth_knowing(
            path,
            "a copy of the journal that was set aside; it may hold what was forgotten since. "
            "Nobody reads it: remove it when you need it no more",
        )
    for path in sorted(folder.iterdir()):
        if _COPIES.fullmatch(path.name):
            yield worth_knowing(
                path, "a copy beside a note; nobody reads it. Take over what it has, and remove it"
            )
    yield from _lock(own / "lock")


def removal_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """What a crash left of channels that were removed."""

    def finish(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        workspace.finish_removals()
        return "it is gone"

    try:
        left = workspace.removed()
    except PipimemError as error:
        yield wrong(workspace.root / ".pipimem", str(error))
        return
    if left:
        what = "holds what is left of removed channels: the process that deleted them ended"
        yield wrong(left[0].parent, what, finish)


def _waiting(store: ChannelStore) -> Iterator[Finding]:
    """Talk that a host kept beside the transcript, while the hosts could not agree who writes."""
    count = sum(1 for _ in store.transcript.spooled())
    if not count:
        return

    def take_in(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        store.take_in_spool()
        return "the messages stand in the transcript"

    what = f"{count} messages wait beside the transcript; the next writing takes them in"
    yield worth_knowing(store.folder / ".pipimem" / "spool", what, take_in)


def _unreadable(folder: Path, root: Path) -> Iterator[Finding]:
    """Files beside a note that wait to be merged and are no text: writing is refused."""
    for path in sorted(folder.glob(f".*{TEMPORARY}")):
        try:
            read_text(path, root)
        except PipimemError as error:
            what = "Writing is refused while it lies there: take over what it has, and move it away"
            yield wrong(path, f"{error} {what}")


def _forgetting(own: Path, finish: Mend) -> Iterator[Finding]:
    path = own / plan.NAME
    if not os.path.lexists(path):
        return
    try:
        is_whole = plan.load(own) is not None
    except PipimemError as error:  # a folder, a link, no right to read it
        yield wrong(path, str(error))
        return
    if is_whole:
        what = "a forgetting was cut off; any writing, such as `pipimem consolidate`, finishes it"
        yield wrong(own.parent, what, finish)
        return

    def drop(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        remove(path)
        return "removed; what it was to forget may stand there still"

    yield wrong(
        path,
        "a forgetting was cut off, and what it was to take out is damaged: forget it once more",
        drop,
    )


def _lock(path: Path) -> Iterator[Finding]:
    """A lock that does not hold or is held; none is stale: the system frees it with its process."""
    if not os.path.lexists(path):
        return
    try:
        if not locks_hold(path):
            what = "locks do not hold on this file system: put the workspace on a local disk, "
            yield wrong(path, f"{what}before two write")
        with FolderLock(path).held(timeout=0.0):
            pass
    except LockTimeout:
        yield worth_knowing(path, "another process is writing to this channel right now")
    except PipimemError as error:
        yield wrong(path, str(error))
