"""What killed processes, editors and sync clients left behind in a channel's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipimem.errors import LockTimeout, PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.checkup.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.disk.files import TEMPORARY, read_text, remove
from pipimem.store.disk.lock import FolderLock, locks_hold
from pipimem.store.forgetting import plan

_NOTE = r"(?:SESSION|MEMORY|HISTORY|HISTORY\.archive)"
# Copies beside a note: of vim, emacs, editors that keep a backup, Syncthing, Dropbox, Nextcloud, git.
_COPIES = re.compile(
    rf"\.{_NOTE}\.md\.sw[a-p]|{_NOTE}\.md~|#{_NOTE}\.md#|{_NOTE}\.md\.(?:bak|orig|rej)|{_NOTE}.*conflict.*\.md"
    rf"|{_NOTE} ?\(.*\)\.md",
    re.IGNORECASE,
)


def leftover_findings(store: ChannelStore) -> Iterator[Finding]:
    """All there is to say about files that should not be there, and commits that have not reached theirs."""
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
    yield from _forgetting(own, finish)
    for path in sorted(folder.iterdir()):
        if _COPIES.fullmatch(path.name):
            yield worth_knowing(
                path, "a copy beside a note; nobody reads it. Take over what it has, and remove it"
            )
    yield from _lock(own / "lock")


def _unreadable(folder: Path, root: Path) -> Iterator[Finding]:
    """Texts beside a note that an exchange displaced, or that wait, and that cannot be merged: writing is refused."""
    for path in sorted(folder.glob(f".*{TEMPORARY}")):
        try:
            read_text(path, root)
        except PipimemError as error:
            yield wrong(
                path,
                f"{error} Writing is refused while it lies there: take over what it has, and move it away",
            )


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

    def drop(now: datetime) -> str:  # noqa: ARG001 - a mending's signature
        remove(path)
        return "removed; what it was to forget may stand there still"

    yield wrong(
        path,
        "a forgetting was cut off, and what it was to take out is damaged: forget it once more",
        drop,
    )


def _lock(path: Path) -> Iterator[Finding]:
    """A lock is never stale: the system frees it with its process. One that is held says that somebody works."""
    if not os.path.lexists(path):
        return
    try:
        if not locks_hold(path):
            yield wrong(
                path,
                "locks do not hold on this file system: put the workspace on a local disk, before two write",
            )
        with FolderLock(path).held(patience=0.0):
            pass
    except LockTimeout:
        yield worth_knowing(path, "another process is writing to this channel right now")
    except PipimemError as error:
        yield wrong(path, str(error))
