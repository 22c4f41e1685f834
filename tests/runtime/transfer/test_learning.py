"""Imported talk that is learnt from."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from pipimem import Clock, Pipimem
from pipimem.runtime.transfer.learning import learnt
from pipimem.runtime.transfer.take_back import import_to_take_back, take_back
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.transfer.test_archives import NOW, remembered, tree, workspace
from tests.runtime.transfer.test_import_run_taking_in import imported


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two who decide something."""
    rows = [
        {"role": "user", "name": "Ann", "content": "We decided: the release is on 2026-03-12."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "name": "Bob", "content": "I am allergic to peanuts."},
    ]
    stamped = [{**row, "ts": f"2026-03-02T09:0{n}:00+08:00"} for n, row in enumerate(rows)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in stamped))
    return path


def runtime(root: Path) -> Callable[..., AbstractAsyncContextManager[Pipimem]]:
    """Opens the runtime on a workspace with a clock."""

    @asynccontextmanager
    async def opened(clock: Clock) -> AsyncIterator[Pipimem]:
        async with Pipimem(root, "offline", clock=clock) as pipimem:
            yield pipimem

    return opened


@pytest.mark.anyio
async def test_what_is_learnt_goes_with_the_import(tmp_path: Path, source: Path) -> None:
    """It rests on the messages that came, and is taken back with them."""
    made = workspace(tmp_path / "w")
    done = imported(made, source, channel="room", consolidates=True)
    assert await learnt(runtime(made.root), made, done.number, ["room"]) == []
    store = ChannelStore.open(WorkspaceStore.open(made.root), "room", create=False)
    assert store.ledger.cursor == 3
    (allergy,) = [one for one in store.notes().memory.entries if "peanuts" in one.text]
    assert "Bob (2026-03-02)" in allergy.text
    taken = take_back(made, import_to_take_back(made, None), NOW)
    assert (taken.removed, tree(made.root)) == (("room",), {})


@pytest.mark.anyio
async def test_what_is_learnt_in_a_channel_in_use_is_taken_out_of_it(
    tmp_path: Path, source: Path
) -> None:
    """Its own entries, and what people added meanwhile, stay."""
    made = workspace(tmp_path / "w")
    channel = ChannelStore.open(made, "room", create=True)
    channel.commit(remembered("The gate code is kept by Ann"), NOW)
    done = imported(made, source, channel="room", consolidates=True)
    assert await learnt(runtime(made.root), made, done.number, ["room"]) == []
    channel = ChannelStore.open(made, "room", create=False)
    assert any("peanuts" in one.text for one in channel.notes().memory.entries)
    channel.commit(remembered("Lunch is at noon"), NOW)
    taken = take_back(made, import_to_take_back(made, None), NOW)
    assert (taken.cleaned, taken.messages, taken.kept) == (("room",), 3, ())
    notes = ChannelStore.open(made, "room", create=False).notes()
    assert {one.text for one in notes.memory.entries} == {
        "The gate code is kept by Ann", "Lunch is at noon",
    }  # fmt: skip
    assert (notes.history.entries, notes.session.entries) == ((), ())
