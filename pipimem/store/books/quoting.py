"""What the usage ledger may quote of a channel's talk: nothing that may have been forgotten while a model was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.errors import JournalError, LockTimeout
from pipimem.notes.usage import Usage
from pipimem.store.disk.lock import FolderLock
from pipimem.store.journal import ledger_file
from pipimem.store.journal.journal import Journal
from pipimem.store.names import folder_name
from pipimem.text.dates.bounds import local

# A thought asks several times about what it read at its beginning; none goes on for longer than this.
_THOUGHT = timedelta(hours=1)
# A commit takes milliseconds; nobody should wait longer for the words of a reason.
_PATIENCE = 0.2
UNQUOTED = "not kept: something was forgotten in this channel meanwhile"


@contextmanager
def quotable(channels: Path, usage: Usage) -> Iterator[Usage]:
    """The line to be written while this lasts: its reason is left out where it may quote what was forgotten.

    So it is where that cannot be told at once, since another process is writing to the channel.
    """
    own = channels / folder_name(usage.channel) / ".pipimem" if usage.channel else None
    if not usage.reason or own is None or not (own / "lock").exists():
        yield usage
        return
    with ExitStack() as held:
        try:
            # A forgetting holds this lock from its first look at the ledger to its end.
            held.enter_context(FolderLock(own / "lock").held(_PATIENCE))
            safe = _is_safe(own, usage)
        except LockTimeout:
            safe = False
        yield usage if safe else replace(usage, reason=UNQUOTED)


def _is_safe(own: Path, usage: Usage) -> bool:
    if (own / "forget.json").exists():  # cut off, and not finished yet
        return False
    checkpoint = ledger_file.load(own / "ledger.json")
    if checkpoint is None or not checkpoint.ledger.forgotten:
        return True
    try:
        forgettings = [record.time for record in Journal(own).records() if record.task == "forget"]
    except JournalError:
        return False
    now = local(datetime.fromisoformat(usage.time))
    return not forgettings or now - local(datetime.fromisoformat(forgettings[-1])) > _THOUGHT
