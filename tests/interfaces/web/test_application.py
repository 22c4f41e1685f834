"""Every route there is, whoever adds one: none shows or changes another channel than the one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.serving.token import Token
from pipimem.web.application import _routes
from pipimem.web.guard import BrowserSession
from pipimem.web.pages import Pages
from starlette.routing import Route

from tests.interfaces.web.building import PORT, TOKEN, Browser, browsing

pytestmark = pytest.mark.anyio

# What is the same for everybody.
_OPEN = {"/sign-in", "/sign-in/status", "/favicon.ico"}
SECRET = "the vault of theirs is on the second floor"


def routes(browser: Browser, *, only: str | None) -> Iterator[tuple[str, str]]:
    """The methods and paths of all routes."""
    pages = Pages(browser.pipimem, only)
    overview = ChannelOverview(browser.pipimem.store, browser.pipimem.clock)
    found = _routes(pages, overview, Token(TOKEN), BrowserSession(PORT))
    for route in found:
        if isinstance(route, Route) and route.path not in _OPEN:
            for method in (route.methods or set()) - {"HEAD"}:
                yield method, route.path


async def test_a_view_of_one_channel_shows_nothing_of_another(root: Path) -> None:
    """Asked for by its id, or for all: neither its words nor its name."""
    async with browsing(root, only="mine") as browser:
        theirs = await browser.pipimem.channel("theirs-4711", title="Theirs")
        await theirs.remember(SECRET)
        paths = sorted(routes(browser, only="mine"))
        assert len(paths) > 10
        for method, path in paths:
            if method == "GET":
                answer = await browser.client.get(path, params={"id": "theirs-4711"})
                whole = await browser.client.get(path) if path != "/events" else answer
                for said in (answer, whole):
                    assert SECRET not in said.text, path
                    assert "theirs-4711" not in said.text.replace("id=theirs-4711", ""), path
            else:
                body = {"text": "vault", "draft": "", "base": "", "kind": "fact", "number": 1}
                told = await browser.change(method, path, "*", body, id="theirs-4711")
                assert told.status_code in (400, 403, 404), path
        assert SECRET in (browser.pipimem.store.folder_of("theirs-4711") / "MEMORY.md").read_text()


async def test_every_route_wants_the_sign_in(root: Path) -> None:
    """Also one that is added tomorrow."""
    async with browsing(root, signed_in=False) as browser:
        for method, path in routes(browser, only=None):
            if method == "GET":
                assert (await browser.get(path)).status_code == 303, path
            else:
                assert (await browser.change(method, path, "*", {})).status_code == 401, path


async def test_every_change_is_refused_where_only_reading_is_allowed(root: Path) -> None:
    """Whoever wrote its route."""
    async with browsing(root, read_only=True) as browser:
        changes = [one for one in routes(browser, only=None) if one[0] != "GET"]
        assert len(changes) > 5
        for method, path in changes:
            assert (await browser.change(method, path, "*", {})).status_code == 403, path
