"""What a person changes through the page, and what happens if others changed it first."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pipimem import Text
from pipimem.resources import web_texts

from tests.interfaces.web.building import Browser, browsing

pytestmark = pytest.mark.anyio

MEMORY = "# Memory\n\n## Facts\n\n- The port is 8080\n- The host is bonn\n"


async def block(browser: Browser, words: str) -> tuple[str, dict[str, Any]]:
    """The id of an entry, and what a change of it says."""
    from pipimem import File

    for each in (await browser.channel.notes.view(File.MEMORY)).blocks:
        if each.entry is not None and words in each.text:
            return each.entry.id, {"section": each.section, "source": each.source}
    raise AssertionError(words)


async def test_the_whole_file(root: Path) -> None:
    """Saved with its mark; with an older one both sides come back, and nothing is written."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        source = (await browser.get("/channel/source")).json()
        body = {"base": source["text"], "draft": MEMORY.replace("8080", "9090")}
        saved = await browser.change("PUT", "/channel/file", source["etag"], body)
        assert saved.status_code == 200
        assert browser.read() == MEMORY.replace("8080", "9090")
        assert saved.headers["etag"] == f'"{saved.json()["etag"]}"'
        body["draft"] = MEMORY.replace("8080", "7070")
        stale = await browser.change("PUT", "/channel/file", source["etag"], body)
        assert stale.status_code == 412
        assert browser.read() == MEMORY.replace("8080", "9090")
        found = stale.json()
        assert "7070" in found["merged"]
        assert "9090" in found["merged"]
        assert found["clashing"] == ["- The port is 8080\n"]


async def test_one_entry(root: Path) -> None:
    """By its id; once it is reworded by somebody, both wordings come back."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        name, body = await block(browser, "port")
        body["draft"] = "The port is 9090"
        assert (await browser.change("PUT", "/channel/entry", name, body)).status_code == 200
        assert browser.read() == MEMORY.replace("8080", "9090")
        again = await browser.change("PUT", "/channel/entry", name, body | {"draft": "Port 1"})
        assert again.status_code == 412
        assert "- The port is 9090\n- The host is bonn\n- Port 1\n" in again.json()["merged"]
        assert "Port 1" not in browser.read()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("draft", ["", "## A heading", "- one\n- two", "```\nno end"])
async def test_a_draft_that_would_be_no_entry_is_refused(
    root: Path, draft: str, language: str
) -> None:
    """With a sentence in the language of the page, and nothing is written."""
    async with browsing(root, language=language) as browser:
        browser.write(MEMORY)
        name, body = await block(browser, "port")
        saved = await browser.change("PUT", "/channel/entry", name, body | {"draft": draft})
        assert saved.status_code == 409
        begins = {"en": "Nothing was saved: ", "zh": "没有保存："}[language]
        assert begins in unescape(saved.text)
        assert browser.read() == MEMORY


async def test_an_entry_is_taken_out(root: Path) -> None:
    """By its id; a second time it is gone already."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        name, body = await block(browser, "port")
        assert (await browser.change("DELETE", "/channel/entry", name, body)).status_code == 200
        assert browser.read() == MEMORY.replace("- The port is 8080\n", "")
        again = await browser.change("DELETE", "/channel/entry", name, body)
        assert again.status_code == 412
        page = await browser.page("/changes")
        assert "<b>taken out</b> Memory · Facts: <del>The port is 8080</del>" in " ".join(
            page.split()
        )


async def test_pin_move_and_remember(root: Path) -> None:
    """Each is one change of the log."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        name, body = await block(browser, "port")
        pinned = await browser.change("POST", "/channel/pin", name, body | {"pinned": True})
        assert pinned.status_code == 200
        assert "- The port is 8080 📌\n" in browser.read()
        name, body = await block(browser, "host")
        moved = await browser.change("POST", "/channel/move", name, body | {"kind": "decision"})
        assert moved.status_code == 200
        assert "## Decisions\n\n- The host is bonn\n" in browser.read()
        fresh = {"text": "the door is blue", "kind": "fact"}
        added = await browser.change("POST", "/channel/remember", "*", fresh)
        assert added.json() == {"added": 1, "quoted": False}
        assert "the door is blue" in browser.read()
        assert len(await browser.channel.history.log()) >= 3


async def test_forgetting_shows_what_would_go_and_gives_a_receipt(root: Path) -> None:
    """An entry by its id, or a text."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        name, _ = await block(browser, "port")
        preview = (await browser.get("/channel/forget", entry=name)).json()
        assert preview == {"entries": ["The port is 8080"], "messages": [], "speakers": []}
        assert "8080" in browser.read()
        wrong = await browser.change("POST", "/channel/forget", "*", {"entry": name})
        assert wrong.status_code == 412
        done = await browser.change("POST", "/channel/forget", name, {"entry": name})
        assert done.json()["removed"]["entries"] == 1
        assert "8080" not in browser.read()
        done = await browser.change("POST", "/channel/forget", "*", {"text": "bonn"})
        assert done.status_code == 200
        assert "bonn" not in browser.read()


