"""What a fresh process makes of a bot that was killed beside an editor, and what is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from pipimem import Message
from pipimem.notes.files import File
from pipimem.store.forget.verify import traces

from benchmarks.commands import complaint
from benchmarks.editors.journeys import MISTAKE
from benchmarks.editors.trial import Editor, memory_of
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.inspection import misbehaved
from benchmarks.faults.journeys import CHANNEL, NOW, SECRET, adding, opened, runtime

COLUMNS = (
    *("human lost", "acks lost", "forgotten", "doubled", "half", "raised", "dels back"),
    "ambiguous",
)
"""What must be 0; a deletion that an older buffer would look like is told apart."""
HUMAN, ACKED, FORGOTTEN, DOUBLED, HALF, RAISED, BACK, AMBIGUOUS = COLUMNS
_LAST = "the last fact of all"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that must not be: its column, and a sentence."""

    column: str
    told: str


def judged(
    root: Path, before: str, editor: Editor, ended: Ended, past: Iterable[str] = ()
) -> list[Loss]:
    """What is wrong after a trial.

    `before` is MEMORY.md as it stood when the trial began, `past` has the texts it was before.
    """
    found = [Loss(RAISED, one) for one in misbehaved(ended)]
    for look in (_used, _committed):
        fresh = in_child(lambda say, look=look: look(root, say))  # type: ignore[misc]
        found += [Loss(RAISED, f"afterwards {line[0]}") for line in fresh.of("wrong")]
        if fresh.how != "done":
            found.append(Loss(RAISED, f"afterwards it {fresh.how}: {fresh.of('raised')}"))
    found += _notes(root, before, editor, ended)
    found += _deletions(root, editor, ended, frozenset(_bullets(before)), past)
    found += _messages(root, ended)
    if any(SECRET in line for line in before.splitlines()):
        found += _forgotten(root, ended)
    return found


def _used(root: Path, say: Say) -> None:
    """A turn, a memory and a compaction, through the front door."""

    async def use() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            turn = await channel.before_turn("what does alice like?")
            if turn.problem:
                say("wrong", f"before_turn said {turn.problem}")
            await channel.after_turn(turn, [Message.user("fine weather", id="afterwards")])
            await channel.remember("umbrellas stand in the hall")
            receipt = await channel.before_compaction(deadline=5)
            if receipt.state == "failed":
                say("wrong", f"before_compaction said {receipt.reason}")

    try:
        anyio.run(use)
    except Exception as error:  # noqa: BLE001 - the parent judges it
        say("wrong", complaint(error) or f"raised {error}")


def _committed(root: Path, say: Say) -> None:  # noqa: ARG001 - what it raises is told by itself
    store = opened(root)
    store.commit(adding(_LAST), NOW)
    store.close()


def _notes(root: Path, before: str, editor: Editor, ended: Ended) -> Iterator[Loss]:
    there = Counter(memory_of(root).read_text().splitlines())
    acked = [f"- {line[0]}" for line in ended.of("entry")]
    gone = {editor.deleted.rstrip("\n")}
    for line in _bullets(before):
        may_go = line in gone or SECRET in line or MISTAKE in line
        if not there[line] and not may_go:
            yield Loss(HUMAN, f"gone: {line}")
    typed = editor.typed.rstrip("\n")
    if typed and not there[typed]:
        yield Loss(HUMAN, f"gone, and just typed: {typed}")
    yield from (Loss(ACKED, f"gone: {line}") for line in [*acked, f"- {_LAST}"] if not there[line])
    doubled = [line for line in there if line.startswith("- ") and there[line] > 1]
    yield from (Loss(DOUBLED, f"{there[line]} times {line}") for line in doubled)
    undone = [f"- {line[0]}" for line in ended.of("gone")]
    yield from (Loss(BACK, f"taken back: {line}") for line in undone if there[line])


def _deletions(
    root: Path, editor: Editor, ended: Ended, before: frozenset[str], past: Iterable[str]
) -> Iterator[Loss]:
    """A line that was deleted by hand and stands.

    It is ambiguous where the save has nothing that came since a text without the line: a writer who
    never read the line leaves the same bytes (`benchmarks/races/judging.py`).
    """
    line = editor.deleted.rstrip("\n")
    if not line or line not in memory_of(root).read_text().splitlines():
        return
    came = before | {f"- {entry[0]}" for entry in ended.of("entry")}
    saved = frozenset(_bullets(editor.saved))
    older = (frozenset(_bullets(text)) for text in past)
    is_ambiguous = any(line not in each and not saved & (came - each) for each in older)
    yield Loss(AMBIGUOUS if is_ambiguous else BACK, f"deleted by hand: {line}")


def _messages(root: Path, ended: Ended) -> Iterator[Loss]:
    store = opened(root)
    counts = Counter(message.id for message in store.transcript.messages())
    for name, *_ in ended.of("message"):
        count = counts[str(name)]
        if count != 1:
            yield Loss(DOUBLED if count else ACKED, f"message {name} stands {count} times")


def _forgotten(root: Path, ended: Ended) -> Iterator[Loss]:
    """Forgotten means nowhere; cut off or refused, it is everywhere or nowhere."""
    left = [trace.path for trace in traces([root / "channels", root / ".pipimem"], SECRET)]
    if ended.of("forgotten"):
        files = dict.fromkeys(path.relative_to(root) for path in left)
        yield from (Loss(FORGOTTEN, f"left in {path}") for path in files)
    elif left and not {File.MEMORY.value, "log.jsonl"} <= {path.name for path in left}:
        names = sorted({str(path.relative_to(root)) for path in left})
        yield Loss(HALF, f"it {ended.how}, and the words are left in {names}")


def _bullets(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]
