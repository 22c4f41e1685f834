"""Several processes at one workspace, and a hand in its files: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Channel, Message, PipimemError
from tests.promises.journeys import BY_NAME
from tests.promises.libc_shim import pause_at
from tests.promises.lived_workspace import messages
from tests.promises.processes import command, finish, finish_command, start, start_command
from tests.promises.trials import Stages

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")

CHANNELS = ("team", "hall")
DEEDS = {
    "remember": 8,
    "take out": 2,
    "turn": 4,
    "read": 3,
    "append": 2,
    "rename": 1,
    "compact": 1,
    "forget": 1,
}
# Words that no number shares a piece with, so that no entry resembles another.
_LETTERS = "bcdfghjklmnpqrstvwxz"


def word(seed: str) -> str:
    """A word that resembles no other."""
    return "".join(random.Random(seed).choices(_LETTERS, k=9))


@dataclass(frozen=True, slots=True)
class Diary:
    """What a process did: a line for each deed that is begun, and for each that is acknowledged."""

    path: Path

    def note(self, *fields: str) -> None:
        """Add a line, on disk before anything else happens."""
        with self.path.open("a") as file:
            file.write("\t".join(fields) + "\n")

    def lines(self) -> list[list[str]]:
        """All lines so far."""
        text = self.path.read_text() if self.path.exists() else ""
        return [line.split("\t") for line in text.splitlines()]


def work(root: str, part: int, deeds: int, seed: int) -> None:
    """Do deeds in two channels until there were enough, of this process and of those before it."""
    anyio.run(_work, Path(root), part, deeds, seed)


async def _work(root: Path, part: int, deeds: int, seed: int) -> None:
    diary = Diary(root / f"diary-{part}")
    done = sum(line[0] == "began" for line in diary.lines())
    dice = random.Random(f"{seed} {part} {done}")
    async with front_door.quiet(root) as pipimem:
        channels = [await pipimem.channel(name, kind="group") for name in CHANNELS]
        for number in range(done, deeds):
            channel = dice.choice(channels)
            folder = front_door.folder_of(root, channel.id)
            # Two hands that overwrite each other's file are between them: only one renames.
            names = [name for name in DEEDS if name != "rename" or part == 0]
            [deed] = dice.choices(names, [DEEDS[name] for name in names])
            diary.note("began", deed, channel.id)
            try:
                await _deeds[deed](channel, folder, diary, word(f"{seed} {part} {number}"), dice)
            except PipimemError as error:
                diary.note("refused", deed, channel.id, f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 - each is a failure, whatever it is
                diary.note("raised", deed, channel.id, repr(error))


async def _remember(channel: Channel, _: Path, diary: Diary, mark: str, __: object) -> None:
    await front_door.remember(channel, f"fact {mark}")
    diary.note("there", channel.id, f"fact {mark}")


async def _take_out(channel: Channel, _: Path, diary: Diary, __: str, dice: random.Random) -> None:
    facts = [each for each in await front_door.entries(channel) if "fact " in each.text]
    if facts:
        fact = dice.choice(facts)
        diary.note("may go", channel.id, fact.text)
        await front_door.take_out(channel, fact.id)
        diary.note("gone", channel.id, fact.text)


async def _forget(channel: Channel, _: Path, diary: Diary, mark: str, dice: random.Random) -> None:
    facts = [each for each in await front_door.entries(channel) if "fact " in each.text]
    if facts:
        fact = dice.choice(facts)
        diary.note("may go", channel.id, fact.text)
        await front_door.forget(channel, fact.text)
        diary.note("gone", channel.id, fact.text)


async def _turn(channel: Channel, _: Path, diary: Diary, mark: str, __: object) -> None:
    turn = await front_door.before_turn(channel, f"What of {mark}?", speaker="alice")
    assert not turn.problem, turn.problem
    said = [Message.user(f"What of {mark}?", id=mark), Message.assistant("ok", id=f"{mark}-a")]
    await front_door.after_turn(channel, turn, said)
    diary.note("said", channel.id, mark)
    diary.note("said", channel.id, f"{mark}-a")


async def _read(channel: Channel, _: Path, __: Diary, mark: str, ___: object) -> None:
    assert not (await front_door.before_turn(channel, f"Is {mark} there?")).problem
    await front_door.search(channel, mark)


async def _append(channel: Channel, folder: Path, diary: Diary, mark: str, _: object) -> None:
    """A hand adds a line in place."""
    with (folder / "MEMORY.md").open("a") as file:
        file.write(f"- typed {mark}\n")
    diary.note("there", channel.id, f"typed {mark}")


async def _rename(channel: Channel, folder: Path, diary: Diary, mark: str, _: object) -> None:
    """A hand adds a line to SESSION.md and saves by rename; nobody else types into that file."""
    path = folder / "SESSION.md"
    fresh = path.with_name(f"buffer {mark}")
    text = path.read_text("utf-8") if path.exists() else "## Notes\n\n"
    head, heading, tail = text.partition("## Notes\n\n")
    fresh.write_text(f"{head}{heading or '## Notes'}- sheet {mark}\n{tail}", "utf-8")
    fresh.replace(path)
    diary.note("there", channel.id, f"sheet {mark}")


async def _compact(channel: Channel, _: Path, diary: Diary, mark: str, __: object) -> None:
    said = Message.user(f"We decided to paint {mark}.", id=f"{mark}-c", speaker="bob")
    receipt = await front_door.before_compaction(channel, [said], deadline=30)
    if receipt.may_compact:
        diary.note("said", channel.id, said.id)
        await front_door.compacted(channel, receipt)


_deeds = {
    "remember": _remember,
    "take out": _take_out,
    "turn": _turn,
    "read": _read,
    "append": _append,
    "rename": _rename,
    "compact": _compact,
    "forget": _forget,
}


def run_crowd(root: Path, crew: int, deeds: int, *, kills: int, commands: int) -> list[str]:
    """Let processes work, and commands beside them; returns what is wrong at the end."""
    for name in CHANNELS:
        assert command(root, "remember", name, "the first fact").code == 0
    dice = random.Random(1)
    workers = [start(work, str(root), part, deeds, 1) for part in range(crew)]
    wrong: list[str] = []
    while any(worker.is_alive() for worker in workers):
        if kills:
            kills -= 1
            part = dice.randrange(crew)
            if killed_at_work(workers[part], Diary(root / f"diary-{part}"), dice):
                workers[part] = start(work, str(root), part, deeds, 1)
        elif commands:
            commands -= 1
            wrong += _command(root, dice.choice(CHANNELS), word(f"command {commands}"))
        else:
            time.sleep(0.02)
    wrong += [f"process {n} ended with {w.exitcode}" for n, w in enumerate(workers) if w.exitcode]
    return wrong + judged(root)


def killed_at_work(worker: BaseProcess, diary: Diary, dice: random.Random) -> bool:
    """Kill a process after a few more deeds; False if it came to its end before."""
    enough = len(diary.lines()) + dice.randint(1, 6)
    while worker.is_alive() and len(diary.lines()) < enough:
        time.sleep(0.002)
    time.sleep(dice.uniform(0, 0.01))
    if worker.pid and worker.is_alive():
        os.kill(worker.pid, signal.SIGKILL)
    return finish(worker) < 0


def _command(root: Path, name: str, mark: str) -> list[str]:
    """What is wrong with a few commands of an operator beside the bots."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a").mkdir()
        Path(folder, "b").mkdir()
        # Two at once.
        first = start_command(root, Path(folder, "a"), "remember", name, f"fact {mark}")
        second = start_command(root, Path(folder, "b"), "doctor")
        for what, ended in (
            ("remember", finish_command(*first)),
            ("doctor", finish_command(*second)),
        ):
            if ended.has_traceback or ended.code not in (0, 1):
                wrong.append(f"{what}: {ended.printed[-300:]}")
            if what == "remember" and ended.code == 0:
                Diary(root / "diary-command").note("there", name, f"fact {mark}")
    return wrong


