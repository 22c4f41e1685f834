"""What a turn's memory costs: before_turn at four sizes beside other engines on the same entries,
and what an edit, a cold start and a thousand channels cost.

usage: python -m benchmarks.recall.turns EVALS_DIR [--json FILE]

Times are of the processor, a question's the best of three; the machine has other things to do. The
entries are those of `benchmarks.notes`, the questions its eight with other numbers and the first of
EVALS_DIR (those find little: they are about other things). Each engine gets words cut the same way,
and the time of cutting a question is its own. `--json` writes a line for each figure: {"series",
"n", "p50_ms", "p95_ms"}.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from pipimem import Pipimem
from pipimem.runtime.channel import Channel
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading, quantile
from benchmarks.notes import QUERIES, write_channel
from benchmarks.recall.engines import installed
from benchmarks.recall.scale import measured, resident
from benchmarks.recall.talks import lines
from benchmarks.segmenting import loaded_segmenter

SIZES = (50, 500, 5_000, 50_000)
_COLD = (500, 5_000)
_QUESTIONS = 120
_EDITED = 5_000
_COMMITS = 300
_EDITS = 40
_CHANNELS = 1_000
_STARTS = 7


def questions(evals: Path) -> list[str]:
    """Half about the entries, half about anything."""
    own = [QUERIES[n % len(QUERIES)].replace("7", str(n)) for n in range(_QUESTIONS // 2)]
    # White space makes another text of one without a number.
    own = [question + " " * (n // len(QUERIES)) for n, question in enumerate(own)]
    said = [
        row["query"]
        for path in sorted((evals / "questions").glob("*.jsonl"))
        for row in lines(path)
    ]
    return [*own, *said[:: max(1, len(said) // (_QUESTIONS // 2))]][:_QUESTIONS]


class Told:
    """The figures, printed as they come and written as lines of JSON."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("w", encoding="utf-8") if path else None

    def __call__(self, series: str, n: int, p50: float, p95: float, **more: float) -> None:
        """One figure."""
        rest = "".join(f"   {name} {value:.1f}" for name, value in more.items())
        print(f"{series:44} {n:7,} {p50:9.2f} {p95:9.2f}{rest}", flush=True)
        if self._file:
            row = {
                "series": series,
                "n": n,
                "p50_ms": round(p50, 4),
                "p95_ms": round(p95, 4),
                **more,
            }
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()


async def turn_ms(channel: Channel, question: str) -> float:
    """The processor's time of one before_turn."""
    begun = time.process_time()
    await channel.before_turn(question)
    return (time.process_time() - begun) * 1000


async def warm(root: Path, size: int, asked: list[str], told: Told) -> None:
    """A long session's turns: no question is asked twice."""
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(f"n{size}", create=False)
        await channel.after_turn(await channel.before_turn("你好"), [])
        times = [
            min([await turn_ms(channel, question + " " * 100 * again) for again in range(1, 4)])
            for question in asked
        ]
    told("before_turn", size, quantile(times, 0.5), quantile(times, 0.95))


def others(root: Path, size: int, asked: list[str], words: Words, told: Told) -> None:
    """The other engines on the same entries."""
    path = root / "channels" / f"n{size}" / "MEMORY.md"
    texts = [
        line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("- ")
    ]
    for name, engine in installed():
        told(name, size, *measured(engine(texts, words), asked))


async def edits(root: Path, name: str, commits: int, told: Told) -> None:
    """A turn after one entry was reworded by hand, less a turn with nothing changed."""
    path = root / "channels" / name / "MEMORY.md"
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(name, create=False)
        await channel.after_turn(await channel.before_turn("你好"), [])
        for n in range(commits):
            if n % 30 == 0:
                _reworded(path, 100 + n, n)
            await channel.remember(f"The crane in hall {n} is served by team {n % 7}.")
        plain, edited = [], []
        for n in range(_EDITS):
            _reworded(path, _EDITED // 3, n)
            edited.append(await turn_ms(channel, f"who owns the on-call rotation for gateway-{n}1"))
            plain.append(await turn_ms(channel, f"who owns the on-call rotation for gateway-{n}2"))
    more = [one - other for one, other in zip(edited, plain, strict=True)]
    series = f"an edit more, after {commits} commits" if commits else "an edit more, fresh channel"
    told(series, _EDITED, quantile(more, 0.5), quantile(more, 0.95), least_ms=round(min(more), 3))


def _reworded(path: Path, number: int, times: int) -> None:
    found = path.read_text(encoding="utf-8").split("\n")
    found[number] = f"{found[number].partition(' reworded ')[0]} reworded {times}"
    path.write_text("\n".join(found), encoding="utf-8")


def cold(root: Path, size: int, told: Told) -> None:
    """`pipimem recall` as a process, from its start to its end, the words of the entries kept."""
    anyio.run(_keep_words, root, size)
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(root),
        "recall",
        f"n{size}",
        QUERIES[0],
    ]
    times, walls = [], []
    for _ in range(_STARTS):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        walls.append((time.perf_counter() - begun) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    told("cold process", size, quantile(times, 0.5), max(times), least_wall_ms=round(min(walls), 1))


async def _keep_words(root: Path, size: int) -> None:
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(f"n{size}")
        await channel.after_turn(await channel.before_turn("你好"), [])


async def channels_in_turn(root: Path, told: Told) -> None:
    """A question in each of 1,000 channels of 100 entries, and in each once more."""
    text = (root / "channels" / "n100" / "MEMORY.md").read_text(encoding="utf-8")
    for n in range(_CHANNELS):
        (root / "channels" / f"turn-{n}").mkdir()
        own = text.replace("- ", f"- room {n}: ")
        (root / "channels" / f"turn-{n}" / "MEMORY.md").write_text(own, encoding="utf-8")
    async with Pipimem(root, "offline") as pipimem:
        before = resident()
        for series in ("1,000 channels in turn", "1,000 channels in turn, again"):
            times = []
            for n in range(_CHANNELS):
                channel = await pipimem.channel(f"turn-{n}", create=False)
                times.append(await turn_ms(channel, QUERIES[n % len(QUERIES)]))
            more = round((resident() - before) / 1e6, 1)
            told(series, _CHANNELS, quantile(times, 0.5), quantile(times, 0.95), resident_mb=more)


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("evals", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    asked, told = questions(given.evals), Told(given.json)
    os.environ.pop("PIPIMEM_DEBUG", None)
    engines = [name for name, _ in installed() if name in ("bm25s", "tantivy")]
    print(heading(f"What a turn's memory costs, {len(asked)} questions", "jieba", *engines))
    print(f"{'':44} {'n':>7} {'p50 ms':>9} {'p95 ms':>9}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        WorkspaceStore.init(root)
        for size in (100, *SIZES):
            write_channel(root, size)
        for size in SIZES:
            anyio.run(warm, root, size, asked, told)
        segmenter = loaded_segmenter()
        for size in SIZES:
            others(root, size, asked, Words(segmenter), told)
        for size in _COLD:
            cold(root, size, told)
        for name, commits in ((f"n{_EDITED}", 0), (f"n{_EDITED}", _COMMITS)):
            anyio.run(edits, root, name, commits, told)
        anyio.run(channels_in_turn, root, told)


if __name__ == "__main__":
    main()
