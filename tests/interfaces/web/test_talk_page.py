"""The pages of what was said: the transcript by the page, a search, the talk around a message."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from pipimem import Message

from tests.interfaces.web.building import Browser, browsing
from tests.interfaces.web.test_markdown import HOSTILE

pytestmark = pytest.mark.anyio


async def said(browser: Browser, *texts: str, speaker: str = "Dana") -> None:
    """Messages of a person, one behind the other."""
    first = len((await browser.channel.talk.page()).messages)
    await browser.channel.talk.append(
        [
            Message.user(text, id=f"m{first + number}", speaker=speaker)
            for number, text in enumerate(texts)
        ]
    )


async def test_a_long_transcript_comes_in_pages(root: Path) -> None:
    """The newest first, with a link to what was said before, and no more than that is read."""
    async with browsing(root) as browser:
        await said(browser, *[f"message number {n} of many" for n in range(250)])
        newest = await browser.page("/talk")
        assert "message number 249 of" in newest
        assert "message number 149 of" not in newest
        assert "upto=150" in newest
        before = await browser.page("/talk", upto="150")
        assert "message number 149 of" in before
        assert "message number 150 of" not in before
        assert "upto=250" in before


async def test_a_search_marks_its_words_and_leads_to_the_talk_around(root: Path) -> None:
    """In notes and talk, in both languages."""
    async with browsing(root) as browser:
        await said(browser, "we deploy on Tuesdays", "fine", "上线窗口是周四晚上")
        html = await browser.page("/talk", q="deployed when")
        assert "<mark>deploy</mark>" in html
        assert "/talk/around?id=" in html
        assert "message=m0" in html
        assert "<mark>上线窗口</mark>" in await browser.page("/talk", q="上线窗口")
        assert "<mark>上线窗</mark>" in await browser.page("/talk", q="上线窗")
        around = await browser.page("/talk/around", message="m0", q="deployed when")
        assert "q=deployed+when" in around  # back to the search
        assert "上线窗口是周四晚上" in around
        assert 'class="meant"' in around


async def test_each_hit_leads_to_more_of_it(root: Path) -> None:
    """An entry to why it is there, in whatever file; a message to the talk around it."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the harbour opens at nine", speaker="Ann")
        browser.write("## Current State\n\n- the harbour is closed\n", "SESSION.md")
        archive = "# History\n\n## 2025-03-01 09:00–10:00 +00:00\n\n- the harbour was built\n"
        browser.write(archive, "HISTORY.archive.md")
        await said(browser, "the harbour looks nice")
        (browser.pipimem.store.root / "MEMORY.md").write_text("- every harbour is blue\n", "utf-8")
        html = (await browser.get("/talk", q="harbour")).text
        rows = re.findall(r"<li dir.*?</li>", html, re.DOTALL)
        links = {}
        for row in rows:
            words = next(one for one in WORDS if one in row)
            found = re.search(r'href="([^"]*)"', row)
            links[words] = unescape(found[1]) if found else ""
        assert set(links) == set(WORDS)
        assert links.pop("is blue") == ""  # the memory of all channels
        for words, link in links.items():
            answer = await browser.client.get(link)
            assert answer.status_code == 200, link
            assert words in answer.text


WORDS = ("opens at nine", "is closed", "was built", "looks nice", "is blue")


async def test_filters(root: Path) -> None:
    """By speaker, role, place and day; a form that says nonsense is told so."""
    async with browsing(root) as browser:
        await said(browser, "the harbour opens at nine")
        await said(browser, "the harbour opens at ten", speaker="Tom")
        html = await browser.page("/talk", q="harbour opens", speaker="Tom", where="log")
        assert "at</mark> ten" in html or "at ten" in html
        assert "nine" not in html.partition("<ol")[2]
        assert "0 found" in await browser.page("/talk", q="harbour opens", before="2001-01-01")
        for query in ({"after": "Tuesday"}, {"where": "moon"}, {"role": "king"}):
            assert (await browser.get("/talk", q="harbour", **query)).status_code == 400
        assert (await browser.get("/talk/around", message="nobody")).status_code == 404


async def test_filters_without_words(root: Path) -> None:
    """The transcript of one speaker, role or time alone, and the pages before it."""
    async with browsing(root) as browser:
        question = Message.user("where is the printer?", speaker="Dana")
        await browser.channel.talk.append([question, Message.assistant("On floor four.")])
        theirs = await browser.page("/talk", speaker="dana")
        assert "where is the printer" in theirs
        assert "On floor four" not in theirs
        answers = await browser.page("/talk", role="assistant")
        assert "On floor four" in answers
        assert "where is the printer" not in answers
        assert "as far as this page looks back" in await browser.page("/talk", speaker="Nobody")
        assert "as far as" in await browser.page("/talk", after="2001-01-01", before="2001-02-01")


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_talk_is_words(root: Path, text: str) -> None:
    """In the transcript, in hits, in the query itself."""
    async with browsing(root) as browser:
        await said(browser, f"zebra {text}", speaker=" ".join(text.split())[:60])
        for query in ({}, {"q": "zebra"}, {"q": text[:500]}):
            html = (await browser.get("/talk", **query)).text
            assert html.count("<script") == 1
            for tag in ("<img", "<svg", "<style", "<iframe", "<base", "<input onerror"):
                assert tag not in html


async def test_secrets_are_masked(root: Path) -> None:
    """Also one that stands in the log because somebody wrote it there."""
    async with browsing(root) as browser:
        await said(browser, "hello")
        log = browser.folder / "log.jsonl"
        log.write_text(log.read_text().replace("hello", "key ghp_" + "a1B2" * 9))
        assert "ghp_a1B2" not in await browser.page("/talk")
