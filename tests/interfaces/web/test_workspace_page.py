"""The list of channels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.web.building import browsing

pytestmark = pytest.mark.anyio


async def test_every_channel_with_how_it_stands(root: Path) -> None:
    """Title, id, entries, health; a page of them, by name or by talk."""
    async with browsing(root) as browser:
        await browser.channel.remember("the port is 8080")
        for number in range(30):
            await browser.pipimem.channel(f"room-{number:02}")
        html = (await browser.client.get("/", params={"order": "name"})).text
        assert "Channels: 31" in html
        assert "room-05" in html
        assert "room-29" not in html
        found = (await browser.client.get("/", params={"words": "release"})).text
        assert "The release room" in found
        assert "Channels: 1" in found
        assert '<td class="number">1</td>' in found
        assert "well" in found
        rest = (await browser.client.get("/", params={"order": "name", "from": "25"})).text
        assert "room-29" in rest
        assert (await browser.client.get("/", params={"order": "x"})).status_code == 400
        none = (await browser.client.get("/", params={"words": "nothing of the kind"})).text
        assert "No channel has these words" in none


async def test_a_hostile_title_is_words(root: Path) -> None:
    """Anybody may name a group."""
    async with browsing(root) as browser:
        await browser.pipimem.channel("g", title="<img src=x onerror=alert(1)>\u202e")
        html = (await browser.client.get("/")).text
        assert "<img" not in html
        assert "\u202e" not in html
        words = {"words": '"><script>alert(1)</script>'}
        assert "<script>alert" not in (await browser.client.get("/", params=words)).text
