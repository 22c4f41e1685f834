"""The pages of time: who changed what, what it did, how it is taken back, how it was on a day."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import Message
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Author, Decision, LeftOut, Progress
from pipimem.store.channel import ChannelStore

from tests.interfaces.web.building import browsing
from tests.runtime.building import MORNING

pytestmark = pytest.mark.anyio


async def test_the_changes_newest_first(root: Path) -> None:
    """With who, why and what; a page at a time."""
    async with browsing(root) as browser:
        for number in range(35):
            await browser.channel.notes.remember(f"fact number {number}.", speaker="Alice")
        html = await browser.page("/changes")
        assert "fact number 34." in html
        assert "fact number 2." not in html
        assert html.index("fact number 34.") < html.index("fact number 20.")
        assert "Alice" in html
        older = await browser.page("/changes", before="6")
        assert "fact number 2." in older
        assert "fact number 34." not in older
        by_model = await browser.page("/changes", author="model")
        assert "No change like this" in by_model
        assert (await browser.get("/changes", author="nobody")).status_code == 400


async def test_changes_are_found_by_their_words(root: Path) -> None:
    """In what they did or who made them, also far behind the newest; masked words are not."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the printer is on floor four.", speaker="Alice")
        for number in range(40):
            await browser.channel.notes.remember(f"fact number {number}.", speaker="Bob")
        html = await browser.page("/changes", words="PRINTER alice")
        assert "floor four" in html
        assert html.count("data-row") == 1
        assert "Take it back" in html
        facts = await browser.page("/changes", words="number")
        assert facts.count("data-row") == 30
        older = await browser.page("/changes", words="number", before="12")
        assert "fact number 9." in older
        assert "printer" not in older
        browser.write(f"# Memory\n\n- the key is ghp_{'a1B2' * 9}\n")
        await browser.channel.notes.remember("one more fact.")
        assert "ghp_" not in await browser.page("/changes", words="key")
        assert "No change like this" in await browser.page("/changes", words="a1B2a1B2")


async def test_what_was_left_out_is_kept_after_all(root: Path) -> None:
    """The page has each item with its reason; the button writes it, once."""
    async with browsing(root) as browser:
        item = LeftOut("below the bar", "Ines saw a <heron>", kind=Kind.FACT, speaker="Ines")
        hidden = LeftOut("rests on a sentence of which a secret was masked", "", sources=("m2",))
        decision = Decision(
            "consolidate", Author.MODEL, progress=Progress(cursor=1), left_out=(item, hidden)
        )
        store = ChannelStore.open(browser.pipimem.store, browser.channel.id, create=False)
        store.commit(decision, MORNING)
        html = await browser.page("/left-out")
        assert "Ines saw a <heron>" in html
        assert "below the bar" in html
        assert html.count("data-take-in") == 1
        (found, _) = await browser.channel.notes.left_out()
        taken = await browser.change("POST", "/left-out/take", found.time, {"number": 1})
        assert taken.status_code == 200, taken.text
        assert "Ines saw a" in browser.read()
        again = await browser.change("POST", "/left-out/take", found.time, {"number": 1})
        assert again.status_code == 412
        assert "heron" not in await browser.page("/left-out")


async def test_a_change_and_its_undo(root: Path) -> None:
    """What it did, what taking it back would do; the button does that."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the port is 8080")
        await browser.channel.notes.remember("the host is bonn")
        html = await browser.page("/change", number="1")
        assert "the port is 8080" in html
        assert "Take it back" in html
        stale = await browser.change("POST", "/change/undo", "1", {"number": 1})
        assert stale.status_code == 412
        done = await browser.change("POST", "/change/undo", "2", {"number": 1})
        assert done.json() == {"number": 3}
        assert "8080" not in browser.read()
        assert "bonn" in browser.read()
        html = await browser.page("/change", number="1")
        assert "It cannot be taken back" in html
        assert "taken back by 3" in html
        assert (await browser.get("/change", number="99")).status_code == 404


async def test_an_undo_after_an_edit_by_hand_is_looked_at_again(root: Path) -> None:
    """The preview did not have it."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the port is 8080")
        browser.write(browser.read() + "- by hand\n")
        assert "edited by hand since" in await browser.page("/changes")
        stale = await browser.change("POST", "/change/undo", "1", {"number": 1})
        assert stale.status_code == 412
        assert "8080" in browser.read()


@pytest.mark.parametrize("number", ["1", True, 0, -1, None, 1.5])
async def test_an_undo_of_no_number_is_told(root: Path, number: object) -> None:
    """400."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the port is 8080")
        answer = await browser.change("POST", "/change/undo", "1", {"number": number})
        assert answer.status_code == 400


async def test_the_notes_of_a_day(root: Path) -> None:
    """As its end left them; before the first change nobody knows."""
    async with browsing(root) as browser:
        await browser.channel.notes.remember("the port is 8080")
        (change,) = await browser.channel.history.log()
        html = await browser.page("/notes-on-day", day=change.time[:10])
        assert "the port is 8080" in html
        assert "so far" in html  # that day is not over
        future = await browser.page("/notes-on-day", day="2099-01-01")
        assert "still to come" in future
        assert "the port is 8080" not in future
        before = await browser.page("/notes-on-day", day="2001-01-01")
        assert "the port is 8080" not in before
        assert (await browser.get("/notes-on-day", day="yesterday")).status_code == 400


async def test_secrets_of_former_days_are_hidden_too(root: Path) -> None:
    """In the changes, in what each did, in the notes of a day."""
    async with browsing(root) as browser:
        browser.write("## Facts\n\n- password: hunter2-Zx9!kd\n- <private>my diary</private> x\n")
        await browser.channel.notes.remember("another")
        (change, *_) = await browser.channel.history.log()
        pages = [
            await browser.page("/changes"),
            await browser.page("/notes-on-day", day=change.time[:10]),
        ]
        numbers = map(str, range(1, change.number + 1))
        pages += [await browser.page("/change", number=number) for number in numbers]
        for html in pages:
            assert "hunter2" not in html
            assert "diary" not in html


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2026-02-30", "yesterday", "x" * 999])
async def test_a_day_that_is_none_is_told(root: Path, day: str) -> None:
    """Also the last and the first that a calendar has, which have no neighbour."""
    async with browsing(root) as browser:
        assert (await browser.get("/notes-on-day", day=day)).status_code == 400
        for name in ("after", "before"):
            assert (await browser.get("/talk", q="x", **{name: day})).status_code == 400


async def test_nothing_is_offered_to_be_taken_back_where_nothing_changed(root: Path) -> None:
    """Neither in the list nor on its page, where a compaction only moved a mark."""
    async with browsing(root) as browser:
        await browser.channel.talk.append([Message.user("hello", speaker="Ann")])
        await browser.channel.before_compaction()
        (newest, *_) = [one for one in await browser.channel.history.log() if not one.changes]
        html = await browser.page("/change", number=str(newest.number))
        assert "It changed no text." in html
        assert "Taking it back" not in html
        assert f"number={newest.number}#undo" not in await browser.page("/changes")
