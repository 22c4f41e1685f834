"""Every route there is, whoever adds one: none shows or changes another channel than the one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.serving.access import Token
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
        await theirs.notes.remember(SECRET)
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


PATHS = (
    *(("/channel", {"file": file}) for file in ("MEMORY.md", "SESSION.md", "HISTORY.md")),
    *(("/channel/source", {"file": file}) for file in ("MEMORY.md", "SESSION.md", "HISTORY.md")),
    ("/channel/forget", {"text": "printer"}),
    ("/changes", {}),
    ("/changes", {"words": "printer"}),
    *(("/change", {"number": str(number)}) for number in range(1, 4)),
    ("/notes-on-day", {"day": "2099-01-01"}),
    ("/talk", {}),
    ("/talk", {"q": "printer"}),
    ("/talk/around", {"message": "raw"}),
    ("/playground", {"text": "where is the printer?"}),
    ("/health", {}),
    ("/agenda", {}),
    ("/conflicts", {}),
)


async def test_no_page_shows_a_secret_or_a_private_stretch(root: Path) -> None:
    """Wherever somebody wrote it: in entries, headings, tables, names, and the log itself."""
    key = "ghp_" + "a1B2" * 9
    hidden = f"printer {key} <private>{SECRET}</private>"
    async with browsing(root) as browser:
        twice = f"- one {hidden}\n" * 2
        table = f"| {key} | <private>{SECRET}</private> |\n|---|---|\n| a | b |\n"
        browser.write(f"# Memory\n\n## Facts {hidden}\n\n{twice}\n{table}")
        browser.write(f"# Session\n\n## Current State\n\n- two {hidden}\n", "SESSION.md")
        browser.write(f"# History\n\n## 2026-03-02 {hidden}\n\n- three {hidden}\n", "HISTORY.md")
        await browser.channel.notes.remember("the printer is on floor four.", speaker=f"Eve {key}")
        browser.write(browser.read().replace("the printer", "our printer"))
        await browser.channel.notes.remember("another fact.")
        said = {"id": "raw", "n": 1, "ts": "2026-03-02T09:00:00+00:00", "role": "user"}
        line = json.dumps({**said, "name": f"Eve {key}", "content": hidden})
        (browser.folder / "log.jsonl").write_text(f"{line}\n", encoding="utf-8")
        entries = re.findall(r'href="(/entry\?[^"]+)"', (await browser.get("/channel")).text)
        assert len(entries) > 2
        answers = [await browser.client.get(unescape(one)) for one in entries]
        answers += [await browser.get(path, **query) for path, query in PATHS]
        for answer in answers:
            text = unescape(answer.text)
            assert answer.status_code == 200, answer.url
            assert "a1B2" not in text, answer.url
            # What a person typed into a file stays theirs: the bot's block has it, and is shown.
            assert SECRET not in text.partition("What the bot is given")[0], answer.url
        assert sum("printer" in answer.text for answer in answers) > 10
