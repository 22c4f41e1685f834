"""What to forget is a value: a text, a person, an id, an entry, a message, or several ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pipimem import ArgumentError, By, ById, ListedEntry, Message, NothingFound, Text
from pipimem.runtime.forgetting import Typed

from tests.runtime.building import opened, read, workspace

pytestmark = pytest.mark.anyio
SAID = Message.user("the kiln is hot", id="m1", speaker="Dana")


@pytest.mark.parametrize(
    "what",
    [
        lambda entry: Text("kiln"),
        lambda entry: ById(entry.id),
        lambda entry: ById(f"memory:{entry.id}"),
        lambda entry: entry,
        lambda entry: [entry],
        lambda entry: [f"memory:{entry.id}"],
        lambda entry: By("Dana"),
        lambda entry: [SAID, entry],
    ],
)
async def test_a_value_names_an_entry(what: Callable[[ListedEntry], Any], tmp_path: Path) -> None:
    """The entry goes, and another one stays."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.talk.append([SAID])
        await channel.notes.remember("the kiln is blue", speaker="Dana")
        await channel.notes.remember("the door is open")
        entry = (await channel.notes.entries())[0]
        assert (await channel.notes.preview_forget(what(entry))).entries
        await channel.notes.forget(what(entry))
    assert "kiln" not in read(root)
    assert "the door is open" in read(root)


@pytest.mark.parametrize(
    "what", [ById("m1"), ById("log:m1"), SAID, ["log:m1"], By("dana"), By("Dana", "hot")]
)
async def test_a_value_names_a_message(what: Any, tmp_path: Path) -> None:
    """It is emptied."""
    async with opened(workspace(tmp_path)) as channel:
        await channel.talk.append([SAID])
        assert (await channel.notes.forget(what))["messages"] == 1
        (item,) = await channel.talk.detail("m1")
    assert item.text == ""


async def test_what_names_nothing_is_told(tmp_path: Path) -> None:
    """And nothing is forgotten."""
    async with opened(workspace(tmp_path)) as channel:
        await channel.talk.append([SAID])
        for what in ("kiln", Text(""), By(""), ById(""), [], 5):
            with pytest.raises(ArgumentError):
                await channel.notes.forget(what)  # type: ignore[arg-type]
        for what in (ById("nobody"), By("nobody"), By("Dana", "cold"), ["log:m9"]):
            with pytest.raises(NothingFound):
                await channel.notes.forget(what)
        (item,) = await channel.talk.detail("m1")
    assert item.text == SAID.content


async def test_a_text_is_no_id_unless_a_person_typed_it(tmp_path: Path) -> None:
    """Platforms number their messages: the text 42 is not the message with that id."""
    root = workspace(tmp_path)
    said = [Message.user("the kiln is hot", id="42"), Message.user("my locker is 42", id="43")]
    async with opened(root) as channel:
        await channel.talk.append(said)
        going = await channel.notes.preview_forget(Text("42"))
        assert [message.id for message in going.exact.messages] == ["43"]
        going = await channel.notes.preview_forget(Typed("42"))
        assert [message.id for message in going.exact.messages] == ["42"]


async def test_a_person_with_a_text_means_the_same_in_a_list(tmp_path: Path) -> None:
    """Not all that they said."""
    root = workspace(tmp_path)
    said = [SAID, Message.user("the door is open", id="m2", speaker="Dana")]
    async with opened(root) as channel:
        await channel.talk.append(said)
        going = await channel.notes.preview_forget([By("Dana", "kiln")])
        assert [message.id for message in going.exact.messages] == ["m1"]


@pytest.mark.parametrize("what", [By("  "), [By("")], [ById("m1"), By(" ")], [""]])
async def test_nobody_is_no_person(what: Any, tmp_path: Path) -> None:
    """An empty display name would mean the bot, and all who have no name."""
    async with opened(workspace(tmp_path)) as channel:
        await channel.talk.append([Message.user("the kiln is hot", id="m1")])
        with pytest.raises(ArgumentError, match="nothing to forget"):
            await channel.notes.forget(what)


async def test_one_forgetting_is_inside_words_or_is_not(tmp_path: Path) -> None:
    """What is meant inside words in one value would go for the others, too."""
    async with opened(workspace(tmp_path)) as channel:
        await channel.talk.append([SAID])
        with pytest.raises(ArgumentError, match="two calls"):
            await channel.notes.forget([ById("m1", inside_words=True), ById("m1")])
