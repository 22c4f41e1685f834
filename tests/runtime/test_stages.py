"""PIPIMEM_DEBUG=1: each recall tells what it did; and the figures that `status` shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pipimem import Message

from tests.runtime.building import MORNING, opened, workspace, write
from tests.runtime.test_reading import reading


def test_each_recall_tells_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line: miss or hit, the steps with their times, how many were found, why none; never what was asked."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room = reading(root)
    monkeypatch.setenv("PIPIMEM_DEBUG", "1")
    for question in ("which mail server do we have?", "which mail server do we have?", "haha"):
        room.notes()
        room.recalled(question, MORNING)
    miss, hit, silent = capsys.readouterr().err.splitlines()
    steps = r"look [\d.]+, refine [\d.]+, rank [\d.]+, dedupe [\d.]+, fit [\d.]+"
    assert re.fullmatch(
        rf"pipimem recall 'room': cache miss; ms: {steps}; 1 candidates, 1 injected, 0 left out",
        miss,
    )
    assert re.fullmatch(
        r"pipimem recall 'room': cache hit; ms: look [\d.]+; 1 candidates, 1 injected, 0 left out",
        hit,
    )
    assert silent.endswith("0 candidates, 0 injected, 0 left out, chat that asks for nothing")
    monkeypatch.setenv("PIPIMEM_DEBUG", "0")
    room.notes()
    room.recalled("which server?", MORNING)
    assert capsys.readouterr().err == ""


@pytest.mark.anyio
async def test_turns_are_counted_and_kept_when_the_channel_closes(tmp_path: Path) -> None:
    """How many, how long each waited, and that the cache answered the second; of all processes together."""
    root = workspace(tmp_path)
    for _ in range(2):
        async with opened(root) as channel:
            for _ in range(2):
                turn = await channel.before_turn("where do we keep the keys?")
                await channel.after_turn(turn, [Message.user("where do we keep the keys?")])
            store = channel.store
    kept = store.caches.kept_figures()
    assert (kept.turns, kept.looks, kept.hits, len(kept.waits)) == (4, 4, 2, 4)
    assert min(kept.waits) > 0
