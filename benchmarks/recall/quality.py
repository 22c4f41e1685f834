"""Recall on the notes-scale set, search on the transcripts, and how long they take.

usage: python -m benchmarks.recall.quality EVALS_DIR [OUT_DIR]

EVALS_DIR holds `notes-scale/`, `transcripts/`, `questions/` and `score.py`. Result lines go to
OUT_DIR (else a temporary folder) in the format that `score.py` reads.
"""

from __future__ import annotations

import json
import platform
import runpy
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Note, Notes
from pipimem.recall.budget import Limits
from pipimem.recall.index import Index
from pipimem.recall.recall import recall
from pipimem.recall.sync import IndexSync
from pipimem.text.words.index_words import Words

from benchmarks.recall.talks import lines, talks
from benchmarks.segmenting import loaded_segmenter

_KEY = b"benchmark"
_REPEATS = 5


def notes_of(workspace: Path, channel: str) -> Notes:
    """The notes of one channel, straight from its files."""
    folder = workspace / "channels" / channel

    def note(file: File, path: Path) -> Note:
        return Note.read(file, path.read_text(encoding="utf-8"), _KEY)

    files = (note(file, folder / file) for file in (File.SESSION, File.MEMORY, File.HISTORY))
    return Notes(_KEY, *files, note(File.MEMORY, workspace / "MEMORY.md"), Ledger())


def notes_scale(words: Words, evals: Path, out: Path) -> None:
    """Recall over 50, 500 and 5,000 entries: quality lines, then a table of times."""
    workspace = evals / "notes-scale"
    questions = lines(workspace / "questions.jsonl")
    now = datetime(2026, 8, 20, tzinfo=UTC)
    results = []
    titles = ("items", "build ms", "look p50", "recall p50", "p95 ms", "turn p50", "p95 ms")
    print(f"\n{'channel':12}" + "".join(f"{title:>11}" for title in titles))
    for channel in dict.fromkeys(question["channel"] for question in questions):
        notes, index_sync = notes_of(workspace, channel), IndexSync(Index(words))
        begun = time.perf_counter()
        index_sync.update(notes)
        index = index_sync.index
        built = time.perf_counter() - begun
        looks, recalls, turns = [], [], []
        asked = [question for question in questions if question["channel"] == channel]
        for turn in range(_REPEATS):
            for question in asked:
                start = time.perf_counter()
                index_sync.update(notes)
                looked = time.perf_counter()
                found = recall(index, question["query"], now=now, limits=Limits(candidates=12))
                context = found.context(b"benchmark")
                end = time.perf_counter()
                looks.append(looked - start)
                recalls.append(end - looked)
                turns.append(end - start)
                if turn == _REPEATS - 1:
                    results.append(
                        question
                        | {
                            "candidates": [
                                {
                                    "rank": one.rank,
                                    "id": one.item.id,
                                    "source": one.item.source,
                                    "score": one.score,
                                    "content": one.item.text,
                                }
                                for one in found.candidates
                            ],
                            "context": context,
                            "reason": found.reason,
                            "elapsed_ms": (end - looked) * 1000,
                        }
                    )
        figures = (ms(looks, 50), ms(recalls, 50), ms(recalls, 95), ms(turns, 50), ms(turns, 95))
        print(
            f"{channel:12}{len(index):11}{built * 1000:11.1f}"
            + "".join(f"{figure:11.3f}" for figure in figures)
        )
    write(out / "notes-scale.jsonl", results)


def transcripts(words: Words, evals: Path, out: Path) -> None:
    """Search in the recorded conversations."""
    zh, en = [], []
    for talk in talks(evals, words):
        for question in talk.questions:
            start = time.perf_counter()
            ids = talk.found(question["query"])
            elapsed = (time.perf_counter() - start) * 1000
            found = [{"rank": rank, "id": one} for rank, one in enumerate(ids, 1)]
            (zh if talk.chinese else en).append(
                question | {"candidates": found, "elapsed_ms": elapsed}
            )
    write(out / "search-en.jsonl", en)
    write(out / "search-zh.jsonl", zh)


def ms(seconds: list[float], percentile: int) -> float:
    """A percentile in milliseconds."""
    return statistics.quantiles(seconds, n=100)[percentile - 1] * 1000


def write(path: Path, rows: list[dict]) -> None:
    """One JSON object a line."""
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


def main(evals: Path, out: Path) -> None:
    """Run everything and print the tables."""
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    out.mkdir(parents=True, exist_ok=True)
    words = Words(loaded_segmenter())
    notes_scale(words, evals, out)
    transcripts(words, evals, out)
    score = runpy.run_path(str(evals / "score.py"))["main"]
    print()
    score([str(path) for path in sorted(out.glob("*.jsonl"))])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else temporary))
