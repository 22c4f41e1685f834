"""A turn that is not taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import ArgumentError, Pipimem

from tests.runtime.building import settings, workspace

pytestmark = pytest.mark.anyio
QUESTION = "when does the harbour gate open?"


async def test_it_is_the_turn_that_comes(tmp_path: Path) -> None:
    """The same blocks, on a session's first turn as on a later one; nothing is counted by asking."""
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.notes.remember("the harbour gate opens at nine")
        await channel.notes.remember("the kitchen is green")
        first = await channel.preview_turn(QUESTION, speaker="Dana")
        turn = await channel.before_turn(QUESTION, speaker="Dana")
        assert (first.turn.standing, first.turn.recalled) == (turn.standing, turn.recalled)
        await channel.after_turn(turn, [])
        later = await channel.preview_turn(QUESTION, speaker="Dana", first=False)
        turn = await channel.before_turn(QUESTION, speaker="Dana")
        assert (later.turn.standing, later.turn.recalled) == (turn.standing, turn.recalled)
        assert "harbour" in {part.name for part in first.words}


async def test_it_says_what_a_search_alone_finds(tmp_path: Path) -> None:
    """What is no candidate of the turn; and it refuses what is no text."""
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        for number in range(30):
            await channel.notes.remember(f"hall {number} opens for the harbour festival")
        preview = await channel.preview_turn("git status of the harbour")
        ranked = (
            {one.item.id for one in preview.turn.recall.candidates}
            if preview.turn.recall
            else set()
        )
        assert preview.below
        assert not ranked & {one.item.id for one in preview.below}
        with pytest.raises(ArgumentError):
            await channel.preview_turn(None)  # type: ignore[arg-type]
