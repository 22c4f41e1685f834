"""What cutting text into words costs: cold as a process, warm per character.

Run: python benchmarks/words.py
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from statistics import median

from pipimem.text.token_count import estimate
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

CHINESE = "今晚的上线窗口改到下周四晚上十点，由小王负责回滚方案，其他人待命；我们决定先用pnpm安装依赖再发布v2.3.1。"
ENGLISH = (
    "Alice prefers short answers, and moved the nimbus-gateway checks to src/sync/checksum.ts "
    "before the release. "
)

FIRST_CUT = (
    "from pipimem.text.words.segmentation import Segmenter; Segmenter().cut('上线窗口是什么')"
)
IMPORT = "from pipimem.text import segmentation, words, tokens, similarity"
NOTHING = "pass"


def process_ms(code: str) -> float:
    """The median of a whole process, in milliseconds."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return median(times) * 1000


def million_a_second(work, text: str) -> float:
    """Characters a second, in millions; the best of five rounds over 200,000 characters."""
    lines = [text] * (200_000 // len(text))
    best = min(_timed(work, lines) for _ in range(5))
    return len(text) * len(lines) / best / 1e6


def _timed(work, lines: list[str]) -> float:
    start = time.perf_counter()
    for line in lines:
        work(line)
    return time.perf_counter() - start


def main() -> None:
    start = time.perf_counter()
    segmenter = Segmenter()
    segmenter.cut("".join(map(chr, range(0x4E00, 0x9FD6))))
    loaded = time.perf_counter() - start
    bag = Words(segmenter).bag
    rows = [
        ("jieba and its whole dictionary", f"{loaded * 1000:.0f} ms"),
        ("python -c pass", f"{process_ms(NOTHING):.0f} ms"),
        ("process that imports the words", f"{process_ms(IMPORT):.0f} ms"),
        ("process that cuts its first text", f"{process_ms(FIRST_CUT):.0f} ms"),
        ("cut, Chinese", f"{million_a_second(segmenter.cut, CHINESE):.2f} M chars/s"),
        ("bag, Chinese", f"{million_a_second(bag, CHINESE):.2f} M chars/s"),
        ("bag, English", f"{million_a_second(bag, ENGLISH):.2f} M chars/s"),
        ("token estimate, Chinese", f"{million_a_second(estimate, CHINESE):.2f} M chars/s"),
        ("token estimate, English", f"{million_a_second(estimate, ENGLISH):.2f} M chars/s"),
    ]
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    for name, figure in rows:
        print(f"{name:<40}{figure:>20}")


if __name__ == "__main__":
    main()
