"""Search over a long transcript: time and memory beside other engines on the same text, and needles of any age.

usage: python -m benchmarks.recall.scale EVALS_DIR [MESSAGES]

Times are of the processor, of one thread. The transcript (100,000 messages if nothing is said) is made of the sentences of the recorded conversations in new
order, every fifth message with a word and a number of its own; the questions are those of the conversations. bm25s,
tantivy and numpy are measured where they are installed.
"""

from __future__ import annotations

import gc
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.recall.items import Item, message_item
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.kinds import Kinds
from pipimem.recall.search.ranking import search
from pipimem.recall.synonyms import Synonyms, common
from pipimem.store.lock import FolderLock
from pipimem.store.pages import Pages
from pipimem.store.transcript import Transcript
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

from benchmarks.machine import heading, quantile
from benchmarks.recall.engines import Engine, installed
from benchmarks.recall.talks import lines, messages

_MESSAGES = 100_000
_NEEDLES = 20
_START = datetime(2020, 1, 1, 9, tzinfo=timezone(timedelta(hours=8)))
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_BATCH = 5_000


def talk(evals: Path, count: int, chance: random.Random) -> list[Message]:
    """So many messages, a quarter of them Chinese, half an hour of talk every three hours."""
    said = [message for path in sorted((evals / "transcripts").glob("*.jsonl")) for message in messages(path)]
    chinese = [one for one in said if not one.content.isascii() and "，" in one.content]
    other = [one for one in said if one.content.isascii()]
    pools = [[s for one in pool for s in _SENTENCE.split(one.content) if s] for pool in (chinese, other)]
    made = []
    for number in range(count):
        pool = pools[0] if number % 4 == 0 else pools[1]
        text = " ".join(chance.choices(pool, k=chance.randint(1, 3)))
        if number % 5 == 0:
            text += f" {_word(chance)} {chance.randrange(10_000)}"
        when = _START + timedelta(hours=3 * (number // 30), minutes=number % 30)
        made.append(Message.user(text, id=f"m{number + 1}", speaker=chance.choice(said).speaker, time=when))
    return made


def _word(chance: random.Random) -> str:
    return "".join(chance.choice(letters) for letters in ("bdfgklmnprstvz", "aeiou") * 3)


def measured(answer: Callable[[str], object], questions: Sequence[str]) -> tuple[float, float]:
    """p50 and p95 in ms of this thread's processor; each question's best of three, the machine has other things to do."""
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


def main(evals: Path, count: int) -> None:
    """Print the tables."""
    chance = random.Random(4)
    questions = [row["query"] for path in sorted((evals / "questions").glob("*.jsonl")) for row in lines(path)]
    chance.shuffle(questions)
    questions = questions[:200]
    made = talk(evals, count, chance)
    words_of_needles = _hide(made, chance)
    size = sum(len(message.content.encode()) for message in made)
    print(heading(f"Search over {count:,} messages, {size / 1e6:.1f} MB of text, {len(questions)} questions"))
    with tempfile.TemporaryDirectory() as folder:
        transcript = Transcript(Path(folder), FolderLock(Path(folder) / "lock"))
        for start in range(0, count, _BATCH):
            transcript.append(made[start : start + _BATCH])
        texts = [message.content for message in made]
        del made
        segmenter = Segmenter(Path(folder) / "dictionary")
        segmenter.load_all()
        words = Words(segmenter)
        _pipimem(words, transcript, questions, words_of_needles, size)
        print("\n| engine | p50 ms | p95 ms | build s |\n|---|---|---|---|")
        for name, engine in installed():
            _row(name, engine, texts, words, questions)


def _row(name: str, engine: Engine, texts: list[str], words: Words, questions: list[str]) -> None:
    begun = time.thread_time()
    answer = engine(texts, words)
    built = time.thread_time() - begun
    p50, p95 = measured(answer, questions)
    print(f"| {name} | {p50:.2f} | {p95:.2f} | {built:.1f} |", flush=True)


def _hide(made: list[Message], chance: random.Random) -> list[tuple[str, str]]:
    """Put a fact of its own into 20 messages of all ages; give question and id of each."""
    needles = []
    for number in range(_NEEDLES):
        place = number * (len(made) - 1) // (_NEEDLES - 1)
        name, thing = _word(chance).title(), _word(chance)
        text = f"{name} 把 {thing} 放在第三个抽屉" if number % 2 else f"{name} keeps the {thing} in the third drawer"
        one = made[place]
        made[place] = Message.user(text, id=one.id, speaker=one.speaker, time=one.time)
        needles.append(
            (f"{name} 把 {thing} 放哪了？" if number % 2 else f"Where does {name} keep the {thing}?", one.id)
        )
    return needles


def _pipimem(
    words: Words, transcript: Transcript, questions: list[str], needles: list[tuple[str, str]], size: int
) -> None:
    words.bag("warm up 预热")
    gc.collect()
    before, begun = resident(), time.thread_time()
    pages = Pages(transcript)

    def item(slot: int) -> Item:
        return message_item(pages.message(slot))

    index = TranscriptIndex(words, item)
    index.add(map(message_item, pages.fresh()))
    built = time.thread_time() - begun
    gc.collect()
    held = resident() - before
    now, kinds, synonyms = _START + timedelta(days=3000), Kinds(), Synonyms.of(common())
    p50, p95 = measured(lambda question: search(index, question, now=now, synonyms=synonyms, kinds=kinds), questions)
    found = sum(
        any(
            one.item.id == f"log:{name}"
            for one in search(index, question, now=now, synonyms=synonyms, kinds=kinds, limit=5)
        )
        for question, name in needles
    )
    print(f"pipimem: p50 {p50:.2f} ms, p95 {p95:.2f} ms; built in {built:.1f} s")
    print(f"memory of the index: {held / 1e6:.1f} MB, {held / size:.2f} times the text")
    print(f"needles found among the first five: {found} of {len(needles)}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else _MESSAGES)
