"""The list of channels."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pipimem import File, Message
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.runtime.notes import ChannelNotes
from pipimem.web.pages import Pages
from pipimem.web.workspace_page import WorkspacePage

from tests.interfaces.web.building import browsing

pytestmark = pytest.mark.anyio


def at(minute: int) -> datetime:
    return datetime(2026, 3, 2, 9, minute, tzinfo=UTC)


async def test_every_channel_with_how_it_stands(root: Path) -> None:
    """Title, id, entries, health; a page of them, by name or by talk."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the port is 8080")
        for number in range(30):
            await browser.pipimem.channel(f"room-{number:02}")
        html = (await browser.client.get("/", params={"order": "name"})).text
        assert "Channels: 31" in html
        assert "room-05" in html
        assert "room-29" not in html
        found = (await browser.client.get("/", params={"words": "release"})).text
        assert "The release room" in found
        assert "Channels: 1" in found
        assert 'class="number">1</td>' in found
        assert "well" in found
        rest = (await browser.client.get("/", params={"order": "name", "from": "25"})).text
        assert "room-29" in rest
        assert (await browser.client.get("/", params={"order": "x"})).status_code == 400
        none = (await browser.client.get("/", params={"words": "nothing of the kind"})).text
        assert "No channel has these words" in none


def workspace_page(pages: Pages) -> WorkspacePage:
    return WorkspacePage(pages, ChannelOverview(pages.pipimem.store, pages.pipimem.clock))


@pytest.mark.parametrize("only", [None, "room-2"])
async def test_what_is_looked_at_first_is_read_before(
    root: Path, only: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes of the channels with the newest talk, or of the only one; one that is gone too."""
    async with browsing(root) as browser:
        for number in range(8):
            channel = await browser.pipimem.channel(f"room-{number}")
            await channel.after_turn(None, [Message("user", "hello", time=at(number))])
        pages = Pages(browser.pipimem, only)
        viewed: list[str] = []

        async def view(files: ChannelNotes, file: File, **_: object) -> None:
            viewed.append(f"{file} of {await files.stamp()}")

        monkeypatch.setattr(ChannelNotes, "view", view)
        await workspace_page(pages).warm()
        rooms = [only] if only else [f"room-{number}" for number in range(7, 2, -1)]
        channels = [await browser.pipimem.channel(room) for room in rooms]
        assert viewed == [f"MEMORY.md of {await one.notes.stamp()}" for one in channels]
        await workspace_page(Pages(browser.pipimem, "no such room")).warm()


async def test_long_notes_of_a_page_are_read_after_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at the list opens one of its channels next."""
    async with browsing(root) as browser:
        browser.write("".join(f"- entry {number}\n" for number in range(600)))
        await browser.pipimem.channel("short")
        viewed: list[File] = []

        async def view(_files: ChannelNotes, file: File, **_: object) -> None:
            viewed.append(file)

        monkeypatch.setattr(ChannelNotes, "view", view)
        assert "Channels: 2" in (await browser.client.get("/")).text
        assert viewed == [File.MEMORY]


async def test_a_hostile_title_is_words(root: Path) -> None:
    """Anybody may name a group."""
    async with browsing(root) as browser:
        await browser.pipimem.channel("g", title="<img src=x onerror=alert(1)>\u202e")
        html = (await browser.client.get("/")).text
        assert "<img" not in html
        assert "\u202e" not in html
        words = {"words": '"><script>alert(1)</script>'}
        assert "<script>alert" not in (await browser.client.get("/", params=words)).text
