"""`forget` leaves nothing: in no byte and no row, beside a reader, after a kill, in an old buffer.

`test_kills.py` kills the journey that is used here at each of its calls.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.promises import front_door
from tests.promises.journeys import BY_NAME, SECRET, TEAM, everywhere
from tests.promises.libc_shim import kill_after
from tests.promises.processes import finish, start
from tests.promises.rooms import opened, traces
from tests.promises.trials import Stages

WORD = "elephant"
_PLACES = {
    "MEMORY.md",
    "HISTORY.archive.md",
    "log.jsonl",
    "log.jsonl.damaged",
    ".MEMORY.md.half.pipimem-tmp",
    ".log.jsonl.half.pipimem-tmp",
    ".pipimem/state.db",
    ".pipimem/state.db.damaged",
    ".pipimem/.recall.json.half.pipimem-tmp",
}


def rows_with(path: Path, word: str) -> list[str]:
    """Return the values of all rows of a database that hold a word."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        tables = [row[0] for row in db.execute("select name from sqlite_master").fetchall()]
        tables = [name for name in tables if not name.startswith(("sqlite_", "line_", "version_"))]
        values = [
            (name, value)
            for name in tables
            for row in db.execute(f"select * from {name}").fetchall()
            for value in row
        ]
    return [f"{name}: {value!r}" for name, value in values if word in _text(value).casefold()]


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def held(root: Path) -> set[str]:
    """Return the files of the channel that hold the word."""
    folder = front_door.folder_of(root, TEAM)
    found = traces(folder, [WORD])
    return set(found)


async def forget(root: Path) -> None:
    """Forget the text as a bot does that has just been started."""
    async with opened(root, TEAM) as channel:
        await front_door.forget(channel, SECRET)


@pytest.fixture
def full(workspace: Path) -> Path:
    """A workspace with the text wherever one can be."""
    anyio.run(everywhere, workspace, lambda *_: None)
    folder = front_door.folder_of(workspace, TEAM)
    (folder / ".log.jsonl.half.pipimem-tmp").write_text(f"half of {SECRET}")
    assert held(workspace) >= _PLACES
    database = folder / ".pipimem" / "state.db"
    assert {row.partition(":")[0] for row in rows_with(database, WORD)} >= {"line", "change"}
    return workspace


def require_nothing(root: Path) -> None:
    """Fail if a file, a row, or `--verify` has the text, or if the rest is gone."""
    assert traces(root, [WORD]) == {}
    database = front_door.folder_of(root, TEAM) / ".pipimem" / "state.db"
    assert rows_with(database, WORD) == []
    proof = front_door.run_command(root, "forget", TEAM, "--verify", SECRET)
    assert proof.code == 0, proof.errors
    assert "the cake is for erin" in front_door.note(root, TEAM)
    assert "bake a cake on sunday" in front_door.note(root, TEAM, "log.jsonl")
    assert "the lamp was red" in front_door.note(root, TEAM, "HISTORY.archive.md")


async def _forget_and_check(root: Path) -> None:
    await forget(root)
    require_nothing(root)


def test_nothing_is_left_in_any_byte_or_row(full: Path) -> None:
    """Notes, past texts, records, changes, questions, what was set aside and what a kill left."""
    anyio.run(_forget_and_check, full)


def test_the_receipt_names_each_kind_of_place(full: Path) -> None:
    """What a script reads: kinds and files with counts; a second one has nothing to say."""
    told = front_door.run_command(full, "forget", TEAM, SECRET, "--yes", "--json")
    assert told.code == 0, told.errors
    for kind in ("entries", "archive", "messages", "versions", "changes", "left_behind"):
        assert f'"{kind}": 0' not in told.output, kind
    again = front_door.run_command(full, "forget", TEAM, SECRET, "--yes")
    assert again.code == 1


def _read(root: str, seconds: float) -> None:
    """Hold a transaction open that reads the database."""
    path = front_door.folder_of(Path(root), TEAM) / ".pipimem" / "state.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as db:
        db.execute("begin")
        db.execute("select count(*) from line").fetchall()
        Path(root, "reads").touch()
        time.sleep(seconds)


