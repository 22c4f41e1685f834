"""What must hold over a damaged file: turns answer, notes stay, errors and the doctor speak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from pipimem import Channel, Message
from pipimem.notes.files import File

from benchmarks.commands import complaint, is_sentence, ran
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.journeys import CHANNEL, runtime, silent

NOTES = (File.MEMORY, File.SESSION, File.HISTORY)
SAID = "the newest word of all"
READING = (
    ("status",), ("maintain", "--dry-run"), ("doctor",),
    ("recall", CHANNEL, "who waters the plants?"), ("search", CHANNEL, "plant"), ("log", CHANNEL),
)  # fmt: skip
"""Commands that look; none may end in a traceback."""
Call = Callable[[], Awaitable[object]]
# A command takes 0.1 s; the store itself waits 10 s for a lock.
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Lasting:
    """What must stand afterwards: lines of the notes and of the log, and a fact that waits."""

    notes: Counter[str]
    log: frozenset[bytes]
    pending: str = ""


def endured(root: Path, lasting: Lasting, *, fix_first: bool) -> list[str]:
    """What is wrong with how a damaged workspace is met, in a process of its own."""
    ended = in_child(lambda say: _met(root, say, lasting, fix_first=fix_first), seconds=_SECONDS)
    wrong = [str(line[0]) for line in ended.of("wrong")]
    if ended.how != "done":
        return [*wrong, f"{_last(ended)} {ended.how} {ended.of('raised')[-1:] or ''}"]
    # A compaction writes SESSION.md anew: that one was looked at before.
    session = [line for line in lasting.notes if line.startswith(File.SESSION)]
    kept = lasting.notes - Counter({line: lasting.notes[line] for line in session})
    return [*wrong, *_gone(root, kept), *_gone_from_the_log(root, lasting.log)]


def warm(root: Path) -> None:
    """Loads once, in this process, what each of its children would have to load anew."""
    _met(root, silent, Lasting(Counter(), frozenset()), fix_first=False)


def _last(ended: Ended) -> str:
    began = ended.of("began")
    return str(began[-1][0]) if began else "the start"


def _met(root: Path, say: Say, lasting: Lasting, *, fix_first: bool) -> None:
    for command in READING:
        _command(root, command, say)
    if fix_first:
        _fixed(root, say)
    anyio.run(_turns, root, say, lasting)
    if not fix_first:
        _fixed(root, say)
        _goes_on_after(root, say)


def _command(root: Path, command: tuple[str, ...], say: Say) -> int:
    name = " ".join(command)
    say("began", name)
    try:
        done = ran(root, *command)
    except BaseException as error:  # noqa: BLE001 - a user would see a traceback
        say("wrong", f"{name} {complaint(error) or 'ended in a traceback of ours'}")
        return 1
    if done.code and not is_sentence(done.printed):
        say("wrong", f"{name} ended with {done.code} and said only {done.printed!r}")
    return done.code


async def _turns(root: Path, say: Say, lasting: Lasting) -> None:
    """A turn, a memory, a compaction: some always answer, others may refuse in a sentence."""
    say("began", "open")
    try:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            for name, call, may_refuse in _calls(channel):
                say("began", name)
                done = await _called(name, call, say, may_refuse=may_refuse)
                must = lasting.notes
                if name == "remember" and done and lasting.pending:
                    must = must + Counter([lasting.pending])
                if name != "before_compaction":
                    for one in _gone(root, must):
                        say("wrong", f"after {name} {one}")
            say("began", "close")
    except BaseException as error:  # noqa: BLE001 - what is not ours is found out
        if why := complaint(error):
            say("wrong", f"open or close {why}")


def _calls(channel: Channel) -> Iterator[tuple[str, Call, bool]]:
    said = [Message.user(SAID, id="new-1", speaker="alice")]
    yield "before_turn", lambda: channel.before_turn("who waters the plants?"), False
    yield "after_turn", lambda: channel.after_turn(None, said), True
    yield "remember", lambda: channel.remember("the lift is out of order"), True
    yield "before_compaction", lambda: channel.before_compaction(deadline=5), False


async def _called(name: str, call: Call, say: Say, *, may_refuse: bool) -> bool:
    """Whether the call went well; what it raised must be ours, and only where it may."""
    try:
        answer = await call()
    except Exception as error:  # noqa: BLE001 - what is not ours is found out
        why = complaint(error)
        if why or not may_refuse:
            say("wrong", f"{name} {why or f'raised {error}'}")
        return False
    problem = getattr(answer, "problem", "")
    if problem and not is_sentence(problem):
        say("wrong", f"{name} told no sentence: {problem!r}")
    return not problem


def _fixed(root: Path, say: Say) -> None:
    """After `doctor --fix` the doctor says well, or what is not; a traceback is neither."""
    _command(root, ("doctor", "--fix"), say)
    say("well", _command(root, ("doctor",), say) == 0)


def _goes_on_after(root: Path, say: Say) -> None:
    """Where the doctor says that all is well, memory works."""
    if _command(root, ("doctor",), say):
        return
    say("began", "remember after the doctor")

    async def remembered() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            turn = await channel.before_turn("who waters the plants?")
            if turn.problem:
                say("wrong", f"the doctor says well, and before_turn {turn.problem}")
            await channel.remember("the lift works again")

    try:
        anyio.run(remembered)
    except Exception as error:  # noqa: BLE001 - whatever it is, the doctor was wrong
        say("wrong", f"the doctor says well, and remember raised {type(error).__name__}: {error}")


def _gone(root: Path, must: Counter[str]) -> Iterator[str]:
    """Lines of the notes that stood before, and stand no more."""
    if gone := must - lines_of(root / "channels" / CHANNEL):
        yield f"lines of the notes are gone: {list(gone)}"


def _gone_from_the_log(root: Path, must: frozenset[bytes]) -> Iterator[str]:
    paths = [path for path in (root / "channels" / CHANNEL).glob("log*") if path.is_file()]
    there = b"".join(path.read_bytes() for path in paths if not path.is_symlink())
    if missing := must - frozenset(there.splitlines()):
        yield f"lines of the log are gone: {sorted(missing)[:2]}"


def lines_of(folder: Path) -> Counter[str]:
    """The lines of the notes but headings, which come with what stands below them."""
    found: Counter[str] = Counter()
    for file in NOTES:
        path = folder / file
        text = path.read_text(errors="replace") if path.is_file() else ""
        lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
        found.update(f"{file}: {line}" for line in lines)
    return found
