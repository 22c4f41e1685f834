"""What the regression check of a tidying costs: 50 questions asked of the old and of the new
memory.

usage: python benchmarks/regression.py

At 500 and 5,000 entries, three tidyings of 30 operations each: one that loses nothing, one with
three operations that would lose an answer, and one where all 30 would. No model is asked by any of
it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from pipimem.memory.regression import RecallCase, RegressionCheck
from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision, Invalidate, Supersede, Trust
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading
from benchmarks.segmenting import loaded_segmenter

_KEY = b"benchmark"
_NOW = datetime(2026, 8, 20, tzinfo=UTC)
_REPEATS = 5
_QUESTIONS = 50
_OPERATIONS = 30
_WHO = ("Dana", "Marco", "林晓", "王磊", "Priya", "the night team", "运维组")
_DOES = ("owns", "moved", "负责", "上线了", "wants to retire", "documented", "评审过")
_WHAT = (
    "gateway",
    "支付服务",
    "login page",
    "对账任务",
    "mail relay",
    "搜索索引",
    "backup job",
    "看板",
)
_HOW = ("on port {}", "版本 {}", "since build {}", "在 {} 号机房", "with ticket {}")


def memory(count: int, chance: random.Random) -> str:
    """A MEMORY.md of so many entries, each with a number of its own."""
    lines = [
        f"- {chance.choice(_WHO)} {chance.choice(_DOES)} {chance.choice(_WHAT)} "
        f"{chance.choice(_HOW).format(1000 + n)}\n"
        for n in range(count)
    ]
    return "# Memory\n\n## Facts\n\n" + "".join(lines)


def notes_of(text: str) -> Notes:
    """Its notes, every entry a thought's."""
    note = Note.read(File.MEMORY, text, _KEY)
    records = {
        entry.id: Record(Trust.INFERRED, "fact", when=_NOW.isoformat()) for entry in note.entries
    }
    rest = (Note.read(file, "", _KEY) for file in (File.SESSION, File.HISTORY, File.MEMORY))
    session, history, workspace = rest
    return Notes(_KEY, session, note, history, workspace, Ledger(records=records))


def tidying(entries: Sequence[Entry], wanted: Sequence[Entry], bad: int) -> Decision:
    """30 operations: so many drop an entry that is asked for, the others drop or merge what nobody
    asks for.
    """
    free = [entry for entry in entries if entry not in wanted]
    good = [
        Supersede(
            (free[2 * n].target, free[2 * n + 1].target),
            f"{free[2 * n].text}; {free[2 * n + 1].text}",
            Trust.INFERRED,
        )
        if n % 2
        else Invalidate(free[2 * n].target, "over")
        for n in range(_OPERATIONS - bad)
    ]
    operations = [*good, *(Invalidate(entry.target, "over") for entry in wanted[:bad])]
    random.Random(7).shuffle(operations)
    # A rule's decision: what a model may take out is a matter of the guards, not of this check.
    return Decision("tidy", Author.RULE, tuple(operations))


def measured(
    notes: Notes, words: Words, questions: Sequence[RecallCase], decision: Decision
) -> tuple[float, float, int]:
    """Milliseconds to build and ask the old memory, and to hold the decision; how many operations
    went. Best of some.
    """
    best = (float("inf"), float("inf"), 0)
    for _ in range(_REPEATS):
        start = time.perf_counter()
        check = RegressionCheck(notes, _NOW, questions, words)
        built = time.perf_counter()
        left = len(decision.operations) - len(check.without_losses(decision).operations)
        end = time.perf_counter()
        best = min(
            best,
            ((built - start) * 1000, (end - built) * 1000, left),
            key=lambda one: one[0] + one[1],
        )
    return best


def main() -> None:
    """Print the table."""
    print(
        heading("Regression check, 50 questions, 30 operations; best of 5, milliseconds", "jieba")
    )
    words = Words(loaded_segmenter())
    print(
        f"{'entries':>8}{'would lose':>12}{'build + old':>13}{'check':>9}{'all':>9}{'left out':>10}"
    )
    for count in (500, 5_000):
        chance = random.Random(count)
        notes = notes_of(memory(count, chance))
        wanted = chance.sample(notes.memory.entries, _QUESTIONS)
        questions = [RecallCase(f"{entry.text}?") for entry in wanted]
        for bad in (0, 3, _OPERATIONS):
            built, held, left = measured(
                notes, words, questions, tidying(notes.memory.entries, wanted, bad)
            )
            print(f"{count:8}{bad:12}{built:13.1f}{held:9.1f}{built + held:9.1f}{left:10}")


if __name__ == "__main__":
    main()