def judged(root: Path) -> list[str]:
    """Hold notes and transcripts against the diaries."""
    lines = [line for path in root.glob("diary-*") for line in Diary(path).lines()]
    wrong = ["\t".join(line) for line in lines if line[0] == "raised"]
    # A process that waits for the lock longer than our timeout is refused; no other reason counts.
    wrong += ["\t".join(x) for x in lines if x[0] == "refused" and "LockTimeout" not in x[3]]
    for name in CHANNELS:
        notes = [front_door.note(root, name, file) for file in ("MEMORY.md", "SESSION.md")]
        entries = Counter(line.removeprefix("- ") for text in notes for line in text.splitlines())
        said = messages(root, name)
        told = {
            kind: [line[2] for line in lines if line[0] == kind and line[1] == name]
            for kind in ("there", "gone", "may go", "said")
        }
        stay = set(told["there"]) - set(told["may go"])
        wrong += [f"{name}: {text} is lost" for text in stay if not entries[text]]
        wrong += [f"{name}: message {each} is lost" for each in told["said"] if not said[each]]
        wrong += [f"{name}: {text} is back" for text in told["gone"] if entries[text]]
        ours = {
            text: n for text, n in entries.items() if text.startswith(("fact", "typed", "sheet"))
        }
        wrong += [f"{name}: {text} is there {n} times" for text, n in ours.items() if n > 1]
        wrong += [f"{name}: message {each} is there {n} times" for each, n in said.items() if n > 1]
    assert sum(line[0] in ("there", "said", "gone") for line in lines) > len(lines) / 4
    return wrong


