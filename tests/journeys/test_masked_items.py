"""What a workspace masks by a list of its own stands in nothing that is shown of older notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pipimem import Channel, Message, Pipimem
from pipimem.runtime.health_report import findings, logged_secrets
from pipimem.settings import SecretSettings

from tests.runtime.building import MORNING, Hands, settings, workspace, write

pytestmark = pytest.mark.anyio
NOTES = "# Memory\n\n## Constraints\n\n- Project Quetzal ships in May\n- Quetzal needs a permit\n"
LIST = '[secrets]\nwords = ["Quetzal"]\n'


async def _before_the_list(root: Path) -> None:
    """Notes and talk of a time when the workspace masked nothing."""
    write(root, "MEMORY.md", NOTES)
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        said = Message.user("the Quetzal budget is 40k", id="m1", speaker="Dana", time=MORNING)
        await channel.after_turn(None, [said])


async def _shown(channel: Channel) -> str:
    """All that is shown of it by turns, recall, searches and tools."""
    texts = []
    for question in ("hello", "When does the project ship, and what does it need?"):
        turn = await channel.before_turn(question, sees_from=None)
        assert turn.problem == ""
        texts.append(turn.context)
        await channel.after_turn(turn, [])
    found = await channel.recall("project permit")
    texts += [item.text for item in (*found.injected, *(one.item for one in found.candidates))]
    hits = await channel.search("budget permit project")
    texts += [f"{hit.excerpt} {hit.item.text}" for hit in hits]
    texts += [item.text for item in await channel.timeline("m1")]
    texts += [item.text for item in await channel.detail("m1")]
    entries = [f"memory:{entry.id}" for entry in await channel.entries()]
    texts.append((await channel.call_tool("memory_search", {"ids": [*entries, "m1"]})).text)
    texts.append((await channel.call_tool("memory_search", {"query": "project budget"})).text)
    return "\n".join(texts)


async def test_a_list_holds_for_what_was_there_before_it(tmp_path: Path) -> None:
    """It is found by the words beside it, and shown with the mark of the list."""
    root = workspace(tmp_path)
    await _before_the_list(root)
    own = replace(settings(), secrets=SecretSettings(words=("Quetzal",)))
    async with Pipimem(root, "offline", settings=own, clock=Hands().clock()) as pipimem:
        shown = await _shown(await pipimem.channel("room", kind="group"))
    assert "ships in May" in shown
    assert "budget is 40k" in shown
    assert "[secret:listed" in shown
    assert "quetzal" not in shown.casefold()


async def test_doctor_finds_what_the_list_names(tmp_path: Path) -> None:
    """In files and in transcripts, by place and count, without the word."""
    root = workspace(tmp_path)
    await _before_the_list(root)

    def listed() -> set[tuple[str, int]]:
        told = [*findings(root, "offline", MORNING), *logged_secrets(root, lambda _: None)]
        assert not any("quetzal" in one.what.casefold() for one in told)
        return {(Path(one.where).name, one.count) for one in told if one.kind == "listed"}

    assert listed() == set()
    (root / "pipimem.toml").write_text(LIST)
    assert listed() >= {("MEMORY.md, line 5", 3), ("log.jsonl", 1)}  # the budget was learnt
