"""Times and memory inside one process, through the public Python API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from front_door import message, method, opened, resident

_QUIET_SECONDS, _QUIET_ROUNDS, _LONGEST_WAIT = 0.02, 3, 120.0


async def _wait_for_background() -> None:
    """Return after a second almost without work in this process, or after two minutes."""
    ends, quiet = time.monotonic() + _LONGEST_WAIT, 0
    while time.monotonic() < ends and quiet < _QUIET_ROUNDS:
        before = time.process_time()
        await anyio.sleep(1 / _QUIET_ROUNDS)
        quiet = quiet + 1 if time.process_time() - before < _QUIET_SECONDS else 0


async def _turn_ms(channel: Any, question: str) -> float:
    began = time.perf_counter()
    await channel.before_turn(question)
    return (time.perf_counter() - began) * 1000


async def turns(workspace: str, channels: dict[str, list[str]]) -> dict[str, Any]:
    """Time `before_turn` for each question, in warm channels; `first_ms` is a cold channel's."""
    times, first = [], []
    async with opened(workspace) as bot:
        for name, questions in channels.items():
            channel = await bot.channel(name, create=False)
            began = time.perf_counter()
            turn = await channel.before_turn("你好, what is new?")
            first.append((time.perf_counter() - began) * 1000)
            await channel.after_turn(turn, [])
            await _wait_for_background()
            await channel.before_turn("and besides?")
            times += [await _turn_ms(channel, question) for question in questions]
    return {"ms": times, "first_ms": first}


async def edits(workspace: str, channel: str, texts: list[str], questions: list[str]) -> Any:
    """Time the turn after each text is saved as MEMORY.md, and the turn after that turn."""
    path = Path(workspace) / "channels" / channel / "MEMORY.md"
    edited, plain = [], []
    async with opened(workspace) as bot:
        room = await bot.channel(channel, create=False)
        await room.after_turn(await room.before_turn("你好"), [])
        await _wait_for_background()
        for text, question in zip(texts, questions, strict=True):
            path.write_text(text, encoding="utf-8")
            edited.append(await _turn_ms(room, question))
            plain.append(await _turn_ms(room, f"{question} And since when?"))
    return {"edited": edited, "plain": plain}


async def commits(workspace: str, channel: str, texts: list[str]) -> Any:
    """Time `remember` for each text, and `after_turn` with two messages."""
    remembered, turned = [], []
    async with opened(workspace) as bot:
        room = await bot.channel(channel, kind="group")
        await room.after_turn(await room.before_turn("你好"), [])
        remember = method(room, "remember", "notes.remember")
        await remember("The kiln is fired on Mondays.", speaker="Ines")
        for text in texts:
            began = time.perf_counter()
            await remember(text, speaker="Ines")
            remembered.append((time.perf_counter() - began) * 1000)
        for number, text in enumerate(texts):
            said = [message("user", text, id=f"u{number}"), message("assistant", "noted")]
            turn = await room.before_turn(text)
            began = time.perf_counter()
            await room.after_turn(turn, said)
            turned.append((time.perf_counter() - began) * 1000)
    return {"remember": remembered, "after_turn": turned}


async def storm(workspace: str, channel: str) -> None:
    """Remember one sentence after the other until this process is killed."""
    async with opened(workspace) as bot:
        room = await bot.channel(channel, kind="group")
        remember = method(room, "remember", "notes.remember")
        for number in count():
            await remember(f"The crane in hall {number} is served by team {os.getpid()}.")


async def beside_commits(workspace: str, channel: str, processes: int, samples: int) -> Any:
    """Time an append, and `after_turn`, of one message while other processes commit."""
    appended, turned = [], []
    given = json.dumps({"workspace": workspace, "channel": channel})
    async with opened(workspace) as bot:
        room = await bot.channel(channel, kind="group")
        append = method(room, "append", "talk.append")
        storms = [
            subprocess.Popen([sys.executable, sys.argv[0], "storm"], stdin=subprocess.PIPE)
            for _ in range(processes)
        ]
        try:
            for process in storms:
                assert process.stdin is not None
                process.stdin.write(given.encode())
                process.stdin.close()
            memory = Path(workspace) / "channels" / channel / "MEMORY.md"
            while not memory.exists() or memory.read_text("utf-8").count("crane") < 4 * processes:
                await anyio.sleep(0.01)
            for number in range(samples):
                began = time.perf_counter()
                await append([message("user", f"hello {number}", id=f"a{number}")])
                appended.append((time.perf_counter() - began) * 1000)
                turn = await room.before_turn(f"hello {number}")
                began = time.perf_counter()
                await room.after_turn(turn, [message("assistant", f"hi {number}", id=f"t{number}")])
                turned.append((time.perf_counter() - began) * 1000)
            assert all(process.poll() is None for process in storms)
        finally:
            for process in storms:
                process.kill()
                process.wait()
    return {"append": appended, "after_turn": turned}


async def many_channels(workspace: str, asked: list[str], questions: list[str]) -> Any:
    """Return the MB that open idle channels add, and then a turn in each of as many others."""
    async with opened(workspace) as bot:
        await (await bot.channel("warm-up")).before_turn("你好")
        begun = resident()
        for number in range(len(asked)):
            await bot.channel(f"idle-{number}", kind="group")
        opened_mb = resident() - begun
        begun = resident()
        for number, name in enumerate(asked):
            channel = await bot.channel(name, create=False)
            await channel.before_turn(questions[number % len(questions)])
        return {"idle": opened_mb, "asked": resident() - begun}


async def recall(workspace: str, questions: list[dict[str, Any]], now: str) -> Any:
    """Return the candidates of each question, at a clock that stands still."""
    results = []
    async with opened(workspace, now) as bot:
        for asked in questions:
            channel = await bot.channel(asked["channel"], create=False)
            ask = method(channel, "recall", "notes.recall")
            found = await ask(asked["query"], speaker=asked.get("speaker", ""))
            items = [(one.item.id, one.item.text) for one in found.candidates]
            results.append({"candidates": [{"id": name, "content": text} for name, text in items]})
    return results
