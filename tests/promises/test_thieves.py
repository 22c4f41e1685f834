"""Processes that write while `.pipimem/` is deleted, put back from a backup, or copied."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import PipimemError
from tests.promises.processes import finish, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")

ROOM = "team"
_LETTERS = "bcdfghjklmnpqrstvwxz"


def word(seed: str) -> str:
    """A word that resembles no other."""
    return "".join(random.Random(seed).choices(_LETTERS, k=11))


def note(path: Path, *fields: str) -> None:
    """Add a line to what a process did."""
    with path.open("a") as file:
        file.write("\t".join(fields) + "\n")


def lines(path: Path) -> list[list[str]]:
    """What a process did so far."""
    text = path.read_text() if path.exists() else ""
    return [line.split("\t") for line in text.splitlines()]


def work(root: str, part: int, count: int) -> None:
    """Remember so many facts; one that was begun before a kill is not begun again."""
    anyio.run(_work, Path(root), part, count)


async def _work(root: Path, part: int, count: int) -> None:
    diary = root / f"diary-{part}"
    opened = watch_openings(root)
    done = sum(line[0] == "began" for line in lines(diary))
    async with front_door.quiet(root) as pipimem:
        channel = await pipimem.channel(ROOM, kind="group")
        for number in range(done, count):
            text = f"fact {word(f'{part} {number}')}"
            note(diary, "began", text)
            began = time.monotonic()
            try:
                await front_door.remember(channel, text)
            except PipimemError as error:
                note(diary, "refused", f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 - each is a failure, whatever it is
                note(diary, "raised", repr(error))
            else:
                note(diary, "there", text, f"{time.monotonic() - began:.3f}")
    for path in opened:
        note(diary, "opened", path)


def watch_openings(root: Path) -> set[str]:
    """The databases that Python code of this process opens from now on, by any name."""
    opened: set[str] = set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            name = os.fsdecode(arguments[0])
            if os.path.basename(name).startswith("state.db"):  # noqa: PTH119 - maybe bytes
                opened.add(name)

    sys.addaudithook(hook)
    return opened


def delete_all(own: Path, _: Path) -> None:
    """`rm -rf .pipimem`."""
    shutil.rmtree(own, ignore_errors=True)


def delete_state(own: Path, _: Path) -> None:
    """`rm .pipimem/state.db*`."""
    for path in own.glob("state.db*"):
        path.unlink(missing_ok=True)


def put_back(own: Path, backup: Path) -> None:
    """A state of a while ago takes the place of the newest, by rename, with its journal gone."""
    if own.is_dir():
        draft = own / "restored"
        shutil.copyfile(backup, draft)
        (own / "state.db-journal").unlink(missing_ok=True)
        draft.replace(own / "state.db")


def copy_away(own: Path, backup: Path) -> None:
    """`cp -r`, which may read a file in the middle of a write."""
    shutil.rmtree(backup.with_name("copy"), ignore_errors=True)
    shutil.copytree(own, backup.with_name("copy"), ignore_dangling_symlinks=True)


THEFTS: tuple[Callable[[Path, Path], None], ...] = (delete_all, delete_state, put_back, copy_away)


def storm(root: Path, backup: Path, crew: int, count: int, *, kills: int) -> None:
    """Let processes write while a thief is at work, until all are done."""
    own, dice = front_door.folder_of(root, ROOM) / ".pipimem", random.Random(7)
    workers = [start(work, str(root), part, count) for part in range(crew)]
    while any(worker.is_alive() for worker in workers):
        time.sleep(dice.uniform(0.02, 0.1))
        try:
            dice.choice(THEFTS)(own, backup)
        except (FileNotFoundError, NotADirectoryError, shutil.Error):
            continue  # a writer was faster
        part = dice.randrange(crew)
        if kills and dice.random() < 0.3 and killed(workers[part]):
            kills -= 1
            workers[part] = start(work, str(root), part, count)
    assert [finish(worker) for worker in workers] == [0] * crew


def killed(worker: BaseProcess) -> bool:
    """Kill a process; False if it had come to its end."""
    if worker.pid is None or not worker.is_alive():
        return False
    os.kill(worker.pid, signal.SIGKILL)
    return finish(worker) < 0


def test_what_is_acknowledged_outlives_a_thief(
    workspace: Path, tmp_path: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """It stands in the notes, nobody is told that something is locked, and no code of ours opens
    the database but SQLite.
    """

    async def begin() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            await front_door.remember(channel, "the first fact")

    anyio.run(begin)
    backup = tmp_path / "backup"
    shutil.copyfile(front_door.folder_of(workspace, ROOM) / ".pipimem" / "state.db", backup)
    crew, count, kills = (8, 500, 40) if is_long else (3, 12, 3)
    storm(workspace, backup, crew, count, kills=kills)
    found = [line for part in range(crew) for line in lines(workspace / f"diary-{part}")]
    there = [line[1] for line in found if line[0] == "there"]
    count_trials(len(there))
    text = front_door.note(workspace, ROOM)
    assert [fact for fact in ("the first fact", *there) if f"- {fact}\n" not in text] == []
    assert [line for line in found if line[0] in ("raised", "opened")] == []
    assert [line for line in found if line[0] == "refused" and "lock" in line[1].lower()] == []