async def test_a_secret_that_is_typed_is_not_written(root: Path) -> None:
    """And the answer says so."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        source = (await browser.get("/channel/source")).json()
        body = {"base": MEMORY, "draft": f"{MEMORY}- password: hunter2-Zx9!kd\n"}
        saved = await browser.change("PUT", "/channel/file", source["etag"], body)
        assert saved.json()["hides"] is True
        assert "hunter2" not in browser.read()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/channel/file", {"draft": "x"}),
        ("/channel/file", {"draft": 1, "base": ""}),
        ("/channel/entry", {"draft": "x", "section": None, "source": ""}),
    ],
)
async def test_fields_that_are_none_are_told(root: Path, path: str, body: dict[str, Any]) -> None:
    """400, and nothing is written."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        assert (await browser.change("PUT", path, "x", body)).status_code == 400
        assert browser.read() == MEMORY


@pytest.mark.parametrize("entry", [False, True])
async def test_a_nul_that_is_pasted_is_not_written(root: Path, entry: bool) -> None:
    """With it the file would be no text: nobody could read it any more."""
    async with browsing(root) as browser:
        browser.write("- one\n- two\n")
        if entry:
            name, place = await block(browser, "one")
            saved = await browser.change(
                "PUT", "/channel/entry", name, {**place, "draft": "o\0ne\0 more\n"}
            )
        else:
            source = (await browser.get("/channel/source")).json()
            body = {"base": source["text"], "draft": "- one\0 more\n- two\n"}
            saved = await browser.change("PUT", "/channel/file", source["etag"], body)
        assert saved.status_code == 200
        assert saved.json()["hides"] is False
        assert browser.read() == "- one more\n- two\n"


@pytest.mark.parametrize("body", ["", "[]", "{", '{"draft":' * 5_000, "[" * 100_000, "\ud800"])
async def test_a_body_that_is_no_object_is_told(root: Path, body: str) -> None:
    """Also one that is nested deeper than anybody can read."""
    async with browsing(root, signed_in=False) as browser:
        sent = body.encode("utf-8", "surrogatepass")
        answer = await browser.client.post(
            "/sign-in", content=sent, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400


async def test_another_file_than_the_notes_is_none(root: Path) -> None:
    """No path leads out of the channel."""
    async with browsing(root) as browser:
        for name in ("../../SOUL.md", "SOUL.md", "log.jsonl", "/etc/passwd", "HISTORY.archive.md"):
            answer = await browser.get("/channel/source", file=name)
            assert answer.status_code == 404
            body = {"draft": "x", "base": ""}
            answer = await browser.change("PUT", "/channel/file", "*", body, file=name)
            assert answer.status_code == 404


async def test_where_one_channel_is_shown_there_is_no_other(root: Path) -> None:
    """Neither to look at nor to change, and nothing says whether it exists."""
    async with browsing(root, only="mine") as browser:
        await browser.pipimem.channel("theirs")
        answers = []
        for name in ("theirs", "nobody"):
            answer = await browser.client.get("/channel", params={"id": name})
            assert answer.status_code == 404
            answers.append(answer.text)
            for method, path in (("PUT", "/channel/file"), ("POST", "/channel/forget")):
                changed = await browser.change(method, path, "*", {"text": "x"}, id=name)
                assert changed.status_code == 404
        assert answers[0] == answers[1]
        home = await browser.client.get("/")
        assert home.headers["location"] == "/channel?id=mine"


async def test_each_place_of_a_receipt_has_a_name_in_both_languages(root: Path) -> None:
    """The script of the page takes it from there."""
    for language in ("en", "zh"):
        async with browsing(root, language=language) as browser:
            browser.write(MEMORY)
            counts = await browser.channel.notes.forget(Text("8080"))
            named = web_texts(language)["receipt"]
            assert set(named) == set(counts)
            html = await browser.page("/channel")
            for place, name in named.items():
                assert f'data-{place}="{name}"' in html
