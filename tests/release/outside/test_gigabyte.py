"""Sources of a gigabyte: an import takes everything or ends with a sentence, below 300 MB.

`tests/release/run.sh --gigabyte` runs these. Each source is written anew and removed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, islice, repeat
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.runtime.transfer.test_archives import tree

pytestmark = pytest.mark.skipif(
    not os.environ.get("PIPIMEM_TEST_GIGABYTE"), reason="half an hour: --gigabyte"
)

GIGABYTE = 1_000_000_000
MOST = 300  # MB in memory
BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
SAID = (
    "Shall we put the release on Thursday at nine, or wait for the load test of the gateway?",
    "上线窗口定在周四晚上九点，先把回滚方案写好，再通知客服。",
    "Port 5432 is the staging database, 5433 the read replica; ask Ann before you restart it 😀",
)


@dataclass(frozen=True)
class Ended:
    """How an import ended: its exit code, what it said, seconds, and the most memory in MB."""

    code: int
    said: str
    seconds: float
    megabytes: float


def written(path: Path, parts: Iterable[bytes], size: int = GIGABYTE) -> int:
    """Writes parts until a file has a size; returns how many."""
    parts_written = have = 0
    with path.open("wb") as file:
        for part in parts:
            if have >= size:
                break
            have += file.write(part)
            parts_written += 1
    return parts_written


def messages(longest: int = 0) -> Iterator[bytes]:
    """Rows of a log, one a minute; each filled up to a length."""
    for number in count():
        text = f"{SAID[number % len(SAID)]} ({number})"
        text = (text * (longest // len(text) + 1))[:longest] if longest else text
        when = (BEGAN + timedelta(seconds=number)).isoformat()
        role = "assistant" if number % 2 else "user"
        row = {"role": role, "name": "Ann", "ts": when, "content": text}
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def imported(workspace: Path, source: Path) -> Ended:
    """An import through the command line, in a process of its own."""
    said = workspace.with_suffix(".said")
    began = time.perf_counter()
    command = [sys.executable, "-m", "pipimem", "--workspace", workspace, "import", source]
    with said.open("wb") as file:
        child = subprocess.Popen(command, stdout=file, stderr=file)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds, megabytes = time.perf_counter() - began, usage.ru_maxrss / 1024
    sys.stdout.write(f"{source.name}: {child.returncode}, {seconds:.0f} s, {megabytes:.0f} MB\n")
    return Ended(child.returncode, said.read_text("utf-8"), seconds, megabytes)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A new one."""
    folder = tmp_path / "bot"
    command = [sys.executable, "-m", "pipimem", "init", folder]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Where a source is written, and removed afterwards."""
    yield tmp_path
    for path in tmp_path.glob("source.*"):
        path.unlink()


@pytest.mark.parametrize("longest", [0, 5_000])
def test_a_log_of_a_gigabyte_comes_in_whole(workspace: Path, place: Path, longest: int) -> None:
    """Five million short messages, or some hundred thousand long ones."""
    source = place / "source.jsonl"
    wanted = written(source, messages(longest))
    ended = imported(workspace, source)
    assert (ended.code, f"{wanted:,} messages" in ended.said) == (0, True), ended.said
    parts = (workspace / "channels").glob("*/log*.jsonl*")
    assert sum(part.read_bytes().count(b"\n") for part in parts) == wanted
    assert ended.megabytes < MOST


def test_a_log_of_a_gigabyte_that_is_cut_short_is_refused_whole(
    workspace: Path, place: Path
) -> None:
    """Its last message is torn: nothing of it is in the workspace."""
    source, before = place / "source.jsonl", tree(workspace)
    written(source, messages(5_000))
    os.truncate(source, source.stat().st_size - 20)
    refused(workspace, source, before, "it is cut short, or no JSON")


def _row(**values: object) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"


_FIRST = _row(role="user", content="hello")
_PIECE = 100_000
_ENTRIES = (_row(id=f"i{number}", memory=f"Box {number} is full") for number in count())
_CHANNELS = (_row(role="user", content="hello", channel=f"c{number}") for number in count())
_THREADS = (_row(role="user", content="hello", thread=f"c{number}") for number in count())
_ROLES = (_row(role=f"r{number}", name="Ann", content="hello") for number in count())


@pytest.mark.parametrize(
    ("name", "begins", "parts", "why"),
    [
        ("source.jsonl", _FIRST + b'{"content": "', repeat(b"x" * _PIECE), "too long"),
        ("source.jsonl", _FIRST + b'{"content": "', repeat("😀".encode() * _PIECE), "too long"),
        ("source.jsonl", _FIRST + b'{"content": "', repeat("字x".encode() * _PIECE), "too long"),
        ("source.jsonl", _FIRST + b"[", repeat(b"{}," * _PIECE), "too many values"),
        ("source.jsonl", _FIRST + b"[", repeat(b"[],0," * _PIECE), "too many values"),
        ("source.jsonl", _FIRST + b"[", repeat(b"[" * _PIECE), "nested too deeply"),
        ("source.jsonl", _FIRST, repeat(b"\0" * _PIECE), "no JSON"),
        ("source.jsonl", _FIRST, repeat(b"\xff" * _PIECE), "not UTF-8"),
        ("source.csv", b"role,content\n", repeat(b"x" * _PIECE), "never ends"),
        ("source.csv", b"role,content\n", repeat(b"," * _PIECE), "never ends"),
        ("source.csv", b"role,content\n", repeat(b'"a\n",' * _PIECE), "never ends"),
        ("source.json", b"", _ENTRIES, "30,000 entries"),
        ("source.jsonl", b"", _CHANNELS, "10,000 channels"),
        ("source.jsonl", b"", _THREADS, "100,000 conversations"),
    ],
)  # fmt: skip
def test_a_gigabyte_that_is_no_talk_of_people_ends_with_a_sentence(
    workspace: Path, place: Path, name: str, begins: bytes, parts: Iterable[bytes], why: str
) -> None:
    """An element, a row or an entry without end; no memory holds so many of them."""
    source, before = place / name, tree(workspace)
    written(source, (part for some in ((begins,), parts) for part in some))
    refused(workspace, source, before, why)


def test_a_small_file_that_unpacks_to_a_gigabyte_is_refused(workspace: Path, place: Path) -> None:
    """Before a byte of it is unpacked."""
    source, before = place / "source.zip", tree(workspace)
    with ZipFile(source, "w", ZIP_DEFLATED) as packed, packed.open("log.jsonl", "w") as file:
        for part in (_FIRST, *islice(repeat(b" " * 1_000_000), 1_000)):
            file.write(part)
    refused(workspace, source, before, "would unpack to 1,000 MB")


def refused(workspace: Path, source: Path, before: dict[str, bytes], why: str) -> None:
    """One sentence that says why, exit 1, and everything as it was."""
    ended = imported(workspace, source)
    assert (ended.code, ended.said.count("\n"), why in ended.said) == (1, 1, True), ended.said
    assert tree(workspace) == before
    assert ended.megabytes < MOST