def test_a_reader_in_the_middle_is_waited_for(full: Path) -> None:
    """It sees the old rows until it ends; then nothing has them."""
    reader = start(_read, str(full), 1.0)
    while not (full / "reads").exists():
        time.sleep(0.01)
    anyio.run(forget, full)
    assert finish(reader) == 0
    require_nothing(full)


def _kills(stages: Stages, is_long: bool) -> Iterator[int]:
    count = len(stages.of(BY_NAME["forget-everywhere"]).calls)
    return iter(range(1, count + 1, 1 if is_long else max(1, count // 8)))


def test_after_a_kill_the_next_start_finishes_it_or_it_never_began(
    stages: Stages, is_long: bool
) -> None:
    """Then forgetting it once more leaves nothing, in no byte and no row."""
    stage = stages.of(BY_NAME["forget-everywhere"])
    for number in _kills(stages, is_long):
        stage.lay_out()
        stage.perform(kill_after(number))
        anyio.run(forget_again, stage.root)
        require_nothing(stage.root)


async def forget_again(root: Path) -> None:
    """Open the workspace, which finishes what was cut off, and forget what is left of it."""
    async with opened(root, TEAM) as channel:
        await front_door.remember(channel, "tea is green")
        if traces(root, [WORD]):
            await front_door.forget(channel, SECRET)


@pytest.mark.parametrize("is_changed", [False, True])
def test_an_old_buffer_saved_afterwards_brings_nothing_back_and_takes_nothing(
    full: Path, is_changed: bool
) -> None:
    """Saved as it was, or with a line typed into it: what came since stays."""
    path = front_door.folder_of(full, TEAM) / "MEMORY.md"
    buffer = path.read_text()
    assert WORD in buffer

    async def live_on() -> None:
        await forget(full)
        async with opened(full, TEAM) as channel:
            await front_door.remember(channel, "milk is white")
            await front_door.remember(channel, "salt is grey")
            path.write_text(buffer + ("- typed by hand\n" if is_changed else ""))
            await front_door.remember(channel, "pepper is black")
            told = " ".join(change.why for change in await front_door.log(channel))
        assert "forgotten" in told

    anyio.run(live_on)
    require_nothing(full)
    kept = path.read_text()
    wanted = ["milk is white", "salt is grey", "pepper is black", "the cake is for erin"]
    wanted += ["typed by hand"] if is_changed else []
    assert [line for line in wanted if line not in kept] == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_remembered_anew_it_stays_at_once_and_when_an_editor_saves_the_file_again(
    full: Path,
) -> None:
    """A person says it again through pipimem: the forgetting before does not count against it."""
    await forget(full)
    path = front_door.folder_of(full, TEAM) / "MEMORY.md"
    async with opened(full, TEAM) as channel:
        await front_door.remember(channel, f"the mascot is {SECRET}", speaker="mallory")
        assert SECRET in path.read_text()
        path.write_text(path.read_text() + "- typed by hand\n")
        await front_door.remember(channel, "tea is green")
        texts = [entry.text for entry in await front_door.entries(channel)]
    assert [text for text in texts if SECRET in text] != []
    assert "typed by hand" in texts


def test_the_proof_finds_a_phrase_that_ran_over_lines_of_a_past_text(workspace: Path) -> None:
    """No row has it whole; once it is forgotten, no past text has it."""

    async def live() -> None:
        async with opened(workspace, TEAM) as channel:
            await front_door.remember(channel, "tea is green")
            path = front_door.folder_of(workspace, TEAM) / "MEMORY.md"
            text = path.read_text()
            path.write_text(text + "- the code is\n  elephant nine\n")
            await front_door.remember(channel, "milk is white")
            path.write_text(path.read_text().replace("- the code is\n  elephant nine\n", ""))
            await front_door.remember(channel, "salt is grey")

    anyio.run(live)
    phrase = "code is elephant"
    assert front_door.run_command(workspace, "forget", TEAM, "--verify", phrase).code == 1
    assert front_door.run_command(workspace, "forget", TEAM, phrase, "--yes").code == 0
    assert front_door.run_command(workspace, "forget", TEAM, "--verify", phrase).code == 0
    assert traces(workspace, [WORD]) == {}
