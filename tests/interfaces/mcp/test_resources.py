"""Resources are as fresh as their files, and read anew only where these changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipimem import NothingFound, Pipimem
from pipimem.mcp import resources
from pipimem.mcp.resources import MemoryResources

from tests.interfaces.mcp.building import CHANNEL, served
from tests.runtime.building import settings

pytestmark = pytest.mark.anyio

MEMORY = "pipimem://cid6KeBBLoveM%2FAZ%3D%3D/memory"


async def test_the_files_of_a_channel_and_of_the_workspace_are_read(root: Path) -> None:
    """As they stand on disk."""
    (root / "MEMORY.md").write_text("# Shared\n\n- the office is in Hangzhou\n")
    async with served(root) as at:
        for name in ("SESSION", "MEMORY", "HISTORY"):
            (at.folder / f"{name}.md").write_text(f"# {name}\n")
            uri = f"pipimem://cid6KeBBLoveM%2FAZ%3D%3D/{name.lower()}"
            assert await at.read(uri) == f"# {name}\n"
        assert "Hangzhou" in await at.read("pipimem://workspace/memory")


async def test_a_read_is_fresh_after_a_write_and_cached_until_the_next(root: Path) -> None:
    """By a tool, and by a hand in the file."""
    async with served(root) as at:
        found = at.memory.resources
        assert await at.read(MEMORY) == ""
        await at.call("memory_save", text="we never deploy on Fridays")
        assert "Fridays" in await at.read(MEMORY)
        assert (found.hits, found.misses) == (0, 2)
        for _ in range(3):
            await at.read(MEMORY)
        assert (found.hits, found.misses) == (3, 2)
        (at.folder / "MEMORY.md").write_text("# Memory\n\n- typed by hand\n")
        assert "typed by hand" in await at.read(MEMORY)
        assert (found.hits, found.misses) == (3, 3)


async def test_the_cache_tells_of_itself(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with PIPIMEM_DEBUG."""
    async with served(root) as at:
        await at.read(MEMORY)
        monkeypatch.setenv("PIPIMEM_DEBUG", "1")
        await at.read(MEMORY)
        await at.call("memory_save", text="we never deploy on Fridays")
        await at.read(MEMORY)
    told = capsys.readouterr().err.splitlines()
    lines = [line for line in told if line.startswith(f"pipimem mcp {MEMORY}")]
    assert lines == [
        f"pipimem mcp {MEMORY}: cache hit (1 hits, 1 misses)",
        f"pipimem mcp {MEMORY}: cache miss (1 hits, 2 misses)",
    ]


async def test_a_section_has_the_most_trusted_and_newest_ten(root: Path) -> None:
    """What a person typed stands first, then what was asked for, the newest first."""
    async with served(root) as at:
        for number in range(12):
            await at.call(
                "memory_save", text=f"rule number {number} of the house", kind="constraint"
            )
        path = at.folder / "MEMORY.md"
        path.write_text(path.read_text().rstrip() + "\n- typed by hand\n")
        found = json.loads(await at.read(f"{MEMORY}/constraint"))
        assert len(found) == 10
        assert found[0]["text"] == "typed by hand"
        assert found[0]["trust"] == "human"
        assert [entry["text"].split()[2] for entry in found[1:]] == [
            str(number) for number in range(11, 2, -1)
        ]
        assert found[1]["trust"] == "explicit"
        assert found == json.loads(await at.read(f"{MEMORY}/Constraints"))
        whole = await at.call("memory_search", ids=[found[0]["id"], found[1]["id"]])
        assert [one["text"] for one in whole["results"]] == [one["text"] for one in found[:2]]


async def test_a_standard_heading_is_understood_in_either_language(root: Path) -> None:
    """A client asks for Preferences, and the file is Chinese; another heading is not guessed."""
    async with served(root) as at:
        (at.folder / "MEMORY.md").write_text("## 偏好\n\n- 林晓喝乌龙茶\n\n## 茶\n\n- 乌龙\n")
        for section in ("Preferences", "%E5%81%8F%E5%A5%BD", "preference"):
            found = json.loads(await at.read(f"{MEMORY}/{section}"))
            assert [entry["text"] for entry in found] == ["林晓喝乌龙茶"], section
        assert await at.read(f"{MEMORY}/Tea") == "[]"


async def test_a_section_without_entries_is_an_empty_list(root: Path) -> None:
    """Also one that is no heading of the file."""
    async with served(root) as at:
        assert await at.read(f"{MEMORY}/Constraints") == "[]"
        assert await at.read(f"{MEMORY}/%E5%81%8F%E5%A5%BD") == "[]"


async def test_a_secret_that_a_person_typed_is_masked(root: Path) -> None:
    """A model reads resources."""
    async with served(root) as at:
        typed = "## Facts\n\n- the password of staging is hunter2-Kiln-77\n"
        (at.folder / "MEMORY.md").write_text(typed)
        for uri in (MEMORY, f"{MEMORY}/Facts"):
            text = await at.read(uri)
            assert "hunter2" not in text
            assert "[secret:" in text


async def test_an_unknown_channel_names_no_others(root: Path) -> None:
    """And none is made."""
    async with served(root) as at:
        with pytest.raises(NothingFound) as refused:
            await at.memory.resources.read("pipimem://nobody/memory")
        assert CHANNEL not in str(refused.value)
        assert [info.id for info in await at.memory.pipimem.channels()] == [CHANNEL]


async def test_a_server_of_one_channel_reads_no_other(root: Path) -> None:
    """What the workspace shares belongs to each of its channels."""
    async with served(root, only="alone") as at:
        await at.memory.pipimem.channel("other")
        with pytest.raises(NothingFound, match="one conversation alone"):
            await at.memory.resources.read("pipimem://other/memory")
        listed = (await at.client.list_resources()).resources
        assert [found.uri for found in listed] == [
            "pipimem://workspace/memory",
            "pipimem://alone/session",
            "pipimem://alone/memory",
            "pipimem://alone/history",
        ]
        for found in listed:
            assert await at.read(found.uri) == "" or found.uri == "pipimem://workspace/memory"


async def test_many_channels_come_in_pages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, by id."""
    monkeypatch.setattr(resources, "_PAGE", 2)
    names = ["a", "b/c", "d", "e=", "f"]
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        for name in names:
            await pipimem.channel(name)
        found, after, pages = [], "", 0
        while pages == 0 or after:
            page, after = await MemoryResources(pipimem).listed(after)
            found += page
            pages += 1
        assert pages == 3
        channels = [uri.channel for uri in found]
        assert channels == [None, *(name for name in names for _ in range(3))]


async def test_what_is_kept_has_a_bound(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any heading can be asked for."""
    monkeypatch.setattr(resources, "_CACHED", 3)
    async with served(root) as at:
        for number in range(9):
            await at.read(f"{MEMORY}/{number}")
        assert at.memory.resources.misses == 9
        await at.read(f"{MEMORY}/8")
        await at.read(f"{MEMORY}/0")
        assert (at.memory.resources.hits, at.memory.resources.misses) == (1, 10)
