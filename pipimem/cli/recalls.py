"""Talk and recall of a command's channels, with the settings of its workspace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from pipimem.cli.options import Chosen
from pipimem.cli.output import note, progress
from pipimem.runtime.opened_recall import OpenedRecall
from pipimem.runtime.recall_preview import Source
from pipimem.runtime.talk import ChannelTalk

__all__ = ["Source", "opened_recall", "opened_talk"]

# A bar that is gone again at once only flickers.
_SECONDS = 1.0


def opened_recall(
    chosen: Chosen, count: int | None = None, *, archive: bool = True
) -> OpenedRecall:
    """Return the talk and recall of channels; recall finds at least `count` candidates."""
    return OpenedRecall(chosen.store(), chosen.settings(), note, count, archive)


@contextmanager
def opened_talk(chosen: Chosen, channel: str) -> Iterator[ChannelTalk]:
    """The talk and the archive of a channel; their index is kept at the end.

    Where reading them takes long there is a bar.
    """
    begun = time.monotonic()
    stack = ExitStack()
    bars: list[Callable[[int], None]] = []

    def report(read: int, newest: int) -> None:
        if read == newest:
            stack.close()
            bars.clear()
        elif not bars and time.monotonic() - begun > _SECONDS:
            bars.append(stack.enter_context(progress("indexing what was said", newest)))
        for bar in bars:
            bar(read)

    with stack:
        opened = OpenedRecall(chosen.store(), chosen.settings(), note, report=report)
        yield opened.talk(channel)
        opened.keep_indexes()
