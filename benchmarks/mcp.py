"""What a call through the MCP server costs above the library's own time, over stdio and HTTP.

usage: python -m benchmarks.mcp [CALLS]

300 calls of each kind by default, on a channel of 300 entries and 1,000 messages. The library in
this process, the server over stdio and the server over HTTP take turns, each on a workspace of its
own with the same content. The library's own time of a call is what the server measures around it
(PIPIMEM_DEBUG): in another process it would have other caches. Then how soon a client hears of a
file that was saved by hand. Needs `pipimem[mcp]`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from pipimem import Message, Pipimem
from pipimem.runtime.open_channel import opened
from pipimem.settings import MaintenanceSettings, Settings
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile

_CALLS = 300
_ENTRIES = 300
_MESSAGES = 1_000
_CHANNEL = "room"
_SAVES = 30
_URI = f"pipimem://{_CHANNEL}/memory"
_TOKEN = "benchmark-token-0123456789"
_WAYS = ("library", "stdio", "HTTP")
# Milliseconds above the library's own time that each may cost.
_TARGETS = {"stdio": 3, "HTTP": 6}
_SETTINGS = Settings(maintenance=MaintenanceSettings(enabled=False))
_ROW = "{:<22}{:<9}{:>9}{:>9}{:>11}{:>11}{:>11}{:>9}"
_HEADS = ("p50 ms", "own p50", "above p10", "above p50", "above p95")
# The first calls load what later ones have.
_WARMING = 20
_OWN = re.compile(r"pipimem mcp memory_\w+: ([0-9.]+) ms")

Call = Callable[[int], Awaitable[object]]


async def main(count: int) -> None:
    """Print a row for each kind of call and each way."""
    print(heading(f"{count} calls of each kind through MCP", "mcp", "uvicorn"))
    with tempfile.TemporaryDirectory() as folder:
        roots = {way: Path(folder) / way for way in _WAYS}
        for root in roots.values():
            await _fill(root)
        async with AsyncExitStack() as stack:
            library = await stack.enter_async_context(_library(roots["library"]))
            log = Path(folder) / "stdio.log"
            stdio, began = await _timed(stack, _stdio(roots["stdio"], log))
            other = Path(folder) / "http.log"
            url = stack.enter_context(_server(roots["HTTP"], other))
            http, connected = await _timed(stack, _http(url))
            print(f"connected over stdio in {began:.2f} s, with the start of the server,")
            print(f"over HTTP in {connected * 1000:.0f} ms; load {os.getloadavg()[0]:.1f}\n")
            ways = {"library": Way(library), "stdio": Way(stdio, log), "HTTP": Way(http, other)}
            await _table(count, ways)
        await _heard(roots["stdio"])


async def _heard(root: Path) -> None:
    """How soon a client that listens hears of a file that a person saved."""
    store = WorkspaceStore.open(root)
    path = store.folder_of(_CHANNEL) / "MEMORY.md"
    program, *words = _command(root)
    server = StdioServerParameters(command=program, args=words, env=_environment())
    taken: list[float] = []
    async with (
        Client(stdio_client(server)) as client,
        client.listen(resource_subscriptions=[_URI]) as listening,
    ):
        heard = aiter(listening)
        for number in range(_SAVES):
            path.write_text(f"{path.read_text()}- glaze {number} was typed by hand\n")
            began = time.perf_counter()
            await anext(heard)
            taken.append((time.perf_counter() - began) * 1000)
    middle, late = quantile(taken, 0.5), max(taken)
    print(f"\n{_SAVES} saves by hand were heard after {middle:.0f} ms, {late:.0f} ms at most")


async def _table(count: int, ways: Mapping[str, Way]) -> None:
    print(_ROW.format("call", "way", *_HEADS, "at most"))
    for kind in ways["stdio"].calls:
        times: dict[str, list[float]] = {name: [] for name in ways}
        own: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(count + _WARMING):
            for name, way in ways.items():
                began = time.perf_counter()
                await way.calls[kind](number)
                taken = (time.perf_counter() - began) * 1000
                if number >= _WARMING:
                    times[name].append(taken)
                    own[name].append(way.last_own(taken))
        for name in ways:
            _print_row(kind, name, times[name], own[name])


def _print_row(kind: str, name: str, times: list[float], own: list[float]) -> None:
    above = [whole - inside for whole, inside in zip(times, own, strict=True)]
    figures = [quantile(times, 0.5), quantile(own, 0.5)]
    figures += [quantile(above, share) for share in (0.1, 0.5, 0.95)]
    cells = [f"{figure:.2f}" for figure in figures]
    if name not in _TARGETS:
        cells[2:] = [""] * 3
    print(_ROW.format(kind, name, *cells, _TARGETS.get(name, "")), flush=True)


@dataclass(frozen=True)
class Way:
    """A way to call the library, and where a server writes how long the library itself took."""

    calls: Mapping[str, Call]
    log: Path | None = None

    def last_own(self, taken: float) -> float:
        """The library's own milliseconds of the last call; in this process they are all of it."""
        if self.log is None:
            return taken
        *_, line = self.log.read_text().splitlines()[-1:]
        found = _OWN.search(line)
        return float(found[1]) if found else 0.0  # a resource: what was made of the file is kept