@pytest.mark.parametrize("are_killed", [False, True])
def test_processes_hands_and_commands_lose_nothing(
    workspace: Path, are_killed: bool, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Turns, entries, deletions, a forget, compactions and hands at once; also with kills."""
    crew, deeds = (8, 500) if is_long else (3, 14)
    kills = (300 if is_long else 3) if are_killed else 0
    wrong = run_crowd(workspace, crew, deeds, kills=kills, commands=50 if is_long else 2)
    assert wrong == []
    assert command(workspace, "doctor").code == 0
    assert [path.name for path in workspace.rglob("*tmp*")] == []
    count_trials(crew * deeds)


def append(root: str, part: int, count: int) -> None:
    """Append messages to one channel, each with an id that others use too."""

    async def run() -> None:
        async with front_door.quiet(Path(root)) as pipimem:
            channel = await pipimem.channel("team", kind="group")
            for number in range(count):
                same = Message.user(f"redelivered {number}", id=f"same-{number}")
                own = Message.user(f"said {part}", id=f"own-{part}-{number}")
                await front_door.take_in(channel, [same, own])

    anyio.run(run)


def test_a_message_that_several_processes_deliver_is_stored_once(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Every process asks the platform and gets the same messages."""
    crew, count = (6, 300) if is_long else (3, 15)
    for process in [start(append, str(workspace), part, count) for part in range(crew)]:
        assert finish(process) == 0
    wanted = {f"same-{number}" for number in range(count)}
    wanted |= {f"own-{part}-{number}" for part in range(crew) for number in range(count)}
    assert messages(workspace, "team") == Counter(wanted)
    count_trials(crew * count)


def test_a_process_that_stands_still_keeps_nobody_waiting_for_ever(
    stages: Stages, is_long: bool
) -> None:
    """It is stopped in the middle of a commit: turns are answered at once, and writing ends at our
    own timeout, with an error that says so.
    """
    stage = stages.of(BY_NAME["remember"])
    stage.lay_out()

    async def live() -> list[str]:
        async with front_door.quiet(stage.root) as pipimem:
            channel = await pipimem.channel("team", kind="group")
            # In the middle of the first of its two commits.
            child = stage.start(pause_at(len(stage.calls) // 4))
            assert child.paused()
            turn = await front_door.before_turn(channel, "When does the release window open?")
            assert not turn.problem
            assert "opens at nine" in turn.context
            refused = []
            if is_long:
                with anyio.fail_after(60):
                    try:
                        await front_door.remember(channel, "written beside it")
                    except PipimemError as error:
                        refused.append(type(error).__name__)
            child.go_on()
            assert child.wait().how == "done"
            return refused

    refused = anyio.run(live)
    text = front_door.note(stage.root, "team")
    assert text.count("the office cat is called Miso") == 1
    assert text.count("written beside it") == (1 if is_long and not refused else 0)
    assert refused in ([], ["LockTimeout"])


@pytest.mark.parametrize("part", [1, 2, 3])
def test_talk_is_stored_while_a_commit_stands_still(stages: Stages, part: int) -> None:
    """An append, a turn and the first use of the channel end before the commit goes on, and all of
    it is there afterwards, once; the commit, too.
    """
    stage = stages.of(BY_NAME["remember"])
    stage.lay_out()

    async def live() -> list[str]:
        async with front_door.quiet(stage.root) as pipimem:
            opened = await pipimem.channel("team", kind="group")
            # In the middle of the first of its two commits.
            child = stage.start(pause_at(len(stage.calls) * part // 8))
            assert child.paused()
            assert not is_free(front_door.folder_of(stage.root, "team") / ".pipimem" / "lock")
            await front_door.take_in(opened, [Message.user("said beside it", id="beside-1")])
            turn = await front_door.before_turn(opened, "When does the release window open?")
            await front_door.after_turn(opened, turn, [Message.user("When?", id="beside-2")])
            async with front_door.quiet(stage.root) as other:
                fresh = await other.channel("team", kind="group", title="Another title")
                said = [Message.user(text, id=text) for text in ("beside-3", "beside-1")]
                stored = await front_door.take_in(fresh, said)
                child.go_on()
                assert child.wait().how == "done"
            return [message.id for message in stored]

    assert anyio.run(live) == ["beside-3"]
    found = messages(stage.root, "team")
    assert [found[f"beside-{number}"] for number in (1, 2, 3)] == [1, 1, 1]
    assert front_door.note(stage.root, "team").count("the office cat is called Miso") == 1


def is_free(path: Path) -> bool:
    """Return whether nobody holds the lock of a file."""
    with path.open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_two_bots_of_which_one_forgets_neither_lose_nor_double_anything(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """A forget writes files anew, and the disk may give a new file the number of an old one: the
    other bot must not take it for the file that it read.
    """
    rounds = 90 if is_long else 10
    padding = "lorem ipsum dolor sit amet " * 30

    async def live() -> None:
        first, second = front_door.quiet(workspace), front_door.quiet(workspace)
        a, b = [await each.channel("team", kind="group") for each in (first, second)]
        for number in range(rounds):
            text = f"door code {word(str(number))} {padding}"
            await front_door.take_in(a, [Message.user(text, id=f"code-{number}")])
            await front_door.remember(a, text)
        for number in range(rounds):
            await front_door.take_in(b, [Message.user("Hello.", id=f"b-{number}")])
            await front_door.before_turn(b, "Which door code?")
            await front_door.forget(a, f"door code {word(str(number))}")
            long = f"A says {number} {padding * (number % 3)}"
            await front_door.take_in(a, [Message.user(long, id=f"a-{number}")])
            await front_door.remember(a, f"fact {word(f'a {number}')}")
            again = [Message.user("Hello.", id=f"{bot}-{number}") for bot in "ab"]
            assert await front_door.take_in(b, again) == ()
            await front_door.remember(b, f"fact {word(f'b {number}')}")
            count_trials()

    anyio.run(live)
    ids = [f"{bot}-{number}" for bot in "ab" for number in range(rounds)]
    said = messages(workspace, "team")
    assert Counter({each: n for each, n in said.items() if each[:2] in ("a-", "b-")}) == Counter(
        ids
    )
    log = (front_door.folder_of(workspace, "team") / "log.jsonl").read_text("utf-8")
    assert [number for number in range(rounds) if word(str(number)) in log] == []
    facts = [f"- fact {word(f'{bot} {number}')}" for bot in "ab" for number in range(rounds)]
    assert Counter(front_door.note(workspace, "team").splitlines()) & Counter(facts) == Counter(
        facts
    )
    assert "door code" not in front_door.note(workspace, "team")
    assert command(workspace, "doctor").code == 0
