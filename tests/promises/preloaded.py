"""Load what a first turn, a compaction and the first commands load, in the importing process.

The two servers that fork the processes of tests import this once: that of `processes.py` forks
functions of any test, that of `zygote.py` has the shim of the C library.
"""

from __future__ import annotations

import contextlib
import gc
import pkgutil
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

import anyio
import pipimem

from tests.promises import front_door
from tests.promises.front_door import Message

_SECONDS = 60


async def _speak(root: Path) -> None:
    async with front_door.quiet(root) as loaded:
        channel = await loaded.channel("room", kind="group")
        turn = await front_door.before_turn(channel, "我们决定：Where is the spare key?")
        await front_door.after_turn(channel, turn, [Message.user("We decided to wait.", id="m1")])
        await front_door.compacted(channel, await front_door.before_compaction(channel))
        await front_door.forget(channel, "nothing")
        await front_door.search(channel, "key")


def _load() -> None:
    for module in pkgutil.walk_packages(pipimem.__path__, "pipimem."):
        # A module may need an extra that is not installed.
        with contextlib.suppress(ImportError):
            import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "channels").mkdir()
        anyio.run(_speak, root)
        for arguments in (("doctor",), ("status",), ("remember", "room", "tea is green")):
            front_door.command_line("--workspace", root, *arguments)
    # A fork has none of the threads that are still at work.
    until = time.monotonic() + _SECONDS
    while threading.active_count() > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()


_load()
