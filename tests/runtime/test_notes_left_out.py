"""What answers of models had and memory did not take: listed, taken in after all, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import Channel, Message, NothingFound, PipimemError, Text, Trust
from pipimem.notes.kinds import File, Kind
from pipimem.sidecar.tasks import Consolidated, HistoryItem, Learned
from pipimem.testing import ScriptedAssistant

from tests.runtime.building import opened, read, workspace

pytestmark = pytest.mark.anyio

SAID = (
    Message.user("the kiln is hot", id="m1", speaker="Dana"),
    Message.user("I saw a heron", id="m2", speaker="Ines"),
    Message.assistant("Nice.", id="b1"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


def answer(*learned: Learned) -> ScriptedAssistant:
    """An assistant that learns these, and one line of history."""
    history = (HistoryItem("Dana spoke of the kiln", ("m1",)),)
    return ScriptedAssistant({"consolidate": [Consolidated(learned, history=history, sheet={})]})


HERON = Learned(Kind.FACT, "Ines saw a heron", ("m2",), "Ines", "low")
KILN = Learned(Kind.FACT, "the kiln is hot", ("m1",), "Dana")


async def consolidated(channel: Channel) -> None:
    """Take the talk in and consolidate it."""
    receipt = await channel.before_compaction(list(SAID))
    assert receipt.state == "consolidated"


async def test_an_item_is_taken_in_after_all(root: Path) -> None:
    """As asked for, with who said it; it is listed no more, and undo takes it out again."""
    async with opened(root, assistant=answer(KILN, HERON)) as channel:
        await consolidated(channel)
        (item,) = await channel.notes.left_out()
        assert (item.number, item.text, item.speaker) == (1, "Ines saw a heron", "Ines")
        assert item.sources == ("m2",)
        await channel.notes.take_in(1)
        entry = (await channel.notes.entries())[-1]
        assert (entry.text, entry.trust, entry.speaker) == (item.text, Trust.EXPLICIT, "Ines")
        assert await channel.notes.left_out() == ()
        with pytest.raises(NothingFound, match="no number 1"):
            await channel.notes.take_in(1)
        await channel.history.undo()
        assert [one.text for one in await channel.notes.entries()] == ["the kiln is hot"]


async def test_what_was_masked_has_no_words_to_take_in(root: Path) -> None:
    """The list says which message it rests on, and why."""
    private = Learned(Kind.FACT, "Ines has a [PRIVATE] heron", ("m2",), "Ines")
    async with opened(root, assistant=answer(KILN, private)) as channel:
        await consolidated(channel)
        (item,) = await channel.notes.left_out()
        assert (item.text, item.sources) == ("", ("m2",))
        with pytest.raises(PipimemError, match="something was private"):
            await channel.notes.take_in(item.number)
        assert await channel.notes.left_out() == (item,)


async def test_forgetting_reaches_what_was_left_out(root: Path) -> None:
    """By its words; what rests on a message that is emptied goes with it."""
    async with opened(root, assistant=answer(KILN, HERON)) as channel:
        await consolidated(channel)
        counts = await channel.notes.forget(Text("heron"))
        assert counts["left_out"] == 1
        assert await channel.notes.left_out() == ()
    folder = root / "channels" / "room"
    assert not [path for path in folder.rglob("*") if path.is_file() and _holds(path, b"heron")]


async def test_what_rests_on_a_forgotten_message_goes_with_it(root: Path) -> None:
    """Whatever words a model gave it."""
    bird = Learned(Kind.FACT, "Ines likes birds", ("m2",), "Ines", "low")
    async with opened(root, assistant=answer(KILN, bird)) as channel:
        await consolidated(channel)
        await channel.notes.forget(["log:m2"])
        assert await channel.notes.left_out() == ()
        assert [one.text for one in await channel.notes.entries()] == ["the kiln is hot"]


async def test_an_entry_that_says_it_already_is_listed(root: Path) -> None:
    """The entry stays as it is worded; the other wording may be taken in."""
    async with opened(root, assistant=answer(KILN)) as channel:
        await channel.notes.remember("The kiln is hot.")
        await consolidated(channel)
        (item,) = await channel.notes.left_out()
        assert item.reason == "an entry says it already"
        assert "The kiln is hot." in read(root)


def _holds(path: Path, word: bytes) -> bool:
    return word in path.read_bytes()


async def test_a_line_of_history_is_listed_under_its_file(root: Path) -> None:
    """Here one that says that something was private."""
    history = HistoryItem("Ines told of a [PRIVATE] heron", ("m2",))
    told = HistoryItem("Dana spoke of the kiln", ("m1",))
    assistant = ScriptedAssistant(
        {"consolidate": [Consolidated((KILN,), history=(told, history), sheet={})]}
    )
    async with opened(root, assistant=assistant) as channel:
        await consolidated(channel)
        (item,) = await channel.notes.left_out()
    assert item.file is File.HISTORY
