"""The DingTalk bot as a process, against DingTalk on loopback: how soon it acknowledges, and
whether each message of many channels is handled once and in its order.

Usage: python -m benchmarks.dingtalk [MESSAGES] [CHANNELS] [FOLDER]
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.store.transcript.message_line import parsed
from pipimem.store.workspace import WorkspaceStore
from tests.servers.dingtalk import CLIENT_ID, CLIENT_SECRET, FakeDingTalk, fake_dingtalk

from benchmarks.machine import cpu, heading, peak_mb, quantile

# Every tenth message is delivered three times, as after an acknowledgement that got lost.
_AGAIN_EVERY = 10
# Seconds between an answer and what is said next, in the mean.
_PAUSE = 1.0
# The connection ends so often on the way.
_BREAKS = 5
# What waited for a new connection comes at once: it is counted apart for so many seconds.
_BURST_SECONDS = 0.5
_TEXTS = (
    "we decided that the release of service {n} is on Thursday",
    "周五不许发布 {n} 号服务，除非 Dana 同意",
    "who is on call for service {n}?",
    "{n} 号服务的端口是多少？",
)


async def _started(workspace: Path, url: str) -> asyncio.subprocess.Process:
    environment = os.environ | {
        "DINGTALK_CLIENT_ID": CLIENT_ID,
        "DINGTALK_CLIENT_SECRET": CLIENT_SECRET,
        "DINGTALK_OPENAPI_ENDPOINT": url,
    }
    words = ["-m", "pipimem", "--workspace", str(workspace), "--model", "offline", "dingtalk"]
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, env=environment, stderr=asyncio.subprocess.PIPE
    )


@dataclass
class _Waits:
    """Seconds from a frame to its acknowledgement."""

    steady: list[float] = field(default_factory=list)
    burst: list[float] = field(default_factory=list)


async def _talk(dingtalk: FakeDingTalk, messages: int, channels: int) -> _Waits:
    """Each channel says its next message some time after its last one was answered."""
    answered = {f"cid{number}": asyncio.Event() for number in range(channels)}
    waits = _Waits()
    dingtalk.on_said = lambda said: answered[said.channel].set()
    dingtalk.on_ack = lambda name: _acked.setdefault(name, asyncio.Event()).set()

    async def one(number: int) -> None:
        channel, chance = f"cid{number}", random.Random(number)
        for turn in range(messages // channels):
            text = _TEXTS[(number + turn) % len(_TEXTS)].format(n=f"{number}-{turn}")
            count = 3 if turn % _AGAIN_EVERY == 0 else 1
            answered[channel].clear()
            # People do not speak in step.
            await asyncio.sleep(chance.uniform(0.0, 2 * _PAUSE))
            for _ in range(count):
                await _delivered(dingtalk, text, f"msg-{number}-{turn}", channel, waits)
            await answered[channel].wait()

    await asyncio.gather(*(one(number) for number in range(channels)))
    return waits


# Waiting for the server's own events would wake each channel at each acknowledgement.
_acked: dict[str, asyncio.Event] = {}


async def _delivered(
    dingtalk: FakeDingTalk, text: str, name: str, channel: str, waits: _Waits
) -> None:
    """Deliver a message until it is acknowledged, as DingTalk does."""
    while True:
        is_burst = time.monotonic() - dingtalk.connected_at < _BURST_SECONDS
        try:
            frame = await dingtalk.say(text, message_id=name, channel=channel)
        except (AssertionError, ConnectionError):
            await dingtalk.connected(dingtalk.connections)
            continue
        acked = _acked.setdefault(frame, asyncio.Event())
        try:
            async with asyncio.timeout(10):
                await acked.wait()
        except TimeoutError:
            continue
        waited = dingtalk.ack_seconds[frame]
        (waits.burst if is_burst else waits.steady).append(waited)
        return


async def _break_off(dingtalk: FakeDingTalk, messages: int) -> None:
    """End the connection now and then, in the middle of a frame."""
    for part in range(1, _BREAKS + 1):
        wanted = part * messages // (_BREAKS + 1)
        await dingtalk.until(lambda: len(dingtalk.said) >= wanted, 3600)  # noqa: B023
        dingtalk.break_off(b'{"type":"CALLBACK"')


def _judged(workspace: Path, dingtalk: FakeDingTalk, messages: int, channels: int) -> list[str]:
    """What went wrong, in words; nothing where all is well."""
    wrong: list[str] = []
    answers: dict[str, list[str]] = defaultdict(list)
    for said in dingtalk.said:
        answers[said.channel].append(said.text)
    each = messages // channels
    for info in WorkspaceStore.open(workspace).channels():
        lines = (info.folder / "log.jsonl").read_bytes().splitlines(keepends=True)
        found = [parsed(line) for line in lines]
        ids = [one.id for one in found if one and one.role == "user"]
        number = info.id.removeprefix("cid")
        if ids != [f"msg-{number}-{turn}" for turn in range(each)]:
            wrong.append(f"{info.id}: {len(ids)} of {each} messages, {len(set(ids))} different")
        if len(answers[info.id]) != each:
            wrong.append(f"{info.id}: {len(answers[info.id])} answers to {each} messages")
    if len(WorkspaceStore.open(workspace).channels()) != channels:
        wrong.append("channels are missing")
    return wrong


async def _measured(messages: int, channels: int, folder: str | None) -> bool:
    with tempfile.TemporaryDirectory(dir=folder) as root:
        workspace = Path(root) / "bot"
        WorkspaceStore.init(workspace)
        async with fake_dingtalk() as dingtalk:
            process = await _started(workspace, dingtalk.url)
            await dingtalk.connected(1)
            began = time.monotonic()
            breaking = asyncio.create_task(_break_off(dingtalk, messages))
            waits = await _talk(dingtalk, messages, channels)
            seconds = time.monotonic() - began
            await breaking
            used, peak = cpu(process.pid), peak_mb(process.pid)
            stopped = time.monotonic()
            process.send_signal(signal.SIGTERM)
            await process.communicate()
            stop = time.monotonic() - stopped
            wrong = _judged(workspace, dingtalk, messages, channels)
            print(f"messages                {messages} in {channels} channels")
            deliveries = len(waits.steady) + len(waits.burst)
            print(f"deliveries              {deliveries}, {dingtalk.connections} connections")
            print(f"all                     {_figures(waits.steady + waits.burst)}")
            print(f"on a connection         {_figures(waits.steady)}")
            print(f"of a new connection     {_figures(waits.burst)}, {len(waits.burst)} deliveries")
            print(f"a second                {messages / seconds:.0f} messages answered")
            print(f"the bot                 {used:.0f} s of CPU, at most {peak:.0f} MB")
            print(f"SIGTERM to the end      {stop:.1f} s")
            print(f"lost, doubled, disorder {len(wrong)}")
            for line in wrong[:20]:
                print(f"  {line}")
            return not wrong


def _figures(waits: list[float]) -> str:
    shares = (("p50", 0.5), ("p99", 0.99), ("most", 1.0))
    values = (f"{name} {quantile(waits, share) * 1000:.1f}" for name, share in shares)
    return "acknowledged in ms: " + ", ".join(values)


def main() -> None:
    """Measure, and exit with 1 where a message was lost, doubled or out of its order."""
    messages, channels = map(int, (*sys.argv[1:3], *("10000", "200")[len(sys.argv[1:3]) :]))
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    print(heading("DingTalk bot", "aiohttp"))
    if not asyncio.run(_measured(messages, channels, folder)):
        sys.exit(1)


if __name__ == "__main__":
    main()
