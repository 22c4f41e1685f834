"""A library for one command: a bar where its first reading takes long, and what was read kept for the next."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pipimem.cli.opening import Chosen
from pipimem.cli.printing import Progress, progress
from pipimem.runtime.library import Library

# A bar that is gone again at once only flickers.
_SECONDS = 1.0


@contextmanager
def library(chosen: Chosen) -> Iterator[Library]:
    """Transcripts and archives to be searched; their indexes are kept once the answer is out."""
    begun, stack = time.monotonic(), ExitStack()
    bars: list[Progress] = []

    def report(read: int, newest: int) -> None:
        if read == newest:
            stack.close()
            bars.clear()
        elif not bars and time.monotonic() - begun > _SECONDS:
            bars.append(stack.enter_context(progress("indexing what was said", newest)))
        for bar in bars:
            bar(read)

    with stack:
        found = Library(chosen.store(), archive=True, report=report)
        yield found
        found.keep()
