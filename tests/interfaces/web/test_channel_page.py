"""The page of a channel: what stands in its files, in both languages, whatever it is."""

from __future__ import annotations

import re
from datetime import datetime
from html import unescape
from pathlib import Path

import pytest
from pipimem import Message
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Tokens, Trust
from pipimem.store.channel import ChannelStore

from tests.interfaces.web.building import browsing
from tests.interfaces.web.test_markdown import HOSTILE

pytestmark = pytest.mark.anyio


async def test_an_entry_with_what_is_known_of_it(root: Path) -> None:
    """Who said it, how it came, how often it was recalled."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("we deploy on Tuesdays", speaker="Alice")
        html = await browser.page("/channel")
        for words in ("we deploy on Tuesdays", "Alice", "asked for", "Fact", "Memory"):
            assert words in html


async def test_both_languages(root: Path) -> None:
    """By what the browser prefers."""
    async with browsing(root, language="zh-CN,zh;q=0.9,en;q=0.5") as browser:
        html = await browser.page("/channel")
        assert '<html lang="zh-CN">' in html
        assert "编辑整个文件" in html
        english = await browser.get("/channel", file="HISTORY.md")
        assert "历史" in english.text


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_entries_are_words(root: Path, text: str) -> None:
    """Wherever they stand: in an entry, a heading, prose, a speaker's name."""
    async with browsing(root) as browser:
        line = " ".join(text.splitlines())
        browser.write(f"## {line}\n\n- {line}\n\n{text}\n")
        await browser.channel.notes.remember("x y z", speaker=line)
        html = (await browser.get("/channel")).text
        ours = html.count("<script")
        assert ours == html.count('<script type="module" src="/static/')
        for tag in ("<img", "<svg", "<style", "<iframe", "<base", "<input onerror", "<form action"):
            assert tag not in html


async def test_a_long_file_comes_in_pages(root: Path) -> None:
    """And says how many entries there are."""
    async with browsing(root) as browser:
        browser.write("## Facts\n\n" + "".join(f"- entry number {n}\n" for n in range(500)))
        first = await browser.page("/channel")
        assert "entry number 10\n" in first
        assert "entry number 400\n" not in first
        assert "Entries: 500" in first
        last = await browser.page("/channel", **{"from": "350"})
        assert "entry number 400\n" in last


async def test_secrets_and_private_stretches_are_hidden(root: Path) -> None:
    """Also in what the scripts get."""
    async with browsing(root) as browser:
        browser.write("## Facts\n\n- password: hunter2-Zx9!kd\n- <private>my diary</private> ok\n")
        html = await browser.page("/channel")
        source = (await browser.get("/channel/source")).text
        for said in (html, source):
            assert "hunter2" not in said
            assert "diary" not in said
        assert "are hidden on this page" in html


async def test_an_unknown_channel_and_a_wrong_number_are_told(root: Path) -> None:
    """As a page, without a trace of the server."""
    async with browsing(root) as browser:
        missing = await browser.client.get("/channel", params={"id": "nobody"})
        assert missing.status_code == 404
        assert "There is no such channel here" in missing.text
        for number in ("-1", "x", "99999999999"):
            assert (await browser.get("/channel", **{"from": number})).status_code == 400


async def test_why_an_entry_is_there(root: Path) -> None:
    """The change that brought it, and the talk around it."""
    async with browsing(root) as browser:
        said = "Decision: we release on Thursday 2026-12-03."
        await browser.channel.talk.append(
            [
                Message.user("good morning all", speaker="Bob", id="m1"),
                Message.user(said, speaker="Alice", id="m2"),
            ]
        )
        await browser.channel.before_compaction()
        (entry,) = [one for one in await browser.channel.notes.entries() if "Thursday" in one.text]
        html = await browser.page("/entry", section=entry.section, entry=entry.id)
        for words in (
            "Why is this here?",
            "Alice",
            "good morning all",
            "Change 1",
            "It was concluded",
        ):
            assert words in html
        gone = await browser.get("/entry", section=entry.section, entry="nothing")
        assert gone.status_code == 404


async def test_entries_are_filtered(root: Path) -> None:
    """By kind, how they came and words; the form keeps what was chosen, over all its pages."""
    async with browsing(root) as browser:
        lines = "".join(f"- entry number {n}\n" for n in range(400))
        browser.write(f"## Facts\n\n{lines}\n## Lessons\n\n- a lesson of number 7\n")
        html = await browser.page("/channel", kind="lesson", words="NUMBER 7")
        assert "a lesson of number 7" in html
        assert "entry number 7\n" not in html
        assert "1 of 401 entries" in html
        assert '<option value="lesson" selected>' in html
        assert 'value="NUMBER 7"' in html
        html = await browser.page("/channel", trust="human", kind="fact")
        assert "400 of 401 entries" in html
        assert "kind=fact&trust=human&from=75" in html
        assert "0 of 401 entries" in await browser.page("/channel", trust="inferred")
        assert (await browser.get("/channel", kind="nonsense")).status_code == 400
        assert (await browser.get("/channel", trust="nonsense")).status_code == 400


async def test_the_talk_that_a_line_of_the_session_came_of(root: Path) -> None:
    """It names no message; the change that wrote it read some, and they are a click away."""
    async with browsing(root) as browser:
        said = "Decision: we release on Thursday 2026-12-03."
        talk = [Message.user(f"good morning {n}", speaker="Bob", id=f"m{n}") for n in range(20)]
        await browser.channel.talk.append([*talk, Message.user(said, speaker="Alice", id="m20")])
        await browser.channel.before_compaction()
        source = await browser.page("/channel", file="SESSION.md")
        href = re.search(r'href="(/entry[^"]*)"', source)
        assert href
        html = unescape((await browser.client.get(href[1])).text)
        assert "rests on no message" not in html
        assert "read the messages 1 to 21" in html
        assert "upto=21#n1" in html
        assert html.count("upto=21#n1") == 2  # why the change was made names them, too
        assert 'id="n1"' in await browser.page("/talk", upto="21")
        assert "upto=21#n1" in await browser.page("/changes")
        assert "upto=21#n1" in await browser.page("/change", number="1")


async def test_which_model_brought_an_entry_and_what_it_took(root: Path) -> None:
    """The run that learnt it: the model by its name, its tokens, the messages that it read."""
    async with browsing(root) as browser:
        talk = [Message.user("we sail at nine, decided", speaker="Ann", id="m1")]
        await browser.channel.talk.append(talk)
        learnt = Decision(
            "consolidate",
            Author.MODEL,
            (Add(Kind.DECISION, "The ship sails at nine.", Trust.INFERRED, Evidence(("m1",))),),
            why="messages 1–1",
            tokens=Tokens(4_321, 9_000),
        )
        store = ChannelStore.open(browser.pipimem.store, browser.channel.id, create=False)
        store.commit(learnt, datetime.now().astimezone(), actor="openai/tiny")
        (entry,) = await browser.channel.notes.entries()
        html = await browser.page("/entry", section=entry.section, entry=entry.id)
        for words in ("consolidate by the sidecar (openai/tiny)", "It took 4321 tokens."):
            assert words in html
        assert "we sail at nine, decided" in html
        assert "openai/tiny" in await browser.page("/changes")
