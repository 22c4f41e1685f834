"""A channel whose former holder did not give its lock back made safe against it.

That holder may be suspended right before any system call. What it was about to name or remove lay
in its staging directory, which is gone by now. What it was about to append goes into a file that it
opened before: so these files are replaced by copies of themselves, and what it opened has no
name.
"""

from __future__ import annotations

import os
from pathlib import Path

from pipimem.notes.files import File
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.links import real_path
from pipimem.store.disk.syscalls import read_if_there, store_errors, sync_folder

# What is appended to, by the name of the lock under which it is, relative to the lock's folder.
_APPENDED = {"lock": ("journal.jsonl", "../log.jsonl", f"../{File.ARCHIVE}")}


def replace_appended(lock: Path) -> None:
    """Replaces what is appended to under a lock by copies; the caller holds it, fence planted."""
    for name in _APPENDED.get(lock.name, ()):
        path = real_path(lock.parent / name)
        data = read_if_there(path)
        if data is None:
            continue
        with store_errors("read", path):
            status = path.stat()
        put_whole(path, data)
        with store_errors("write", path):
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        sync_folder(path.parent)
