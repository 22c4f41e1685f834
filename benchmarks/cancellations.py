"""Calls cancelled at random points: is anything acknowledged lost, a lock left held, or a hold
left?

Run: `python -m benchmarks.cancellations [--count 1500] [--seed 1] [--loop asyncio|trio] [DIR]`. A
bot lives in one process with a model over HTTP: turns, recall with an embedder, remembering, the
gate before a compaction, idle work, and whole lives of another bot. Each call is cancelled at a
random instant of its usual time: by its scope, by a deadline, and on asyncio by the task's own
`cancel`, which heeds no shield. What was acknowledged must be there once, what was not at most
once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from pipimem import Channel, Clock, Message, Pipimem, PipimemError
from pipimem.settings import BudgetSettings, Limit, MaintenanceSettings, Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.workspace import WorkspaceStore
from tests.servers.openai import OpenAIServer

from benchmarks.background.plugs import Letters
from benchmarks.background.scenario import fast_clock
from benchmarks.http_replay import respond
from benchmarks.machine import heading

MODEL = "openai/plain"
_ROOMS = ("room", "hall", "cid6/AZ==")
_LOOPS = ("asyncio", "trio")
# Longer than anybody's patience in the store (10 s for a lock).
_HANGS = 30.0
_CHECK_EVERY = 100
# So many of the newest times of a call say how long it usually takes.
_NEWEST = 20


@dataclass
class Ledger:
    """What was asked for and what was acknowledged, by channel; and what is wrong."""

    messages: dict[str, set[str]] = field(default_factory=dict)
    entries: dict[str, set[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def said(self, room: str, name: str) -> None:
        """A message is acknowledged."""
        self.messages.setdefault(room, set()).add(name)

    def kept(self, room: str, text: str) -> None:
        """An entry is acknowledged."""
        self.entries.setdefault(room, set()).add(text)


@dataclass
class Bot:
    """A bot, and the calls that its host makes."""

    root: Path
    ledger: Ledger
    dice: random.Random
    pipimem: Pipimem
    number: int = 0

    async def turn(self, channel: Channel) -> None:
        """A whole turn."""
        self.number += 1
        said = [
            Message.user(f"remember that tree {self.number} needs water", id=f"u{self.number}"),
            Message.assistant("I will", id=f"a{self.number}"),
        ]
        turn = await channel.before_turn(said[0].content, speaker="alice")
        await channel.after_turn(turn, said)
        for message in said:
            self.ledger.said(channel.id, message.id)

    async def recall(self, channel: Channel) -> None:
        """A question nobody asked before: it is embedded."""
        self.number += 1
        await channel.recall(f"which tree needs water number {self.number}?", automatic=False)

    async def remember(self, channel: Channel) -> None:
        """A fact of its own."""
        self.number += 1
        text = f"gate {self.number} is painted in colour {self.number * 7919}"
        done = await channel.remember(text)
        if not done.refused:
            self.ledger.kept(channel.id, text)

    async def compaction(self, channel: Channel) -> None:
        """The gate, with a message that the transcript lacks, and the new epoch."""
        self.number += 1
        name = f"g{self.number}"
        receipt = await channel.before_compaction(
            [Message.user(f"and boat {self.number}", id=name)], deadline=5
        )
        if receipt.may_compact:
            self.ledger.said(channel.id, name)
            await channel.compacted(receipt)

    async def idle(self, channel: Channel) -> None:
        """The idle jobs and what waits for an occasion."""
        await channel.maintain(forced=True)
        await channel.flush()

    async def life(self, channel: Channel) -> None:
        """Another bot of the same process opens the workspace, has a turn and leaves."""
        async with opened(self.root) as pipimem:
            other = await pipimem.channel(channel.id)
            await Bot.turn(self, other)


def opened(root: Path) -> Pipimem:
    """A bot with a model, an embedder and idle work."""
    endless = BudgetSettings(*[Limit(float("inf"))] * 4)
    settings = Settings(maintenance=MaintenanceSettings(idle_seconds=0.2), budget=endless)
    # Pauses between jobs are over in seconds; holds of requests last as long as they would.
    clock = Clock(now=fast_clock().now)
    return Pipimem(root, MODEL, settings=settings, clock=clock, embedder=Letters())


async def cancelled(how: str, work: Callable[[], Awaitable[None]], after: float) -> bool:
    """Does the work, cancelled after so many seconds; whether it came to its end before."""
    ended = False

    async def noted() -> None:
        nonlocal ended
        await work()
        ended = True

    if how == "task":
        task = asyncio.ensure_future(noted())
        asyncio.get_running_loop().call_later(after, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            pass
    elif how == "deadline":
        with anyio.move_on_after(after):
            await noted()
    else:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(noted)
            await anyio.sleep(after)
            tasks.cancel_scope.cancel()
    return ended


async def storm(root: Path, ledger: Ledger, count: int, seed: int, loop: str) -> None:
    """So many cancelled calls on one bot."""
    dice = random.Random(seed)
    usual: dict[str, list[float]] = {}
    ways = ("scope", "deadline", "task") if loop == "asyncio" else ("scope", "deadline")
    async with opened(root) as pipimem:
        bot = Bot(root, ledger, dice, pipimem)
        rooms = [await pipimem.channel(name) for name in _ROOMS]
        calls = (bot.turn, bot.recall, bot.remember, bot.compaction, bot.idle, bot.life)
        for channel in rooms:
            for call in calls:  # warm, and timed
                await timed(call, channel, usual)
        done = 0
        while done < count:
            call, channel, how = dice.choice(calls), dice.choice(rooms), dice.choice(ways)
            times = sorted(usual[call.__name__])
            after = dice.uniform(0, 1.1 * times[len(times) // 2])
            try:
                with anyio.fail_after(_HANGS):
                    ended = await cancelled(how, lambda c=call, r=channel: c(r), after)  # type: ignore[misc]
            except TimeoutError:
                ledger.wrong.append(
                    f"{call.__name__} hangs, cancelled by {how} after {after:.4f} s"
                )
                return
            except PipimemError as error:
                ledger.counts[f"refused: {type(error).__name__}: {str(error)[:80]}"] += 1
                continue
            except Exception as error:  # noqa: BLE001 - what it is does not matter: it is wrong
                ledger.wrong.append(
                    f"{call.__name__}, cancelled by {how}: {type(error).__name__}: {error}"[:200]
                )
                continue
            ledger.counts["came to its end" if ended else f"{call.__name__} by {how}"] += 1
            done += not ended
            if dice.random() < 0.02:
                await timed(call, channel, usual)
            if not ended and done % _CHECK_EVERY == 0:
                await checked(root, rooms, ledger)
                print(f"… {done} of {count} on {loop}, wrong {len(ledger.wrong)}", flush=True)
    await to_thread.run_sync(afterwards, root, ledger)


async def timed(
    call: Callable[[Channel], Awaitable[None]], channel: Channel, usual: dict[str, list[float]]
) -> None:
    """Does it to its end: it must not hang; how long it takes says where to cancel the next
    ones.
    """
    start = time.perf_counter()
    with anyio.fail_after(_HANGS):
        await call(channel)
    name = getattr(call, "__name__", "")
    usual[name] = [*usual.get(name, []), time.perf_counter() - start][-_NEWEST:]


async def checked(root: Path, rooms: list[Channel], ledger: Ledger) -> None:
    """Nothing is under way now but idle work, which may hold for a moment."""
    for channel in rooms:
        if channel.channel_folder.lock.locked():
            ledger.wrong.append(f"{channel.id}: its lock is left held")
    await to_thread.run_sync(locks_free, root, ledger)
    with anyio.move_on_after(_HANGS):
        while WorkspaceStore.open(root).usage_store.held():
            await anyio.sleep(0.02)
        return
    ledger.wrong.append(f"left holds: {list(WorkspaceStore.open(root).usage_store.held())}")


def locks_free(root: Path, ledger: Ledger) -> None:
    """Every lock file can be taken."""
    for path in [root / ".pipimem" / "usage.lock", *root.glob("channels/*/.pipimem/lock")]:
        try:
            with FolderLock(path).held(10.0):
                pass
        except PipimemError as error:
            ledger.wrong.append(f"{path}: {error}")


def afterwards(root: Path, ledger: Ledger) -> None:
    """A fresh look: all that was acknowledged once, nothing twice, no hold, no leftover."""
    locks_free(root, ledger)
    workspace = WorkspaceStore.open(root)
    if held := workspace.usage_store.held():
        ledger.wrong.append(f"left holds: {list(held)}")
    for problem in workspace.failing():
        ledger.wrong.append(problem.told())
    for room in _ROOMS:
        store = ChannelStore.open(workspace, room, create=False)
        names = Counter(message.id for message in store.transcript.window(0))
        texts = Counter(entry.text for entry in store.notes().memory.entries)
        for what, told, found in (
            ("message", ledger.messages.get(room, set()), names),
            ("entry", ledger.entries.get(room, set()), texts),
        ):
            ledger.counts[f"acknowledged: {what}"] += len(told)
            ledger.wrong += [f"{room}: {what} {name} is lost" for name in told if not found[name]]
            ledger.wrong += [
                f"{room}: {what} {name} is there {n} times" for name, n in found.items() if n > 1
            ]
        leftovers = [path.name for path in store.folder.glob("**/*.pipimem-*")]
        ledger.wrong += [f"{room}: left over: {name}" for name in leftovers]
        store.close()


def main() -> int:
    """Prints what was cancelled and what is wrong; the exit code is 1 where anything is."""
    asked = _asked()
    print(
        heading(f"Calls cancelled at random points, seed {asked.seed}", "anyio", "trio"), flush=True
    )
    wrong = 0
    with tempfile.TemporaryDirectory(dir=asked.folder) as name, OpenAIServer(respond) as server:
        os.environ |= {"OPENAI_API_BASE": f"{server.url}/v1", "OPENAI_API_KEY": "sk-none"}
        for loop in asked.loop or _LOOPS:
            root, ledger = Path(name) / loop, Ledger()
            WorkspaceStore.init(root)
            descriptors, start = _descriptors(), time.perf_counter()
            anyio.run(storm, root, ledger, asked.count, asked.seed, loop, backend=loop)
            left = _descriptors() - descriptors
            print(f"\n{loop}: {time.perf_counter() - start:.0f} s, descriptors left {left}")
            for what, number in sorted(ledger.counts.items()):
                print(f"  {what:<60}{number}")
            for sentence in ledger.wrong[:20]:
                print(f"  WRONG {sentence}")
            print(f"  wrong: {len(ledger.wrong)}", flush=True)
            wrong += len(ledger.wrong)
    return 1 if wrong else 0


def _descriptors() -> int:
    folder = Path("/proc/self/fd")  # of Linux
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Calls cancelled at random points.")
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--count", type=int, default=1_500, help="cancelled calls on each loop")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loop", action="append", choices=_LOOPS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
