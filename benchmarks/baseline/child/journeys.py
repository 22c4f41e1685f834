"""Files and functions that each journey passes through, counted by the interpreter's profiler."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pipimem
from anyio import to_thread
from front_door import message, method, opened
from model_server import BelievingModel, Item

_HOUSE = str(Path(pipimem.__file__).parent) + os.sep
_ANONYMOUS = ("<genexpr>", "<listcomp>", "<lambda>", "<dictcomp>", "<setcomp>", "<module>")
_ORDER = "no release on Fridays"


class _Trace:
    """Counts calls of the package's functions; worker threads are counted while one is on."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.is_on = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call; the interpreter calls this."""
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(_HOUSE)
        if self.is_on and is_ours and code.co_name not in _ANONYMOUS:
            self.calls[code.co_filename.removeprefix(_HOUSE), code.co_qualname] += 1

    async def journey(self, step: Awaitable[Any], figures: dict[str, Any], name: str) -> Any:
        """Await a step and note what it passed through under `name`."""
        self.calls.clear()
        self.is_on = True
        sys.setprofile(self)
        try:
            return await step
        finally:
            sys.setprofile(None)
            self.is_on = False
            files = {file for file, _ in self.calls}
            lines = sum(len(Path(_HOUSE, file).read_text("utf-8").splitlines()) for file in files)
            counts = {"files": len(files), "functions": len(self.calls), "lines": lines}
            figures[name] = {**counts, "calls": self.calls.total()}


def _trace_threads(trace: _Trace) -> None:
    """Profile worker threads too: anyio's keep theirs from before the journey."""
    run = to_thread.run_sync
    threading.setprofile(trace)

    async def run_sync(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        def traced(*given: Any) -> Any:
            sys.setprofile(trace)
            return function(*given)

        return await run(traced, *args, **options)

    to_thread.run_sync = run_sync  # type: ignore[assignment]


async def journeys(workspace: str, channel: str) -> dict[str, Any]:
    """Return the counts of each journey, in a channel with a talk behind it."""
    figures: dict[str, Any] = {}
    trace = _Trace()
    async with opened(workspace) as bot:
        room = await bot.channel(channel, kind="group")
        await room.after_turn(await room.before_turn("warm up", speaker="x"), [])
        _trace_threads(trace)
        turn = await trace.journey(room.before_turn("2.4 什么时候发布？"), figures, "before_turn")
        said = [message("user", "we release on Wednesday", speaker="Dana")]
        await trace.journey(room.after_turn(turn, said), figures, "after_turn")
        note = Path(workspace) / "channels" / channel / "MEMORY.md"
        note.write_text(note.read_text("utf-8") + "\n- a line by hand\n", "utf-8")
        time.sleep(0.05)  # so that the time stamp of the file differs
        await trace.journey(room.before_turn("缓存用什么？"), figures, "the turn after an edit")
        remember = method(room, "remember", "notes.remember")(_ORDER, speaker="Dana")
        await trace.journey(remember, figures, "remember, which takes the edit in")
        receipt = await trace.journey(
            room.before_compaction(), figures, "a compaction by the offline rules"
        )
        figures["a compaction by the offline rules"]["state"] = receipt.state
        await room.compacted(receipt)
        await trace.journey(method(room, "forget", "notes.forget")(_ORDER), figures, "forget")
    with BelievingModel() as server:
        os.environ |= {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "x"}
        await _with_a_model(workspace, channel, server, trace, figures)
    return figures


async def _with_a_model(
    workspace: str, channel: str, server: BelievingModel, trace: _Trace, figures: dict[str, Any]
) -> None:
    """Note a compaction whose memory a model writes; its library was loaded by an earlier one."""
    name = "a compaction with a model"
    async with opened(workspace, model="openai/test") as bot:
        room = await bot.channel(channel, kind="group")
        for words in ("the gate opens at nine", "the tower is painted green"):
            server.learns = [Item(words, words, speaker="Dana")]
            said = [message("user", words, speaker="Dana"), message("assistant", "I see.")]
            await room.after_turn(None, said)
            receipt = await trace.journey(room.before_compaction(), figures, name)
            await room.compacted(receipt)
        figures[name] |= {"state": receipt.state, "requests": server.requests}
        if receipt.state != "consolidated":
            figures[name]["state"] += f": {receipt.reason}"
