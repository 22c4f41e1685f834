"""Names of 0.1 and 0.2 on a channel do what they did, and warn with the new name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pipimem import ArgumentError, Channel, File, Message
from pipimem.results import EntryPlace
from pipimem.runtime.deprecated import OLD_NAMES

from tests.runtime.building import opened, workspace

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("always::DeprecationWarning"),
]

# What each old method is called with.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "entries": (),
    "remember": ("the roof is red",),
    "masked": ("the roof",),
    "forget": ("the roof is red",),
    "search": ("roof",),
    "timeline": ("m1",),
    "detail": ("m1",),
    "sources": (),
    "retract": ("m1",),
    "take_in": ([Message.user("the roof leaks", id="m2")],),
    "preview": ("which roof?",),
}


async def _filled(channel: Channel) -> None:
    await channel.talk.append([Message.user("the roof is red", id="m1")])


async def _called(channel: Channel, name: str) -> None:
    done = getattr(channel, name)(*ARGUMENTS[name])
    if isinstance(done, Awaitable):
        await done


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_an_old_name_works_and_names_the_new_one(name: str, tmp_path: Path) -> None:
    """The warning is at the caller's line."""
    async with opened(workspace(tmp_path / name)) as channel:
        await _filled(channel)
        with pytest.warns(DeprecationWarning, match=f"use Channel.{OLD_NAMES[name]}") as told:
            await _called(channel, name)
    assert [warning.filename for warning in told] == [__file__]


async def test_files_and_transcript_are_parts_now(tmp_path: Path) -> None:
    """Also where a method of them has another name."""
    async with opened(workspace(tmp_path)) as channel:
        await _filled(channel)
        await channel.notes.remember("the roof is red")
        with pytest.warns(DeprecationWarning, match=r"use Channel\.notes\."):
            (block,) = [
                block
                for block in (await channel.files.view(File.MEMORY)).blocks  # type: ignore[attr-defined]
                if block.entry
            ]
        with pytest.warns(DeprecationWarning, match=r"use Channel\.talk\."):
            assert len((await channel.transcript.page()).messages) == 1  # type: ignore[attr-defined]
        with pytest.warns(DeprecationWarning, match=r"use Channel\.notes\.preview_forget\."):
            going = await channel.files.forget_preview("roof")  # type: ignore[attr-defined]
        assert len(going.entries) == 1
        place = EntryPlace(File.MEMORY, block.section, block.entry.id, block.source)
        with pytest.warns(DeprecationWarning, match=r"use Channel\.notes\.remove_entry\."):
            await channel.files.take_out(place)  # type: ignore[attr-defined]
        assert await channel.notes.entries() == ()


@pytest.mark.parametrize(
    "forget",
    [
        lambda forget, _: forget("roof"),
        lambda forget, _: forget("roof", speaker="Dana"),
        lambda forget, _: forget(speaker="Dana"),
        lambda forget, _: forget(message="m1"),
        lambda forget, _: forget("m1"),
        lambda forget, _: forget(["log:m1"]),
        lambda forget, entry: forget([entry], message="m1"),
        lambda forget, _: forget("oo", inside_words=True),
    ],
)
async def test_what_to_forget_was_several_parameters(
    forget: Callable[..., Any], tmp_path: Path
) -> None:
    """Each of them forgets the message."""
    async with opened(workspace(tmp_path)) as channel:
        said = Message.user("the roof is red", id="m1", speaker="Dana")
        await channel.talk.append([said])
        await channel.notes.remember("the door is open")
        (entry,) = await channel.notes.entries()
        with pytest.warns(DeprecationWarning, match=r"use Channel\.notes\.forget"):
            counts = await forget(channel.forget, entry.id)  # type: ignore[attr-defined]
        assert counts["messages"] == 1


async def test_a_text_and_a_message_were_refused(tmp_path: Path) -> None:
    """They are still."""
    async with opened(workspace(tmp_path)) as channel:
        with pytest.raises(ArgumentError, match="not both"):
            await channel.forget("roof", message="m1")  # type: ignore[attr-defined]


@pytest.mark.parametrize("since", ["", None, "m1"])
async def test_sees_from_is_visible_now(since: str | None, tmp_path: Path) -> None:
    """The newest, nothing, or from a message on."""
    async with opened(workspace(tmp_path)) as channel:
        await _filled(channel)
        with pytest.warns(DeprecationWarning, match="use visible="):
            turn = await channel.before_turn("which roof?", sees_from=since)  # type: ignore[call-arg]
    assert turn.problem == ""
