"""Entries of MEMORY.md changed one by one, by their ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import ArgumentError, By, Kind, NothingFound, Pipimem, PipimemError, Trust
from pipimem.notes.kinds import File

from tests.runtime.building import (
    MORNING,
    Hands,
    opened,
    read,
    say,
    settings,
    workspace,
    write,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


async def test_a_text_takes_the_place_of_another(root: Path) -> None:
    """Asked for as before, without the secrets of the new text; undo brings the old one back."""
    async with opened(root) as channel:
        await channel.notes.remember("the gate opens at eight", speaker="Dana")
        (old,) = await channel.notes.entries()
        done = await channel.notes.update(old.id, "the gate opens at nine", speaker="Tom")
        (new,) = await channel.notes.entries()
        await channel.history.undo()
        (undone,) = await channel.notes.entries()
    assert [change.verb for change in done.changes] == ["superseded"]
    assert (new.text, new.kind, new.trust) == ("the gate opens at nine", Kind.FACT, Trust.EXPLICIT)
    assert undone.text == "the gate opens at eight"


async def test_what_is_taken_out_comes_back_by_undo(root: Path) -> None:
    """All of them in one change, or none where one is unknown."""
    async with opened(root) as channel:
        for text in ("the gate opens at eight", "the yard has a lamp"):
            await channel.notes.remember(text)
        names = [entry.id for entry in await channel.notes.entries()]
        with pytest.raises(NothingFound, match="'nothing'"):
            await channel.notes.take_out(*names, "nothing")
        assert len(await channel.notes.entries()) == 2
        await channel.notes.take_out(*names)
        assert await channel.notes.entries() == ()
        await channel.history.undo()
        assert len(await channel.notes.entries()) == 2


async def test_what_a_person_typed_is_changed_in_the_file_alone(root: Path) -> None:
    """The text stays, byte for byte."""
    write(root, "MEMORY.md", "- the gate is green\n")
    async with opened(root) as channel:
        (entry,) = await channel.notes.entries()
        for asked in (
            lambda: channel.notes.update(entry.id, "the gate is red"),
            lambda: channel.notes.take_out(entry.id),
            lambda: channel.notes.remember("the gate is red", supersedes=[entry.id]),
        ):
            with pytest.raises(PipimemError, match="typed into"):
                await asked()
    assert read(root) == "- the gate is green\n"


async def test_arguments_are_checked_with_a_sentence(root: Path) -> None:
    """Nothing is written."""
    async with opened(root) as channel:
        for asked, told in (
            (lambda: channel.notes.update(7, "a"), "entry must be str"),
            (lambda: channel.notes.update("a", None), "text must be str"),
            (lambda: channel.notes.update("a", "b", kind="rule"), "kind must be"),
            (lambda: channel.notes.take_out(None), "entries must be str"),
            (lambda: channel.notes.rate("a", helpful="yes"), "helpful must be bool"),
        ):
            with pytest.raises(ArgumentError, match=told):
                await asked()
        assert await channel.notes.entries() == ()


async def test_a_reworded_entry_keeps_its_speaker_and_its_last_day(root: Path) -> None:
    """Where no others are given."""
    async with opened(root) as channel:
        await channel.notes.remember("Tom is away", speaker="Dana", until=MORNING.date())
        (old,) = await channel.notes.entries()
        await channel.notes.update(old.id, "Tom is away in Ghent")
        (new,) = await channel.notes.entries()
    assert (new.text, new.speaker) == ("Tom is away in Ghent", "Dana")
    assert new.expires == old.expires is not None


async def test_the_same_text_under_another_kind_moves_there(root: Path) -> None:
    """Nothing else of it changes; told once more it stays."""
    async with opened(root) as channel:
        old = (await channel.notes.remember("Tea is green", kind=Kind.DECISION)).changes[0]
        for expected in (["moved"], []):
            done = await channel.notes.update(old.id, "Tea is green", kind=Kind.PREFERENCE)
            assert [change.verb for change in done.changes] == expected
            (entry,) = await channel.notes.entries()
            assert (entry.id, entry.kind, entry.text) == (old.id, Kind.PREFERENCE, "Tea is green")


async def test_a_text_that_stands_already_keeps_its_own_record(root: Path) -> None:
    """Or what a person typed would count as asked for, and a tool could take it out."""
    write(root, "MEMORY.md", "# Memory\n\n## Facts\n\n- Tea is oolong\n")
    async with opened(root) as channel:
        await channel.notes.remember("Tea is green")
        green = next(one for one in await channel.notes.entries() if "green" in one.text)
        await channel.notes.update(green.id, "Tea is oolong")
        (left,) = await channel.notes.entries()
        with pytest.raises(PipimemError, match="typed into"):
            await channel.notes.take_out(left.id)
    assert (left.text, left.trust) == ("Tea is oolong", Trust.HUMAN)


@pytest.mark.parametrize(
    "typed", ["\n## My own list\n\n- The gate is green\n", " <!-- no: ask Tom -->"]
)
async def test_equal_lines_and_comments_of_a_person_are_left_alone(root: Path, typed: str) -> None:
    """Neither is told apart by the id."""
    async with opened(root) as channel:
        await channel.notes.remember("The gate is green")
        (entry,) = await channel.notes.entries()
        text = f"{read(root).rstrip()}{typed}"
        write(root, "MEMORY.md", text)
        for asked in (
            lambda: channel.notes.update(entry.id, "The gate is red"),
            lambda: channel.notes.take_out(entry.id),
        ):
            with pytest.raises(PipimemError, match="typed into"):
                await asked()
        assert read(root) == text


async def test_an_entry_tells_who_was_there_and_forgets_a_name(root: Path) -> None:
    """Also after the channel is opened anew; the forgotten name shifts nobody."""
    async with opened(root) as channel:
        await say(channel, "The garden gate opens at eight on Fridays.", speaker="Dana")
        await say(channel, "Good to know, what about the yard?", speaker="Tomasz")
        await channel.compacted(await channel.before_compaction())
        (gate,) = await channel.notes.entries()
        await say(channel, "The yard has a new lamp since Monday.", speaker="Ines")
        await channel.compacted(await channel.before_compaction())
    async with opened(root) as channel:
        entries = {entry.id: entry.heard_by for entry in await channel.notes.entries()}
        origins = {
            origin.id: origin.heard_by for origin in await channel.history.blame(File.MEMORY)
        }
        await channel.notes.forget(By("Tomasz"))
        left = {entry.id: entry.heard_by for entry in await channel.notes.entries()}
    assert gate.heard_by == ("Dana", "Tomasz")
    assert sorted(entries.values()) == [("Dana", "Tomasz"), ("Dana", "Tomasz", "Ines")]
    assert origins == entries
    assert sorted(left.values()) == [("Dana",), ("Dana", "Ines")]


async def test_recall_gives_a_channel_its_own_memory_and_the_workspace_s(root: Path) -> None:
    """Not what the same person said in another channel, alone or in a group."""
    (root / "MEMORY.md").write_text("## Facts\n\n- The falcon gate is painted blue\n")
    async with Pipimem(root, settings=settings(), clock=Hands().clock()) as pipimem:
        for name in ("room", "dana"):
            channel = await pipimem.channel(name, kind="dm" if name == "dana" else "group")
            await channel.notes.remember(
                f"the falcon gate opens with the key of {name}", speaker="Dana"
            )
        for name, other in (("room", "dana"), ("dana", "room")):
            channel = await pipimem.channel(name)
            turn = await channel.before_turn("how does the falcon gate open?", speaker="Dana")
            assert f"the key of {name}" in turn.context
            assert "painted blue" in turn.context
            assert f"the key of {other}" not in turn.context


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("The fair is on 1 Dec", "the fair is on 1 December."),
        ("The fair is on 2026-12-01", "The fair is on December 1, 2026"),
        ("集市在12月1日", "集市在12月1号"),
        ("Ann (2026-03-01): the fair is tomorrow", "Ann (2026-03-02): the fair is today"),
    ],
)
async def test_another_form_of_a_date_makes_no_other_entry(
    root: Path, first: str, again: str
) -> None:
    """The entry that stands is confirmed; another day, another word or name is another thing."""
    async with opened(root) as channel:
        assert (await channel.notes.remember(first)).changes
        assert (await channel.notes.remember(again)).changes == ()
        assert [entry.text for entry in await channel.notes.entries()] == [first]
        for other in (
            "The fair is on 2 Dec",
            "Tom (2026-03-02): the fair is today",
            "集市在12月2日",
        ):
            assert (await channel.notes.remember(other)).changes
        assert len(await channel.notes.entries()) == 4


@pytest.mark.parametrize(
    "text",
    [
        "door code 4711#",
        "The door code is 4711#.",
        "门锁密码 8823",
        "hunter2xyzzy is the wifi password",
    ],
)
async def test_nothing_but_a_secret_is_refused(root: Path, text: str) -> None:
    """Its name alone would help nobody."""
    async with opened(root) as channel:
        with pytest.raises(NothingFound, match="say where it is kept"):
            await channel.notes.remember(text)
        assert await channel.notes.entries() == ()
        await channel.notes.remember(f"{text}, ask Tom for the spare key")
        assert len(await channel.notes.entries()) == 1
