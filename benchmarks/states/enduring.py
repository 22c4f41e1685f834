"""What must hold over a damaged file: turns answer, notes stay, errors and the doctor speak."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from pipimem import Channel, Message
from pipimem.notes.files import File

from benchmarks.commands import complaint, is_sentence, ran
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.journeys import CHANNEL, SECRET, runtime, silent

NOTES = (File.MEMORY, File.SESSION, File.HISTORY)
BESIDES = ("the roses are red", "the lilies are white")
"""What another channel of the workspace was told."""
SAID = "the newest word of all"
READING = (
    ("status",), ("doctor",), ("maintain", "--dry-run"), ("recall", CHANNEL,
    "who waters the plants?"),
    ("search", CHANNEL, "plant"), ("log", CHANNEL), ("blame", CHANNEL), ("diff", CHANNEL),
    ("usage",),
    ("show", CHANNEL), ("show", CHANNEL, "log"), ("diff", CHANNEL, "--since", "1"),
    ("forget", CHANNEL, "--verify", SECRET), ("search", CHANNEL, "tea"),
)  # fmt: skip
"""Commands that look; none may end in a traceback.

The first two look at each state, and three others drawn by lot.
"""
_ALWAYS, _BY_LOT = 2, 3
_WRITING = (
    ("undo", CHANNEL), ("forget", CHANNEL, SECRET, "--yes"), ("consolidate", CHANNEL),
    ("maintain",),
    ("restore", CHANNEL, "--to", "2", "--yes"), ("remember", CHANNEL, "the roof is green"),
)  # fmt: skip
Call = Callable[[], Awaitable[object]]
# A command takes 0.1 s; the store itself waits 10 s for a lock.
_SECONDS = 40


@dataclass(frozen=True, slots=True)
class Lasting:
    """What must stand afterwards: lines of the notes and of the log, and a fact that waits."""

    notes: Counter[str]
    log: frozenset[bytes]
    pending: str = ""


Commands = tuple[tuple[str, ...], ...]


def readers(dice: random.Random) -> Commands:
    """The commands that look at a state, and at the end one that writes; all but some are another
    lot each time.
    """
    return (*READING[:_ALWAYS], *dice.sample(READING[_ALWAYS:], _BY_LOT), dice.choice(_WRITING))


def endured(root: Path, lasting: Lasting, commands: Commands, *, fix_first: bool) -> list[str]:
    """What is wrong with how a damaged workspace is met, in a process of its own."""
    return _judged(root, lambda say: _met(root, say, lasting, commands, fix_first=fix_first)) or []


def endured_while_running(
    root: Path, damage: Callable[[], Lasting | None], commands: Commands
) -> list[str] | None:
    """The same where the damage is done between two turns of a bot; `None` where it changed
    nothing.
    """
    return _judged(root, lambda say: _met_running(root, say, damage, commands))


def warm(root: Path) -> None:
    """Loads once, in this process, what each of its children would have to load anew."""
    commands = (*READING, ("status",))
    _met(root, silent, Lasting(Counter(), frozenset()), commands, fix_first=False)


def _judged(root: Path, work: Callable[[Say], None]) -> list[str] | None:
    """What a process of its own said to be wrong, and how it ended; `None` where it had nothing to
    do.
    """
    owner = root.stat().st_uid

    def as_its_owner(say: Say) -> None:
        if owner != os.geteuid():
            os.setresuid(owner, owner, owner)
        work(say)

    ended = in_child(as_its_owner, seconds=_SECONDS)
    if ended.of("unchanged"):
        return None
    wrong = [str(line[0]) for line in ended.of("wrong")]
    if ended.how != "done":
        wrong.append(f"{_last(ended)} {ended.how} {ended.of('raised')[-1:] or ''}")
    return wrong


def _last(ended: Ended) -> str:
    began = ended.of("began")
    return str(began[-1][0]) if began else "the start"


def _met(root: Path, say: Say, lasting: Lasting, commands: Commands, *, fix_first: bool) -> None:
    folder = root / "channels" / CHANNEL
    notes = _bytes_of(folder)
    for command in commands[:-1]:
        _command(root, command, say)
    if _bytes_of(folder) != notes:
        say("wrong", "commands that look changed the notes")
    if fix_first:
        _fixed(root, say)
    anyio.run(_turns, root, say, lasting)
    _ended(root, say, lasting, commands)


def _met_running(
    root: Path, say: Say, damage: Callable[[], Lasting | None], commands: Commands
) -> None:
    lasting: list[Lasting] = []

    async def lived() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            turn = await channel.before_turn("who likes tea?")
            await channel.after_turn(
                turn, [Message.user("I like tea", id="before-1", speaker="alice")]
            )
            await channel.remember("the door squeaks")
            if (found := damage()) is None:
                say("unchanged")
                return
            lasting.append(replace(found, pending=""))
            await _four(channel, root, say, lasting[0])
            say("began", "close")

    try:
        anyio.run(lived)
    except BaseException as error:  # noqa: BLE001 - what is not ours is found out
        if why := complaint(error):
            say("wrong", f"open or close {why}")
    if lasting:
        for command in commands[:-1]:
            _command(root, command, say)
        _ended(root, say, lasting[0], commands)


def _ended(root: Path, say: Say, lasting: Lasting, commands: Commands) -> None:
    """Mends, goes on, and says what is gone; then one more command writes."""
    _fixed(root, say)
    _goes_on_after(root, say)
    # A compaction writes SESSION.md anew: that one was looked at before.
    session = [line for line in lasting.notes if line.startswith(File.SESSION)]
    kept = lasting.notes - Counter({line: lasting.notes[line] for line in session})
    for one in (
        *_gone(root, kept),
        *_gone_from_the_log(root, lasting.log),
        *_of_another_channel(root),
    ):
        say("wrong", one)
    _command(root, commands[-1], say)


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
            await _four(await pipimem.channel(CHANNEL), root, say, lasting)
            say("began", "close")
    except BaseException as error:  # noqa: BLE001 - what is not ours is found out
        if why := complaint(error):
            say("wrong", f"open or close {why}")


async def _four(channel: Channel, root: Path, say: Say, lasting: Lasting) -> None:
    """The four calls of a bot, and what each leaves of the notes and the log."""
    folder = root / "channels" / CHANNEL
    for name, call, may_refuse in _calls(channel):
        say("began", name)
        notes = _bytes_of(folder)
        done = await _called(name, call, say, may_refuse=may_refuse)
        must = lasting.notes
        if name == "before_turn" and _bytes_of(folder) != notes:
            say("wrong", "before_turn changed the notes")
        if name == "after_turn" and done and SAID not in _log_of(root).decode(errors="replace"):
            say("wrong", "after_turn went well, and the message is not in the log")
        if name == "remember" and done and lasting.pending:
            must = must + Counter([lasting.pending])
        if name != "before_compaction":
            for one in _gone(root, must):
                say("wrong", f"after {name} {one}")


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
    if not all(os.access(path, os.R_OK) for path in _logs(root)):
        return
    if missing := must - frozenset(_log_of(root).splitlines()):
        yield f"lines of the log are gone: {sorted(missing)[:2]}"


def _logs(root: Path) -> list[Path]:
    """The parts of the log, as far as its folder lets us in."""
    folder = root / "channels" / CHANNEL
    return list(folder.glob("log*")) if os.access(folder, os.R_OK | os.X_OK) else []


def _of_another_channel(root: Path) -> Iterator[str]:
    """Lines of the notes that only the other channel was ever told."""
    for line in lines_of(root / "channels" / CHANNEL):
        if line.endswith(BESIDES):
            yield f"another channel's line stands in {line}"


def _log_of(root: Path) -> bytes:
    """All parts of the log, as far as they can be read."""
    paths = [path for path in _logs(root) if path.is_file()]
    return b"".join(
        path.read_bytes() for path in paths if not path.is_symlink() and os.access(path, os.R_OK)
    )


def _bytes_of(folder: Path) -> tuple[bytes, ...]:
    """The notes, byte for byte."""
    return tuple(
        (folder / file).read_bytes() if _is_readable(folder / file) else b"" for file in NOTES
    )


def _is_readable(path: Path) -> bool:
    return os.access(path, os.R_OK) and path.is_file()


def lines_of(folder: Path, but: str = "") -> Counter[str]:
    """The lines of the notes but headings, which come with what stands below them, and those with
    some words.
    """
    found: Counter[str] = Counter()
    for file in NOTES:
        path = folder / file
        text = path.read_text(errors="replace") if _is_readable(path) else ""
        lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
        found.update(
            f"{file}: {line}" for line in lines if not but or but.casefold() not in line.casefold()
        )
    return found
