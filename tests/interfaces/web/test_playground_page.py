"""The page that says why the bot knew something, and keeps a question for a person."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pipimem import Source
from pipimem.recall.phrases import Intent
from pipimem.recall.scorer import _BESIDE_WORDS, _TRUST, NAMES_THE_TIME
from pipimem.resources import web_texts

from tests.interfaces.web.building import browsing
from tests.interfaces.web.test_markdown import HOSTILE

pytestmark = pytest.mark.anyio
MEMORY = """## Facts

- Dana: the harbour gate opens at nine
- Tom: the gate of the car park is green
- the kitchen is upstairs
"""


async def test_what_a_turn_shows_and_why(root: Path) -> None:
    """Words, candidates with their parts, the exact block, and what a search alone finds."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        html = await browser.page("/playground", text="when does the harbour gate open?")
        for words in ("harbour", "Looked for", "shown", "the harbour gate opens at nine", "<rect"):
            assert words in html
        turn = await browser.channel.preview_turn("when does the harbour gate open?", first=False)
        assert turn.turn.recalled.splitlines()[0] in html
        assert "about " in html
        assert re.search(r"</span>opens? \+", html)  # as it was written, not its stem


async def test_the_parts_of_a_score_are_told_in_the_language_of_the_page(root: Path) -> None:
    """Every name that recall gives to what is no word has a text in both languages."""
    named = {f"source {source}" for source in Source} | {f"intent {intent}" for intent in Intent}
    named |= {f"trust {trust}" for trust, lift in _TRUST.items() if lift}
    named |= {"recent", "date asked for", "recalled before", NAMES_THE_TIME, *_BESIDE_WORDS}
    for language in ("en", "zh"):
        assert set(web_texts(language)["part"]) == named
    async with browsing(root, language="zh-CN") as browser:
        browser.write(MEMORY)
        html = await browser.page("/playground", text="when does the harbour gate open?")
        assert "在记忆中" in html
        assert "source memory" not in html


async def test_silence_is_explained(root: Path) -> None:
    """The reason is the one that recall gives."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        reason = (await browser.channel.recall("git status")).reason
        assert reason
        assert reason in await browser.page("/playground", text="git status")


async def test_it_leaves_no_trace(root: Path) -> None:
    """No file changes, and the next turn is the first one still."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        await browser.page("/channel")
        files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        await browser.page("/playground", text="when does the harbour gate open?", first="1")
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == files
        assert (await browser.channel.before_turn("hello")).first


async def test_a_question_is_kept_once(root: Path) -> None:
    """At the end of what people wrote into recall.must."""
    async with browsing(root) as browser:
        kept = root / "recall.must"
        kept.write_text("# ours\nwho is Tom?", "utf-8")
        body = {"text": "when does the\ngate open?", "words": "nine, harbour"}
        answer = await browser.change("POST", "/playground/question", "*", body)
        assert answer.json() == {"added": True}
        line = "when does the gate open? => nine, harbour"
        assert kept.read_text("utf-8") == f"# ours\nwho is Tom?\n{line}\n"
        again = await browser.change("POST", "/playground/question", "*", body)
        assert again.json() == {"added": False}
        assert kept.read_text("utf-8").count(line) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"text": " ", "words": ""},
        {"text": "a => b", "words": ""},
        {"text": "# a", "words": ""},
        {"text": "the key ghp_" + "a1B2" * 9, "words": ""},
        {"text": "<private>a</private> b", "words": ""},
    ],
)
async def test_what_the_file_cannot_say_is_refused(root: Path, body: dict[str, str]) -> None:
    """With a sentence, and the file as it was."""
    async with browsing(root) as browser:
        (root / "recall.must").unlink(missing_ok=True)
        answer = await browser.change("POST", "/playground/question", "*", body)
        assert answer.status_code == 409
        assert not (root / "recall.must").exists()


async def test_nobody_keeps_a_question_who_may_not(root: Path) -> None:
    """Not where one channel alone is shown, nothing read-only, not without a precondition."""
    body = {"text": "when does the gate open?", "words": ""}
    path = "/playground/question"
    async with browsing(root, only="room") as browser:
        assert (await browser.change("POST", path, "*", body)).status_code == 403
        assert "recall.must" not in await browser.page("/playground", text="the gate?")
    async with browsing(root, read_only=True) as browser:
        assert (await browser.change("POST", path, "*", body)).status_code == 403
    async with browsing(root) as browser:
        assert (await browser.change("POST", path, "x", body)).status_code == 412


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_messages_and_entries_are_words(root: Path, text: str) -> None:
    """Wherever the page shows them."""
    async with browsing(root) as browser:
        line = " ".join(text.split())
        browser.write(f"## {line}\n\n- zebra {line}\n")
        for asked in ("zebra", text[:500]):
            html = (await browser.get("/playground", text=asked, speaker=line[:60])).text
            assert html.count("<script") == 1
            for tag in ("<img", "<style", "<iframe", "<base", "<input onerror", "<svg onload"):
                assert tag not in html


OLDER = "Tom (2026-02-01): release 2.4 is on March 20"
NEWER = (
    "Ann (2026-03-01): we moved the release of 2.4 to March 27 because the load test is not done"
)


async def test_each_candidate_says_why_it_stands_where_it_does(root: Path) -> None:
    """The newer of two on one subject comes first; beyond so many there is no place; and a click
    away is why the entry is there at all.
    """
    async with browsing(root) as browser:
        lines = "".join(f"- release {n} of 2.4 is in hall {n}\n" for n in range(3, 20))
        browser.write(f"## Facts\n\n- {OLDER}\n- {NEWER}\n{lines}")
        html = await browser.page("/playground", text="when is 2.4 released?")
        rows = re.findall(r'<li class="candidate".*?</svg>', html, re.DOTALL)
        assert NEWER in rows[0]
        assert "newer than one below that scores higher" in rows[0]
        assert OLDER in rows[1]
        assert "newer than" not in rows[1]
        over = [row for row in rows if "over the limit of 8" in row]
        assert over
        assert "no room for it" not in html
        href = re.search(r'href="(/entry[^"]*)"', rows[1])
        assert href
        page = (await browser.client.get(href[1])).text
        assert "Why is this here?" in page
        assert OLDER in page