async def _fill(root: Path) -> None:
    """The same entries and talk in each workspace."""
    WorkspaceStore.init(root)
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    said = [
        Message(
            "user",
            f"in week {number} kiln {number % 7} takes {number % 13} hours at {number % 40} degrees",
            id=f"m{number}",
            speaker=("Dana", "Tom", "林晓")[number % 3],
            time=start + timedelta(minutes=number),
        )
        for number in range(_MESSAGES)
    ]
    lines = [f"- kiln {number} belongs to workshop {number % 17}" for number in range(_ENTRIES)]
    async with Pipimem(root, "offline", settings=_SETTINGS) as pipimem:
        channel = await pipimem.channel(_CHANNEL, kind="group")
        await channel.take_in(said)
        folder = pipimem.store.folder_of(_CHANNEL)
        (folder / "MEMORY.md").write_text("# Memory\n\n## Facts\n\n" + "\n".join(lines) + "\n")
        await channel.entries()
    (root / "pipimem.toml").write_text("[maintenance]\nenabled = false\n")


def _arguments(number: int) -> dict[str, dict[str, object]]:
    return {
        "memory_search": {"query": f"who has kiln {number % _ENTRIES}?"},
        "memory_search notes": {"query": f"workshop {number % 17}", "where": "notes", "count": 3},
        "memory_save": {"text": f"glaze number {number} is kept on shelf {number % 9}"},
    }


@asynccontextmanager
async def _library(root: Path) -> AsyncIterator[dict[str, Call]]:
    async with Pipimem(root, "offline", settings=_SETTINGS) as pipimem:
        channel = await pipimem.channel(_CHANNEL)

        def call(kind: str) -> Call:
            name = kind.split()[0]
            return lambda number: channel.call_tool(name, _arguments(number)[kind])

        async def read(_: int) -> None:
            await opened(channel).notes()  # looks whether a file changed

        yield {**{kind: call(kind) for kind in _arguments(0)}, "resource": read}


def _through(client: Client) -> dict[str, Call]:
    def call(kind: str) -> Call:
        name = kind.split()[0]
        return lambda number: client.call_tool(name, _arguments(number)[kind])

    return {
        **{kind: call(kind) for kind in _arguments(0)},
        "resource": lambda _: client.read_resource(_URI),
    }


def _command(root: Path, *words: str) -> list[str]:
    given = ["--workspace", str(root), "--model", "offline", "mcp", "--channel", _CHANNEL]
    return [sys.executable, "-m", "pipimem", *given, *words]


@asynccontextmanager
async def _stdio(root: Path, log: Path) -> AsyncIterator[dict[str, Call]]:
    program, *words = _command(root)
    server = StdioServerParameters(command=program, args=words, env=_environment())
    with log.open("w") as errors:
        async with Client(stdio_client(server, errlog=errors)) as client:
            yield _through(client)


@contextmanager
def _server(root: Path, log: Path) -> Iterator[str]:
    with log.open("w") as errors:
        process = subprocess.Popen(
            _command(root, "--http", "--port", "0"),
            stderr=errors,
            env={**_environment(), "PIPIMEM_MCP_TOKEN": _TOKEN},
        )
        try:
            found = None
            while found is None:
                time.sleep(0.01)
                found = re.search(r"http://\S+/mcp", log.read_text())
            yield found[0]
        finally:
            process.terminate()
            process.wait()


@asynccontextmanager
async def _http(url: str) -> AsyncIterator[dict[str, Call]]:
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield _through(client)


def _environment() -> dict[str, str]:
    here = str(Path(__file__).parents[1])
    return {**get_default_environment(), "PYTHONPATH": here, "PIPIMEM_DEBUG": "1"}


async def _timed(
    stack: AsyncExitStack, way: AbstractAsyncContextManager[dict[str, Call]]
) -> tuple[dict[str, Call], float]:
    began = time.perf_counter()
    return await stack.enter_async_context(way), time.perf_counter() - began


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else _CALLS)
