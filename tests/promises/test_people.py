"""What a person lets the bot know of them everywhere is theirs (promise 9): a later change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises.front_door import (
    Kind,
    Message,
    Pipimem,
    before_turn,
    remember,
    run_command,
)
from tests.promises.rooms import ASYNCIO, opened, quiet_settings, say

pytestmark = ASYNCIO
LATER = pytest.mark.xfail(strict=True, reason="a later change: people/")
FACT = "I am allergic to peanuts"


async def test_nothing_follows_a_person_by_default(workspace: Path) -> None:
    """What somebody said in one channel is in no other, theirs alone or a group."""
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        alone = await pipimem.channel("dm-dana", kind="dm")
        await say(alone, f"remember that {FACT}", speaker="Dana")
        await remember(alone, "Dana prefers short answers", kind=Kind.PREFERENCE, speaker="Dana")
        await alone.compacted(await alone.before_compaction())
        for name, kind in (("group", "group"), ("other-dm", "dm")):
            other = await pipimem.channel(name, kind=kind)  # type: ignore[arg-type]
            turn = await before_turn(
                other, "what may Dana eat, and how do I answer?", speaker="Dana"
            )
            assert "peanuts" not in turn.context
            assert "short answers" not in turn.context
    assert not (workspace / "people").exists()


@LATER
async def test_a_person_shares_sees_and_takes_back(workspace: Path) -> None:
    """A command of theirs writes people/NAME.md, another shows it whole, one takes it back; their
    turns elsewhere have it in between.
    """
    (workspace / "pipimem.toml").write_text("[people]\nenabled = true\n")
    async with opened(workspace, "dm-dana", kind="dm") as channel:
        await say(channel, "hello", speaker="Dana")
    ran = run_command(workspace, "person", "share", "Dana", FACT)
    assert ran.code == 0, ran.errors
    [path] = (workspace / "people").glob("*.md")
    assert FACT in path.read_text()
    assert FACT in run_command(workspace, "person", "show", "Dana").output
    async with opened(workspace, "other", kind="dm") as channel:
        assert FACT in (await before_turn(channel, "what may I eat?", speaker="Dana")).context
        assert FACT not in (await before_turn(channel, "what may I eat?", speaker="Tom")).context
    assert run_command(workspace, "person", "forget", "Dana", "--yes").code == 0
    assert not list((workspace / "people").glob("*.md"))


@LATER
async def test_nobody_else_writes_a_persons_file(workspace: Path) -> None:
    """Neither a turn, a compaction nor a tool: the file keeps its bytes, and is used."""
    (workspace / "pipimem.toml").write_text("[people]\nenabled = true\n")
    (workspace / "people").mkdir()
    path = workspace / "people" / "dana.md"
    path.write_text(f"# Dana\n\n- {FACT}\n")
    async with opened(workspace, "room", kind="dm") as channel:
        shown = await say(channel, "what may I eat?", "no nuts", speaker="dana")
        await channel.after_turn(None, [Message.user("remember: I like tea", speaker="dana")])
        await channel.before_compaction()
    assert path.read_text() == f"# Dana\n\n- {FACT}\n"
    assert FACT in shown
