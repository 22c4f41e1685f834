"""Clients hear of a change, whoever wrote the file: in the new revision and as older clients do."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from pipimem.mcp import updates
from pipimem.mcp.server import MemoryServer
from pipimem.runtime.maintenance.watch import Watch

from tests.interfaces.mcp.building import CHANNEL, OLDER, Served, environment, served

pytestmark = [
    pytest.mark.anyio,
    # Older clients are still to be served.
    pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed"),
]

ROOM = "pipimem://cid6KeBBLoveM%2FAZ%3D%3D"
MEMORY = f"{ROOM}/memory"
# A busy machine may need long; nothing waits so long where it goes well.
SECONDS = 30


async def _next(listening: Subscription) -> Any:
    with anyio.fail_after(SECONDS):
        return await anext(aiter(listening))


async def _by_tool(at: Served) -> None:
    await at.call("memory_save", text="we never deploy on Fridays", kind="constraint")


async def _by_hand(at: Served) -> None:
    (at.folder / "MEMORY.md").write_text("## Constraints\n\n- typed by hand\n")


async def _by_an_editor(at: Served) -> None:
    """Editors write a new file and put it in the place of the old one."""
    draft = at.folder / ".MEMORY.md.swp"
    draft.write_text("## Constraints\n\n- typed by hand\n")
    draft.replace(at.folder / "MEMORY.md")


@pytest.mark.parametrize("change", [_by_tool, _by_hand, _by_an_editor])
async def test_who_listens_hears_of_a_change_of_memory(root: Path, change: Any) -> None:
    """With the URI that was asked for, and the first read after it is fresh."""
    async with (
        served(root) as at,
        at.client.listen(resource_subscriptions=[MEMORY]) as listening,
    ):
        await change(at)
        assert await _next(listening) == ResourceUpdated(uri=MEMORY)
        assert "## Constraints" in await at.read(MEMORY)


async def test_who_listens_hears_of_what_another_process_wrote(root: Path) -> None:
    """As of the bot that lives in the same workspace."""
    words = [sys.executable, "-m", "pipimem", "--workspace", str(root), "remember"]
    async with served(root) as at, at.client.listen(resource_subscriptions=[MEMORY]) as listening:
        await anyio.run_process([*words, CHANNEL, "we moved to Hangzhou"], env=environment())
        assert await _next(listening) == ResourceUpdated(uri=MEMORY)
        assert "Hangzhou" in await at.read(MEMORY)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (f"{ROOM}/session", "SESSION.md"),
        (f"{ROOM}/history", "HISTORY.md"),
        (f"{ROOM}/memory/Facts", "MEMORY.md"),
        ("pipimem://workspace/memory", "../../MEMORY.md"),
        # As a client may write it: it hears of the string that it knows.
        ("pipimem://cid6KeBBLoveM%2fAZ==/memory", "MEMORY.md"),
    ],
)
async def test_every_file_is_heard_of(root: Path, uri: str, name: str) -> None:
    """Saved by a person."""
    async with served(root) as at, at.client.listen(resource_subscriptions=[uri]) as listening:
        (at.folder / name).write_text("## Facts\n\n- the kiln takes eleven hours\n")
        assert await _next(listening) == ResourceUpdated(uri=uri)
        assert "kiln" in await at.read(uri)


async def test_only_what_changed_is_told_of(root: Path) -> None:
    """A file saved as it was is no change, and another section is another resource."""
    sections = [f"{MEMORY}/Facts", f"{MEMORY}/Decisions"]
    async with served(root) as at, at.client.listen(resource_subscriptions=sections) as listening:
        text = "## Facts\n\n- the kiln takes eleven hours\n"
        (at.folder / "MEMORY.md").write_text(text)
        assert await _next(listening) == ResourceUpdated(uri=sections[0])
        (at.folder / "MEMORY.md").write_text(text)
        await anyio.sleep(0.3)
        (at.folder / "MEMORY.md").write_text(f"{text}\n## Decisions\n\n- we bake at night\n")
        assert await _next(listening) == ResourceUpdated(uri=sections[1])


async def test_who_listens_hears_of_a_new_channel(root: Path) -> None:
    """The list of resources is another one then."""
    async with served(root) as at, at.client.listen(resources_list_changed=True) as listening:
        await at.memory.pipimem.channel("new room")
        assert await _next(listening) == ResourcesListChanged()
        uris = [found.uri for found in (await at.client.list_resources()).resources]
        assert "pipimem://new%20room/memory" in uris


async def test_a_foreign_uri_cannot_be_listened_to(root: Path) -> None:
    """It would never be heard of."""
    async with served(root, only="alone") as at:
        await at.memory.pipimem.channel("other")
        for uri, sentence in (
            ("pipimem://other/memory", "one conversation alone"),
            ("file:///etc/passwd", "no resource of this server"),
        ):
            with pytest.raises(MCPError, match=sentence):
                async with at.client.listen(resource_subscriptions=[uri]):
                    pass
        assert at.memory.updates.followed == 0


async def test_nothing_is_compared_once_nobody_listens(root: Path) -> None:
    """Neither after a stream, nor after a subscription, nor after a client that just went."""
    async with served(root) as at:
        async with at.client.listen(resource_subscriptions=[MEMORY]):
            assert at.memory.updates.followed == 1
        with anyio.fail_after(SECONDS):
            while at.memory.updates.followed:
                await anyio.sleep(0.01)
    async with served(root, mode=OLDER) as at:
        await at.client.subscribe_resource(MEMORY)
        await at.client.subscribe_resource(MEMORY)
        assert at.memory.updates.followed == 1
        await at.client.unsubscribe_resource(MEMORY)
        await at.client.unsubscribe_resource(MEMORY)
        assert at.memory.updates.followed == 0
        await at.client.subscribe_resource(MEMORY)
    assert at.memory.updates.followed == 0


class _Heard:
    """What an older client is told."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._more = anyio.Event()

    async def __call__(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            self.uris.append(str(message.params.uri))
            self._more.set()

    async def until(self, count: int) -> None:
        with anyio.fail_after(SECONDS):
            while len(self.uris) < count:
                await self._more.wait()
                self._more = anyio.Event()


@pytest.mark.parametrize("change", [_by_tool, _by_hand, _by_an_editor])
async def test_an_older_client_hears_of_what_it_subscribed_to(root: Path, change: Any) -> None:
    """Until it wants no more."""
    heard = _Heard()
    async with served(root, mode=OLDER, message_handler=heard) as at:
        await at.client.subscribe_resource(MEMORY)
        await change(at)
        await heard.until(1)
        assert heard.uris == [MEMORY]
        assert "## Constraints" in await at.read(MEMORY)
        await at.client.unsubscribe_resource(MEMORY)
        await at.client.subscribe_resource(f"{ROOM}/session")
        (at.folder / "MEMORY.md").write_text("- something else\n")
        (at.folder / "SESSION.md").write_text("- something else\n")
        await heard.until(2)
        assert heard.uris == [MEMORY, f"{ROOM}/session"]


async def test_an_older_client_is_told_of_a_foreign_uri(root: Path) -> None:
    """It would never be heard of."""
    async with served(root, mode=OLDER) as at:
        with pytest.raises(MCPError, match="There is no such conversation here"):
            await at.client.subscribe_resource("pipimem://nobody/memory")
        assert at.memory.updates.followed == 0
        assert at.client.server_capabilities.resources.subscribe is True


async def test_without_a_watch_files_are_compared(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network's file system."""
    monkeypatch.setattr(Watch, "start", lambda _: "no inotify watch is left")
    monkeypatch.setattr(updates, "_COMPARE_WITHOUT_A_WATCH", 0.05)
    async with (
        served(root) as at,
        at.client.listen(resource_subscriptions=[MEMORY]) as listening,
    ):
        await _by_hand(at)
        assert await _next(listening) == ResourceUpdated(uri=MEMORY)


async def test_a_watch_that_lost_something_begins_anew(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And everything is compared, since it does not know what it lost."""
    starts: list[Watch] = []

    def start(watch: Watch) -> str:
        starts.append(watch)
        return ""

    monkeypatch.setattr(Watch, "start", start)
    monkeypatch.setattr(Watch, "is_unavailable", False)
    monkeypatch.setattr(updates, "_COMPARE_EVERY", math.inf)
    async with (
        served(root) as at,
        at.client.listen(resource_subscriptions=[MEMORY]) as listening,
    ):
        await _by_hand(at)
        await anyio.to_thread.run_sync(starts[0].tell, None)
        assert await _next(listening) == ResourceUpdated(uri=MEMORY)
        with anyio.fail_after(SECONDS):
            while len(starts) < 2:
                await anyio.sleep(0.01)


async def test_nothing_is_watched_until_somebody_wants_to_hear(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process that serves a large workspace would take thousands of the kernel's watches."""
    starts: list[Watch] = []
    begin = Watch.start

    def start(watch: Watch) -> str:
        starts.append(watch)
        return begin(watch)

    monkeypatch.setattr(Watch, "start", start)
    async with served(root) as at:
        await _by_tool(at)
        await at.read(MEMORY)
        await anyio.sleep(0.3)
        assert starts == []
        async with at.client.listen(resource_subscriptions=[MEMORY]) as listening:
            await _by_hand(at)
            assert await _next(listening) == ResourceUpdated(uri=MEMORY)
        assert len(starts) == 1


async def test_a_channel_that_is_removed_is_a_change(root: Path) -> None:
    """Whoever reads it then is told that it is not there."""
    async with served(root) as at:
        await _by_hand(at)
        async with at.client.listen(resource_subscriptions=[MEMORY]) as listening:
            await at.memory.pipimem.remove(CHANNEL)
            assert await _next(listening) == ResourceUpdated(uri=MEMORY)
        with pytest.raises(MCPError, match="no such conversation"):
            await at.read(MEMORY)


async def test_the_stream_ends_when_the_server_does(root: Path) -> None:
    """It tells the client, which is not left to wonder."""
    async with served(root) as at, at.client.listen(resource_subscriptions=[MEMORY]) as listening:
        assert isinstance(at.memory, MemoryServer)
        at.memory.close()
        with anyio.fail_after(SECONDS), pytest.raises(StopAsyncIteration):
            await anext(aiter(listening))
