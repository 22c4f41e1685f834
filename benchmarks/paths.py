"""How many files and functions each journey passes through: what a reader has to know of it.

`python -m benchmarks.paths [TRANSCRIPT.jsonl]`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import pipimem
from anyio import to_thread
from pipimem import Message, Pipimem

HOUSE = str(Path(pipimem.__file__).parent) + os.sep
EXAMPLE = Path(__file__).parents[1] / "examples" / "release-room.jsonl"
OPTIONS = ("--kind", "group", "--compact-every", "60", "--maintain")
ANONYMOUS = ("<genexpr>", "<listcomp>", "<lambda>", "<dictcomp>", "<setcomp>", "<module>")


class Trace:
    """Counts the calls of our functions, in worker threads too."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Is called by the interpreter at every call."""
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(HOUSE)
        if is_ours and code.co_name not in ANONYMOUS:
            self.calls[code.co_filename.removeprefix(HOUSE), code.co_qualname] += 1

    async def journey(self, name: str, step: Awaitable[Any]) -> Any:
        """Prints what one step passes through."""
        self.calls.clear()
        sys.setprofile(self)
        try:
            return await step
        finally:
            sys.setprofile(None)
            files = {file for file, _ in self.calls}
            calls = self.calls.total()
            print(f"{name:32} files {len(files):3}, functions {len(self.calls):3}, calls {calls:,}")


def traced_threads(trace: Trace) -> None:
    """Has the calls in worker threads counted as well."""
    run = to_thread.run_sync

    async def run_sync(function: Callable[..., Any], *args: object, **options: Any) -> Any:
        def traced(*given: object) -> object:
            sys.setprofile(trace)
            try:
                return function(*given)
            finally:
                sys.setprofile(None)

        return await run(traced, *args, **options)

    to_thread.run_sync = run_sync  # type: ignore[assignment]


async def main(transcript: Path) -> None:
    """The journeys of a channel that has the transcript behind it."""
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "bot"
        for command in (
            ["init", root],
            ["--workspace", root, "replay", "room", transcript, *OPTIONS],
        ):
            subprocess.run(
                [sys.executable, "-m", "pipimem", *map(str, command)],
                check=True,
                capture_output=True,
            )
        async with Pipimem(root) as bot:
            channel = await bot.channel("room", kind="group")
            await channel.before_turn("warm up", speaker="x")
            traced_threads(trace)
            turn = await trace.journey("before_turn", channel.before_turn("2.4 什么时候发布？"))
            said = [Message.user("we release on Wednesday", speaker="Dana")]
            await trace.journey("after_turn", channel.after_turn(turn, said))
            note = next(root.glob("channels/*/MEMORY.md"))
            note.write_text(note.read_text("utf-8") + "\n- a line by hand\n", "utf-8")
            time.sleep(0.05)  # so that the stamp of the file is another one
            await trace.journey("the turn after an edit", channel.before_turn("缓存用什么？"))
            await trace.journey("remember", channel.remember("no release on Fridays"))
            receipt = await trace.journey("before_compaction", channel.before_compaction())
            await channel.compacted(receipt)
            await trace.journey("forget", channel.forget("no release on Fridays"))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLE)
