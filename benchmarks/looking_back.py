"""What looking back costs in a channel of 1,000 changes, 1,000 entries and 5,000 messages.

Run as `python -m benchmarks.looking_back [FOLDER]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.verify import traces
from pipimem.store.history.undo import undo
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
CHANGES, MESSAGES = 1_000, 5_000


def lived(root: Path) -> ChannelStore:
    """A channel with one entry a change."""
    (root / "channels").mkdir()
    channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
    channel.append(
        [
            Message.user(f"we talk about number {n} of the lantern", id=f"m{n}")
            for n in range(MESSAGES)
        ]
    )
    for n in range(CHANGES):
        text = f"fact number {n} about the lantern release of hall {n % 7}"
        said = Evidence((f"m{n}",), n)
        channel.commit(
            Decision("consolidate", Author.MODEL, (Add(Kind.FACT, text, Trust.INFERRED, said),)),
            NOW,
        )
    return channel


def timed(name: str, work: Callable[[], object]) -> None:
    """One line of the table."""
    started = time.perf_counter()
    work()
    print(f"| {name} | {(time.perf_counter() - started) * 1000:.0f} ms |")


def edited(channel: ChannelStore) -> None:
    """A person adds a line, which is compared with every past text that is kept."""
    path = channel.folder / File.MEMORY
    path.write_text(path.read_text(encoding="utf-8") + "- typed by hand\n", encoding="utf-8")
    channel.journal_edits(NOW)


def main(folder: str | None) -> None:
    """Print the table."""
    print(heading(f"Looking back on {CHANGES} changes and {MESSAGES} messages"))
    with tempfile.TemporaryDirectory(dir=folder) as root:
        channel = lived(Path(root))
        past = channel.past()
        timed("read the past", channel.past)
        timed("a text of 990 changes ago", lambda: past.text_after(File.MEMORY, 10))
        timed("undo the newest change", lambda: undo(channel, None, NOW))
        timed("undo change 5", lambda: undo(channel, 5, NOW))
        timed("forget a text", lambda: channel.forget("number 77 ", keep_transcript=False, now=NOW))
        timed("verify that it is gone", lambda: list(traces([channel.folder], "number 77 about")))
        timed("an edit by hand after it", lambda: edited(channel))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
