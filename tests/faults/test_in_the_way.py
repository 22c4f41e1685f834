"""What only has the name of a file: a pipe, a folder, a socket, a link out, in the place of each
file we keep.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.errors import PipimemError
from pipimem.notes.message import Message
from pipimem.notes.operations import Decision
from pipimem.notes.usage import Usage
from pipimem.store.channel import ChannelStore
from pipimem.store.health.channels import channel_findings
from pipimem.store.workspace import WorkspaceStore

Add = Callable[..., Decision]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no pipes with names")

NEEDED = (
    "log.jsonl", "MEMORY.md", "SESSION.md", "HISTORY.md", ".pipimem/channel.json", ".pipimem/journal.jsonl",
    ".pipimem/ledger.json", ".pipimem/lock",
)  # fmt: skip
CACHES = (
    ".pipimem/words.idx",
    ".pipimem/vectors.bin",
    ".pipimem/recall.json",
    ".pipimem/search.idx",
)


@pytest.fixture
def put(tmp_path: Path) -> Iterator[Callable[[str, Path], None]]:
    """Puts what is no file in the place of one."""
    sockets: list[socket.socket] = []

    def put(kind: str, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
                (path / "full").touch()
            case "link out":
                (tmp_path / "foreign").write_text(
                    '{"id": "x", "n": 9, "role": "user", "content": "foreign"}\n'
                )
                path.symlink_to(tmp_path / "foreign")
            case "socket":
                sockets.append(socket.socket(socket.AF_UNIX))
                # A path of a socket may have 108 bytes.
                here = os.open(path.parent, os.O_RDONLY)
                sockets[-1].bind(f"/proc/self/fd/{here}/{path.name}")
                os.close(here)

    yield put
    for one in sockets:
        one.close()


def told(deed: Callable[[], object]) -> str:
    """What an error says, empty where there is none; a deed that waits for ever fails the test."""
    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(deed).result(timeout=30)
    except PipimemError as error:
        return str(error)
    finally:
        pool.shutdown(wait=False)
    return ""


def deeds(workspace: WorkspaceStore, now: datetime, add: Add) -> dict[str, Callable[[], object]]:
    """All a process may do to a channel, in a fresh process each time."""

    def opened(deed: Callable[[ChannelStore], object]) -> Callable[[], object]:
        return lambda: deed(ChannelStore.open(workspace, "team", create=False))

    return {
        "read": opened(lambda channel: channel.notes()),
        "read the talk": opened(lambda channel: list(channel.transcript.messages())),
        "append": opened(lambda channel: channel.append([Message.user("one more")])),
        "commit": opened(lambda channel: channel.commit(add("dave likes tea"), now)),
        "look back": opened(lambda channel: list(channel.journal_records())),
        "forget": opened(
            lambda channel: channel.forget("nothing like it", keep_transcript=False, now=now)
        ),
        "keep": opened(
            lambda channel: (
                channel.caches.keep_words("cut", "x", channel.notes()),
                channel.caches.kept_words("cut"),
            )
        ),
        "figures": opened(lambda channel: channel.caches.kept_figures()),
    }


@pytest.fixture
def well(channel: ChannelStore, now: datetime, add: Add) -> ChannelStore:
    """A channel with a file of every kind."""
    channel.append([Message.user("hi", id="m1")])
    channel.commit(add("alice likes tea"), now)
    for name in ("SESSION.md", "HISTORY.md"):
        (channel.folder / name).write_text("# Title\n")
    channel.close()
    return channel


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link out"])
@pytest.mark.parametrize("name", NEEDED)
def test_what_is_needed_is_told_by_its_path_and_nothing_waits(
    kind: str,
    name: str,
    well: ChannelStore,
    now: datetime,
    add: Add,
    put: Callable[[str, Path], None],
) -> None:
    """Whatever a process does either does not need the file, or ends at once with an error that
    says what to move.
    """
    path = well.folder / name
    put(kind, path)
    found = {deed: told(run) for deed, run in deeds(well.workspace, now, add).items()}
    errors = {deed: error for deed, error in found.items() if error}
    assert errors
    assert all(
        str(path) in error and ("Move it away" in error or "Put a real file there" in error)
        for error in errors.values()
    ), errors
    findings = [
        f"{one.where} {one.what}"
        for one in channel_findings(well.workspace, well.folder, now)
        if one.wrong
    ]
    assert any(str(path) in one for one in findings), findings


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link out"])
@pytest.mark.parametrize("name", CACHES)
def test_what_can_be_found_out_again_stops_no_reading(
    kind: str,
    name: str,
    well: ChannelStore,
    now: datetime,
    add: Add,
    put: Callable[[str, Path], None],
) -> None:
    """And a writing that meets it is told by its path."""
    path = well.folder / name
    put(kind, path)
    found = {deed: told(run) for deed, run in deeds(well.workspace, now, add).items()}
    assert {
        deed: found[deed] for deed in ("read", "read the talk", "append", "look back", "figures")
    } == dict.fromkeys(("read", "read the talk", "append", "look back", "figures"), "")
    assert all(not error or str(path) in error for error in found.values()), found


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link out"])
@pytest.mark.parametrize("name", [".pipimem/versions"])
def test_what_helps_to_tell_who_changed_a_text_is_told_where_it_is_missed(
    kind: str,
    name: str,
    well: ChannelStore,
    now: datetime,
    add: Add,
    put: Callable[[str, Path], None],
) -> None:
    """Taken for absent it could lose a person's line; nobody waits."""
    path = well.folder / name
    put(kind, path)
    found = {deed: told(run) for deed, run in deeds(well.workspace, now, add).items()}
    assert all(not error or str(path) in error for error in found.values()), found
    assert found["append"] == ""


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link out"])
def test_so_it_is_in_the_place_of_the_usage_ledger(
    kind: str, workspace: WorkspaceStore, put: Callable[[str, Path], None]
) -> None:
    """A call that cannot be noted is told; nobody waits."""
    path = workspace.root / ".pipimem/usage-2026-03.jsonl"
    path.parent.mkdir(exist_ok=True)
    put(kind, path)
    usage = Usage("2026-03-02T09:00:00+08:00", "", "tidy", "m", 1, 1, 0, None, 0.1, "ok", "c")
    for deed in (lambda: workspace.usage_store.append(usage), lambda: list(workspace.usages())):
        assert str(path) in told(deed)


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link out"])
@pytest.mark.parametrize("name", ["SOUL.md", "pipimem.toml", "words.txt"])
def test_so_it_is_in_the_place_of_a_person_s_file(
    kind: str, name: str, workspace: WorkspaceStore, put: Callable[[str, Path], None]
) -> None:
    """Its path is told."""
    put(kind, workspace.root / name)
    assert str(workspace.root / name) in told(lambda: workspace.human_text(name))
