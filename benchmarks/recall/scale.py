"""Search over a long transcript: time and memory beside other engines on the same text, a cold
start, needles of any age; and what a turn costs that takes excerpts from it.

usage: python -m benchmarks.recall.scale EVALS_DIR [MESSAGES ...] [--json FILE]

Times are of the processor, of one thread; a cold start is also told by the wall, the best of seven.
The transcript (100,000 messages if nothing is said) is made of the sentences of the recorded
conversations in new order, every fifth message with a word and a number of its own; the questions
are those of the conversations. bm25s and tantivy are measured where they are installed (`uv sync
--group benchmarks`). `--json` writes a line for each engine and length, for
`benchmarks.recall.plots`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import anyio
from pipimem import Pipimem
from pipimem.notes.message import Message
from pipimem.recall.transcript import candidates
from pipimem.recall.transcript.rank import search
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.runtime.transcript_search import TranscriptSearch
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.caches import search_index as search_file
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading, quantile
from benchmarks.notes import write_channel
from benchmarks.recall.engines import Engine, installed
from benchmarks.recall.talks import lines, messages
from benchmarks.segmenting import loaded_segmenter

_MESSAGES = 100_000
_ENTRIES = 500
_NEEDLES = 20
_START = datetime(2020, 1, 1, 9, tzinfo=timezone(timedelta(hours=8)))
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_BATCH = 5_000
_COLD_RUNS = 7
_COMPARED = 50
# One line of --json: of which series, how many messages, and what was measured.
Row = dict[str, object]


def talk(evals: Path, count: int, chance: random.Random) -> list[Message]:
    """So many messages, a quarter of them Chinese, half an hour of talk every three hours."""
    said = [
        message
        for path in sorted((evals / "transcripts").glob("*.jsonl"))
        for message in messages(path)
    ]
    chinese = [one for one in said if not one.content.isascii() and "，" in one.content]
    other = [one for one in said if one.content.isascii()]
    pools = [
        [s for one in pool for s in _SENTENCE.split(one.content) if s] for pool in (chinese, other)
    ]
    made = []
    for number in range(count):
        pool = pools[0] if number % 4 == 0 else pools[1]
        text = " ".join(chance.choices(pool, k=chance.randint(1, 3)))
        if number % 5 == 0:
            text += f" {_word(chance)} {chance.randrange(10_000)}"
        when = _START + timedelta(hours=3 * (number // 30), minutes=number % 30)
        made.append(
            Message.user(text, id=f"m{number + 1}", speaker=chance.choice(said).speaker, time=when)
        )
    return made


def _word(chance: random.Random) -> str:
    return "".join(chance.choice(letters) for letters in ("bdfgklmnprstvz", "aeiou") * 3)


def measured(answer: Callable[[str], object], questions: Sequence[str]) -> tuple[float, float]:
    """p50 and p95 in ms of this thread's processor; each question's best of three, the machine has
    other things to do.
    """
    times = []
    for question in questions:
        best = 1e9
        for _ in range(3):
            begun = time.thread_time()
            answer(question)
            best = min(best, time.thread_time() - begun)
        times.append(best * 1000)
    return quantile(times, 0.5), quantile(times, 0.95)


def resident() -> int:
    """Bytes this process holds."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured_apart(evals: Path, counts: Sequence[int]) -> Iterator[str]:
    """The lines of --json; each of several lengths in a process of its own, or one would use the
    memory of another.
    """
    if len(counts) == 1:
        yield from (json.dumps(row) + "\n" for row in main(evals, counts[0]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            out = Path(folder) / f"{count}.jsonl"
            command = [
                sys.executable,
                "-m",
                "benchmarks.recall.scale",
                str(evals),
                str(count),
                "--json",
                str(out),
            ]
            subprocess.run(command, check=True)
            yield out.read_text(encoding="utf-8")


def main(evals: Path, count: int) -> Iterator[Row]:
    """Print the tables for one length; give what `--json` writes."""
    chance = random.Random(4)
    questions = [
        row["query"]
        for path in sorted((evals / "questions").glob("*.jsonl"))
        for row in lines(path)
    ]
    chance.shuffle(questions)
    questions = questions[:200]
    made = talk(evals, count, chance)
    words_of_needles = _hide(made, chance)
    size = sum(len(message.content.encode()) for message in made)
    print(
        heading(
            f"Search over {count:,} messages, {size / 1e6:.1f} MB of text, "
            f"{len(questions)} questions"
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "bot"
        WorkspaceStore.init(root)
        store = ChannelStore.open(WorkspaceStore.open(root), "talk", create=True)
        for start in range(0, count, _BATCH):
            store.append(made[start : start + _BATCH])
        texts = [message.content for message in made]
        del made
        vocabulary = Vocabulary(store.workspace)
        segmenter = loaded_segmenter()  # before anything is measured: all that cut Chinese share it
        vocabulary.words = Words(segmenter)
        yield {"n": count} | _pipimem(vocabulary, store, questions, words_of_needles, size)
        yield {"series": "pipimem, a new process", "n": count} | _cold(root, questions)
        write_channel(root, _ENTRIES, "talk")
        yield {"series": "before_turn", "n": count} | anyio.run(_turns, root, questions)
        print("\n| engine | p50 ms | p95 ms | build s |\n|---|---|---|---|")
        for name, engine in installed():
            yield {"n": count} | _row(name, engine, texts, vocabulary.words, questions)


def _row(name: str, engine: Engine, texts: list[str], words: Words, questions: list[str]) -> Row:
    begun = time.thread_time()
    answer = engine(texts, words)
    built = time.thread_time() - begun
    p50, p95 = measured(answer, questions)
    print(f"| {name} | {p50:.2f} | {p95:.2f} | {built:.1f} |", flush=True)
    return {
        "series": name,
        "p50_ms": round(p50, 3),
        "p95_ms": round(p95, 3),
        "build_s": round(built, 2),
    }


def _hide(made: list[Message], chance: random.Random) -> list[tuple[str, str]]:
    """Put a fact of its own into 20 messages of all ages; give question and id of each."""
    forget_targets = []
    for number in range(_NEEDLES):
        place = number * (len(made) - 1) // (_NEEDLES - 1)
        name, thing = _word(chance).title(), _word(chance)
        text = (
            f"{name} 把 {thing} 放在第三个抽屉"
            if number % 2
            else f"{name} keeps the {thing} in the third drawer"
        )
        one = made[place]
        made[place] = Message.user(text, id=one.id, speaker=one.speaker, time=one.time)
        forget_targets.append(
            (
                f"{name} 把 {thing} 放哪了？"
                if number % 2
                else f"Where does {name} keep the {thing}?",
                one.id,
            )
        )
    return forget_targets


def _pipimem(
    vocabulary: Vocabulary,
    store: ChannelStore,
    questions: list[str],
    forget_targets: list[tuple[str, str]],
    size: int,
) -> Row:
    vocabulary.stamp()
    vocabulary.words.bag("warm up 预热")
    gc.collect()
    before, begun = resident(), time.thread_time()
    channel_search = TranscriptSearch(store, vocabulary)
    built = time.thread_time() - begun
    channel_search.keep()
    gc.collect()
    held = resident() - before
    index, now, synonyms = (
        channel_search.index,
        _START + timedelta(days=3000),
        vocabulary.synonyms(),
    )
    p50, p95 = measured(
        lambda question: search(index, question, now=now, synonyms=synonyms), questions
    )
    found = sum(
        any(
            one.item.id == f"log:{name}"
            for one in search(index, question, now=now, synonyms=synonyms, limit=5)
        )
        for question, name in forget_targets
    )
    same, slower = _beside_weighing_all(index, questions[:_COMPARED], now)
    kept = store.folder / ".pipimem" / search_file.NAME
    file = kept.stat().st_size if kept.exists() else 0
    begun = time.thread_time()
    again = TranscriptSearch(store, vocabulary)
    loaded = time.thread_time() - begun
    assert len(again.index) == len(index)
    print(f"pipimem: p50 {p50:.2f} ms, p95 {p95:.2f} ms; built in {built:.1f} s")
    print(
        f"{same:.0%} of the first five are those that weighing every message gives, "
        f"which takes {slower:.1f} times as long"
    )
    print(f"memory of the index: {held / 1e6:.1f} MB, {held / size:.2f} times the text")
    print(
        f"its file: {file / 1e6:.1f} MB, {file / size:.2f} times the text; "
        f"read and checked in {loaded * 1000:.0f} ms"
    )
    print(f"needles found among the first five: {found} of {len(forget_targets)}")
    return {
        "series": "pipimem",
        "p50_ms": round(p50, 3),
        "p95_ms": round(p95, 3),
        "build_s": round(built, 2),
        "load_ms": round(loaded * 1000, 1),
        "file_bytes": file,
    }


def _beside_weighing_all(
    index: TranscriptIndex, questions: list[str], now: datetime
) -> tuple[float, float]:
    """The share of the first five that stays, and the time it takes, where every message is
    weighed.
    """
    firsts: list[list[set[int]]] = []
    spent = []
    usual = candidates.WEIGHED_ALL
    for most in (usual, len(index)):
        candidates.WEIGHED_ALL = most
        begun = time.thread_time()
        firsts.append(
            [
                {hit.slot for hit in search(index, question, now=now, limit=5)}
                for question in questions
            ]
        )
        spent.append(time.thread_time() - begun)
    candidates.WEIGHED_ALL = usual
    coarse, whole = firsts
    shared = sum(len(one & other) for one, other in zip(coarse, whole, strict=True))
    return shared / sum(map(len, whole)), spent[1] / spent[0]


def _cold(root: Path, questions: list[str]) -> Row:
    """`pipimem search` from a shell: Python's start, the index from disk, the answer."""
    walls, processor = [], []
    for question in questions[:_COLD_RUNS]:
        command = [
            sys.executable,
            "-m",
            "pipimem",
            "--workspace",
            str(root),
            "search",
            "talk",
            question,
        ]
        begun, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        walls.append((time.perf_counter() - begun) * 1000)
        after = os.times()
        spent = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        processor.append(spent * 1000)
    wall, spent = min(walls), min(processor)
    print(
        f"`pipimem search` as a new process, best of {len(walls)}: {wall:.0f} ms, "
        f"{spent:.0f} of the processor"
    )
    return {"wall_ms": round(wall), "processor_ms": round(spent)}


async def _turns(root: Path, questions: list[str]) -> Row:
    """A whole `before_turn` beside 500 entries, once the index is warm; each question's best of
    three, by the wall: most of it runs in another thread.
    """
    times, told = [], 0
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel("talk")
        await channel.after_turn(await channel.before_turn("你好"), [])
        while not (await channel.before_turn(questions[0])).recalled:
            await anyio.sleep(0.1)
        for question in questions:
            best = 1e9
            for times_asked in range(3):
                # White space makes another text, whose answer is not remembered.
                text = question + " " * times_asked
                begun = time.perf_counter()
                turn = await channel.before_turn(text)
                best = min(best, time.perf_counter() - begun)
            times.append(best * 1000)
            told += bool(turn.sources)  # the entries here name no messages: excerpts alone do
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    print(
        f"before_turn beside {_ENTRIES} entries: p50 {p50:.2f} ms, p95 {p95:.2f} ms; "
        f"{told} of {len(questions)} with excerpts"
    )
    return {"p50_ms": round(p50, 3), "p95_ms": round(p95, 3)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("evals", type=Path)
    parser.add_argument("messages", type=int, nargs="*", default=[_MESSAGES])
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    written = [*measured_apart(chosen.evals, chosen.messages)]
    if chosen.json:
        chosen.json.write_text("".join(written), encoding="utf-8")
