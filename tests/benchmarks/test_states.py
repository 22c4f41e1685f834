"""The fuzzer's judge: silent over a sound workspace, and it notices what it is there for."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from benchmarks.states.damage import KINDS, Copies
from benchmarks.states.enduring import READING, Lasting, endured, lines_of
from benchmarks.states.full_workspace import PENDING, Lived, full_workspace
from pipimem import Channel, Turn
from pipimem.cli.commands.log import command as command_of_log
from pipimem.runtime.open_channel import OpenChannel
from pipimem.store.channel import ChannelStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the harness forks")

WAITING = f"MEMORY.md: - {PENDING}"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """A workspace that has lived."""
    return full_workspace(tmp_path_factory.mktemp("states") / "w")


def wrong(lived: Lived, root: Path, pending: str = WAITING) -> list[str]:
    """What is wrong with the sound workspace."""
    lived.now.laid(root)
    log = frozenset((root / "channels" / "team" / "log.jsonl").read_bytes().splitlines())
    notes = lines_of(root / "channels" / "team")
    return endured(root, Lasting(notes, log, pending), (*READING, ("status",)), fix_first=False)


def test_a_sound_workspace_is_met_well(lived: Lived, tmp_path: Path) -> None:
    """Every file of ours is there, a text waits for its file, and nothing is wrong."""
    files = {Path(name).name for name, *_ in lived.now.files}
    kept = {"journal.jsonl", "channel.json", "words.idx", "search.idx", "vectors.bin", "idle.jsonl"}
    assert kept - files == set()
    assert wrong(lived, tmp_path / "w") == []


def test_a_turn_that_raises_is_noticed(
    lived: Lived,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`before_turn` always answers."""

    async def broken(self: Channel, text: str, *, speaker: str = "") -> Turn:
        raise KeyError("when")

    monkeypatch.setattr(OpenChannel, "before_turn", broken)
    assert "before_turn raised KeyError: 'when'" in wrong(lived, tmp_path / "w")


def test_a_command_that_ends_in_a_traceback_is_noticed(
    lived: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is one in a process that a user started."""

    def broken(**_: object) -> None:
        raise KeyError("when")

    monkeypatch.setattr(command_of_log, "callback", broken)
    assert "log team raised KeyError: 'when'" in wrong(lived, tmp_path / "w")


def test_a_line_that_goes_by_opening_is_noticed(
    lived: Lived,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever opens a channel and takes a line out, or never writes the one that waits."""
    real = ChannelStore.open

    def greedy(*arguments: object, **options: object) -> ChannelStore:
        store = real(*arguments, **options)  # type: ignore[arg-type]
        path = store.folder / "HISTORY.md"
        path.write_text(path.read_text().replace("- tea, mostly\n", ""))
        return store

    monkeypatch.setattr(ChannelStore, "open", greedy)
    found = wrong(lived, tmp_path / "w")
    assert "lines of the notes are gone: ['HISTORY.md: - tea, mostly']" in found
    never = wrong(lived, tmp_path / "w", pending="MEMORY.md: - never written")
    assert any("never written" in one for one in never)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_damage_changes_the_file(tmp_path: Path, kind: str) -> None:
    """In one of a few draws at least: a bit here, an older copy there."""
    path = tmp_path / "ledger.json"
    copies = Copies(b'{"a": {"b": 1}}\n{"c": 2}\n', (b"old\n",), (b"another's\n",))
    path.write_bytes(copies.now)
    mode = path.stat().st_mode & 0o777
    for seed in range(5):
        path.write_bytes(copies.now)
        if KINDS[kind](path, copies, random.Random(seed)):
            break
    if kind == "wrong mode":
        assert path.stat().st_mode & 0o777 != mode
        return
    assert not path.is_file() or path.is_symlink() or path.read_bytes() != copies.now
