"""An open page hears of a save by anybody, soon."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from pipimem.web.application import _events

from tests.interfaces.web.building import browsing

pytestmark = pytest.mark.anyio


async def test_a_save_is_heard(root: Path) -> None:
    """By an editor, and by the bot."""
    async with browsing(root) as browser:
        browser.write("- one\n")
        events = _events(browser.channel)
        assert "event: hello" in await anext(events)

        async def heard() -> None:
            with anyio.fail_after(60):
                assert "event: changed" in await anext(events)

        for save in (
            lambda: anyio.to_thread.run_sync(browser.write, "- two\n"),
            lambda: browser.channel.notes.remember("three"),
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(heard)
                await save()
        await events.aclose()


async def test_a_folder_that_is_gone_ends_nothing(root: Path) -> None:
    """The page is told, and told again once it is back."""
    async with browsing(root) as browser:
        browser.write("- one\n")
        events = _events(browser.channel)
        await anext(events)
        (browser.folder / "MEMORY.md").unlink()
        with anyio.fail_after(60):
            assert "event: changed" in await anext(events)
        await events.aclose()
