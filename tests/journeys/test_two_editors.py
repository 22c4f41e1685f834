"""Two people with the same file open: what a turn has seen of one is merged with the other's save."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import Message

from tests.runtime.building import opened, read, workspace, write

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("record", [True, False])
async def test_a_save_that_a_turn_has_seen_outlives_an_older_buffer(
    tmp_path: Path, record: bool
) -> None:
    """Both lines stand in the file, and `log` knows both saves."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.remember("Anna likes tea")
        older = read(root)
        write(root, "MEMORY.md", older + "- The neighbour with a key is Mr Patel\n")
        asked = "Which neighbour has a key?"
        turn = await channel.before_turn(asked, speaker="Jess", record=record)
        assert "Patel" in turn.context
        said = [Message.user(asked, speaker="Jess"), Message.assistant("Mr Patel.")]
        await channel.after_turn(turn, said)
        write(root, "MEMORY.md", older.replace("likes tea", "likes green tea"))
        turn = await channel.before_turn(asked, speaker="Jess")
        assert "Patel" in turn.context
        await channel.after_turn(turn, said)
        assert "Patel" in read(root)
        assert "likes green tea" in read(root)
        authors = [change.author for change in await channel.history.log()]
        assert authors[:2] == ["editor", "editor"]


async def test_a_turn_without_an_edit_writes_nothing_into_the_journal(tmp_path: Path) -> None:
    """Nothing is journalled, and nothing synced, where nobody edited."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.remember("Anna likes tea")
        before = await channel.history.log()
        turn = await channel.before_turn("What does Anna like?", speaker="Jess")
        await channel.after_turn(turn, [Message.user("What does Anna like?", speaker="Jess")])
        assert await channel.history.log() == before
