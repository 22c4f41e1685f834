"""A bot's model searches and changes memory by its tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pipimem import Channel, Message, Pipimem, ToolResult

from tests.runtime.building import MORNING, Hands, read, settings, workspace, write

pytestmark = pytest.mark.anyio

TALK = (
    ("m1", "Dana", "the kiln takes eleven hours"),
    ("m2", "Tom", "the staging port is 9443"),
    ("m3", "Dana", "窑炉只在周五烧"),
)


@asynccontextmanager
async def opened(root: Path, hands: Hands | None = None) -> AsyncIterator[tuple[Pipimem, Channel]]:
    clock = (hands or Hands()).clock()
    async with Pipimem(root, "offline", settings=settings(), clock=clock) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await channel.after_turn(
            None,
            [
                Message("user", text, id=name, speaker=speaker, time=MORNING + timedelta(minutes=n))
                for n, (name, speaker, text) in enumerate(TALK)
            ],
        )
        yield pipimem, channel


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


async def call(channel: Channel, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await channel.call_tool(tool, arguments)
    assert not result.is_error, result.value
    assert json.loads(result.text) == result.value
    return result.value


def saved_id(value: dict[str, Any]) -> str:
    return value["changes"][0]["id"]


async def test_search_goes_from_hits_to_the_talk_around_to_whole_messages(root: Path) -> None:
    """Each hit says where it comes from."""
    async with opened(root) as (_, channel):
        await call(channel, "memory_save", text="Tom runs the staging server", speaker="Tom")
        hits = (await call(channel, "memory_search", query="staging port"))["hits"]
        said = next(hit for hit in hits if hit["id"] == "log:m2")
        around = await call(channel, "memory_search", around=said["id"])
        whole = await call(channel, "memory_search", ids=["log:m2", hits[0]["id"], "log:m9"])
    source = {"file": "log.jsonl", "messages": ["m2"], "speaker": "Tom"}
    assert source.items() <= said["source"].items()
    assert said["source"]["date"].startswith("2026-03-02T09:01")
    assert hits[0]["source"]["file"] == "MEMORY.md"
    assert [one["text"] for one in around["messages"]] == [text for _, _, text in TALK]
    message, entry, unknown = whole["results"]
    assert message["text"] == "the staging port is 9443"
    assert (entry["text"], entry["trust"]) == (
        "Tom (2026-03-02): Tom runs the staging server",
        "explicit",
    )
    assert entry["source"].items() >= {"file": "MEMORY.md", "section": "Facts"}.items()
    assert entry["source"]["speaker"] == "Tom"
    assert message["source"]["messages"] == ["m2"]
    assert "no message 'm9'" in unknown["error"]


async def test_whole_entries_of_every_file_say_where_they_stand(root: Path) -> None:
    """Whatever a search shows can be asked for by its id."""
    write(root, "SESSION.md", "# Session\n\n## Current State\n\n- the kiln is being fired\n")
    write(root, "HISTORY.md", "# History\n\n## 2026-03-01 Kiln\n\n- the kiln came by ship\n")
    async with opened(root) as (_, channel):
        hits = (await call(channel, "memory_search", query="kiln", where="notes"))["hits"]
        ids = [*(hit["id"] for hit in hits), "session:abcdefgh"]
        *whole, gone = (await call(channel, "memory_search", ids=ids))["results"]
    assert {one["source"]["file"] for one in whole} == {"SESSION.md", "HISTORY.md"}
    assert {one["source"]["section"] for one in whole} == {"Current State", "2026-03-01 Kiln"}
    assert {one["text"] for one in whole} == {"the kiln is being fired", "the kiln came by ship"}
    assert "No entry of SESSION.md has the id 'session:abcdefgh' now" in gone["error"]


async def test_what_finds_nothing_says_what_may_be_wrong(root: Path) -> None:
    """Words that are missing, an entry that is gone, a name nobody has."""
    async with opened(root) as (_, channel):
        empty = await channel.call_tool("memory_search", {"query": " "})
        gone = await call(channel, "memory_search", ids=["memory:abcdefgh"])
        nobody = await call(channel, "memory_search", query="kiln", speaker="Bob")
        nothing = await call(channel, "memory_forget", ids=["memory:abcdefgh"])
    assert "'query' must hold some words" in empty.value["error"]
    assert "No entry of MEMORY.md has the id 'memory:abcdefgh' now" in gone["results"][0]["error"]
    assert (nobody["hits"], nobody["note"]) == ([], "Is 'Bob' how the name is written here?")
    assert "note" not in nothing


async def test_search_is_bound_by_time_and_speaker(root: Path) -> None:
    """A time without a zone is that of the workspace; one that is none is told."""
    async with opened(root) as (_, channel):
        late = await call(channel, "memory_search", query="kiln 窑炉", after="2026-03-02T09:02")
        hers = await call(channel, "memory_search", query="staging", speaker="Dana")
        wrong = await channel.call_tool("memory_search", {"query": "a", "after": "last week"})
    assert [hit["id"] for hit in late["hits"]] == ["log:m3"]
    assert {hit["source"]["speaker"] for hit in hers["hits"]} <= {"Dana"}
    assert "'after' must be a day or a time" in wrong.value["error"]


async def test_save_writes_title_and_tags_and_shows_what_is_similar(root: Path) -> None:
    """The old entry is named, so that the new one can take its place."""
    async with opened(root) as (_, channel):
        first = await call(channel, "memory_save", text="the staging port is 9443", kind="fact")
        second = await call(
            channel,
            "memory_save",
            text="the staging port is 9500",
            title="Ports",
            tags=["ops", "#staging"],
            until="2026-03-31",
        )
        text = read(root)
    assert "- Ports: the staging port is 9500 #ops #staging\n" in text
    assert [one["id"] for one in second["similar"]] == [saved_id(first)]


async def test_save_takes_the_place_of_what_it_supersedes(root: Path) -> None:
    """The old text is gone, and not recalled from other files."""
    write(root, "SESSION.md", "# Session\n\n## Current State\n\n- the staging port is 9443\n")
    async with opened(root) as (_, channel):
        old = saved_id(await call(channel, "memory_save", text="the staging port is 9443"))
        done = await call(channel, "memory_save", text="the staging port is 9500", supersedes=[old])
        turn = await channel.before_turn("Which port has staging?")
        text = read(root)
    assert done["changes"][0]["done"] == "superseded"
    assert "9443" not in text
    assert "9500" in turn.context
    assert "9443" not in turn.recalled


async def test_update_rewords_and_moves_an_entry(root: Path) -> None:
    """Under another heading where its kind has changed."""
    async with opened(root) as (_, channel):
        name = saved_id(await call(channel, "memory_save", text="we may fire on Fridays"))
        done = await call(
            channel, "memory_update", id=name, text="we fire on Fridays only", kind="constraint"
        )
        text = read(root)
    assert done["changes"][0]["done"] == "superseded"
    assert "## Constraints\n\n- we fire on Fridays only\n" in text
    assert "may fire" not in text


async def test_forget_shows_first_then_takes_out_and_can_be_undone(root: Path) -> None:
    """A query takes nothing; an unknown id is told beside what was done."""
    async with opened(root) as (_, channel):
        await call(channel, "memory_save", text="Tom's badge is blue")
        shown = await call(channel, "memory_forget", query="badge")
        before = read(root)
        name = shown["would_take_out"][0]["id"]
        done = await call(channel, "memory_forget", ids=[name, "memory:nothing"])
        after = read(root)
        await channel.history.undo()
        undone = read(root)
    assert shown["taken_out"] == []
    assert "badge" in before
    assert "badge" not in after
    assert done["results"][0]["changes"][0]["done"] == "invalidated"
    assert "No entry of MEMORY.md has the id 'memory:nothing'" in done["results"][1]["error"]
    assert undone == before


async def test_what_a_person_typed_is_left_alone(root: Path) -> None:
    """Neither taken out, nor reworded, nor superseded; the tool says who may."""
    text = "# Memory\n\n## Facts\n\n- the kiln is red\n"
    write(root, "MEMORY.md", text)
    async with opened(root) as (_, channel):
        (entry,) = await channel.notes.entries()
        name = f"memory:{entry.id}"
        taken = await call(channel, "memory_forget", ids=[name])
        updated = await channel.call_tool("memory_update", {"id": name, "text": "it is blue"})
        superseded = await channel.call_tool(
            "memory_save", {"text": "the kiln is blue", "supersedes": [name]}
        )
        unchanged = read(root)
    told = "was typed into MEMORY.md by a person"
    assert told in taken["results"][0]["error"]
    assert told in updated.value["error"]
    assert told in superseded.value["error"]
    assert unchanged == text


async def test_feedback_moves_what_was_asked_for(root: Path) -> None:
    """What did not help ranks lower and never expires; what helped counts as recalled."""
    hands = Hands()
    async with opened(root, hands) as (_, channel):
        name = saved_id(await call(channel, "memory_save", text="Dana likes blue glaze"))
        unhelpful = await call(channel, "memory_feedback", id=name, helpful=False)
        (doubted,) = await channel.notes.entries()
        helpful = await call(channel, "memory_feedback", id=name, helpful=True)
        (entry,) = await channel.notes.entries()
    assert [change["done"] for change in unhelpful["changes"]] == ["doubted"]
    assert doubted.expires is None
    assert [change["done"] for change in helpful["changes"]] == ["confirmed"]
    assert (entry.recalls, entry.expires) == (1, None)


async def test_each_of_several_has_its_result(root: Path) -> None:
    """What is wrong with one does not keep the others away."""
    async with opened(root) as (_, channel):
        done = await call(
            channel,
            "memory_save",
            items=[{"text": "the shelf is oak"}, {"title": "no text"}, {"text": "the door is ash"}],
        )
    first, wrong, third = done["results"]
    assert first["changes"][0]["after"] == "the shelf is oak"
    assert "'text' is missing" in wrong["error"]
    assert wrong["of"] == {"title": "no text"}
    assert third["changes"][0]["after"] == "the door is ash"


async def test_mistakes_of_the_model_are_told_to_it(root: Path) -> None:
    """No exception reaches the bot; nothing is written."""
    async with opened(root) as (_, channel):
        results: list[ToolResult] = [
            await channel.call_tool("memory_erase", {}),
            await channel.call_tool("memory_save", {"txt": "a"}),
            await channel.call_tool("memory_save", '{"text": '),
            await channel.call_tool("memory_save", {"text": "  "}),
            await channel.call_tool("memory_save", {"text": "a", "until": "soon"}),
            await channel.call_tool("memory_save", {"text": "a", "until": "2020-01-01"}),
            await channel.call_tool("memory_save", {"text": "<private>abc</private>"}),
        ]
        entries = await channel.notes.entries()
    assert all(result.is_error for result in results)
    assert [key for result in results for key in result.value] == ["error"] * len(results)
    assert entries == ()


async def test_tools_of_a_workspace_name_the_conversation(root: Path) -> None:
    """One that does not exist is not made, and none sees what another remembers."""
    async with opened(root) as (pipimem, channel):
        await call(channel, "memory_save", text="the kiln code is 4")
        await pipimem.channel("other")
        found = await pipimem.call_tool("memory_search", {"channel": "room", "query": "kiln"})
        other = await pipimem.call_tool("memory_search", {"channel": "other", "query": "kiln"})
        unknown = await pipimem.call_tool("memory_save", {"channel": "nowhere", "text": "a"})
        missing = await pipimem.call_tool("memory_search", {"query": "kiln"})
        foreign = await channel.call_tool("memory_search", {"channel": "other", "query": "kiln"})
        known = [info.id for info in await pipimem.channels()]
    assert found.value["hits"]
    assert other.value["hits"] == []
    assert unknown.value == {"error": "There is no such conversation here; nothing was done."}
    assert "'channel' is missing" in missing.value["error"]
    assert "there is no argument 'channel'" in foreign.value["error"]
    assert sorted(known) == ["other", "room"]


async def test_title_and_tags_hide_no_secret(root: Path) -> None:
    """The signs between them would."""
    async with opened(root) as (_, channel):
        text = "is the wifi password, the router stands in the hall"
        await call(channel, "memory_save", title="hunter2xyzzy", text=text)
        arguments = {"text": "the gate code is", "tags": ["4711"]}
        refused = await channel.call_tool("memory_save", arguments)
        written = read(root)
    assert "[secret:" in written
    assert "hunter2xyzzy" not in written
    assert "say where it is kept" in refused.value["error"]
    assert "4711" not in written


async def test_a_saved_sentence_says_whose_word_it_is_and_when(root: Path) -> None:
    """As what is learnt of talk; where nobody is named it stands as it is."""
    async with opened(root) as (_, channel):
        await call(channel, "memory_save", text="I drink tea", speaker="Dana")
        await call(channel, "memory_save", text="周五不烧窑", speaker="林晓", kind="constraint")
        await call(channel, "memory_save", text="the kiln is hot")
        quote = "Tom (2026-01-05): the port is 9443"
        await call(channel, "memory_save", text=quote, speaker="Dana")
        texts = [entry.text for entry in await channel.notes.entries()]
    assert set(texts) == {
        "Dana (2026-03-02): I drink tea",
        "林晓（2026-03-02）：周五不烧窑",
        "the kiln is hot",
        quote,
    }


async def test_off_the_record_a_model_only_searches(root: Path) -> None:
    """What it saved would be on the record; the turn over, it saves again."""
    async with opened(root) as (pipimem, channel):
        entry = saved_id(await call(channel, "memory_save", text="Tom runs the staging server"))
        turn = await channel.before_turn("I am quitting", speaker="Dana", record=False)
        before = read(root)
        for name, arguments in (
            ("memory_save", {"text": "Dana quits"}),
            ("extract_memory", {"text": "Dana quits"}),
            ("memory_update", {"id": entry, "text": "Dana quits"}),
            ("memory_forget", {"ids": [entry]}),
            ("memory_feedback", {"id": entry, "helpful": True}),
        ):
            for result in (
                await channel.call_tool(name, arguments),
                await pipimem.call_tool(name, {**arguments, "channel": "room"}),
            ):
                assert result.is_error
                assert "off the record" in result.value["error"]
        assert (await call(channel, "memory_search", query="staging"))["hits"]
        assert read(root) == before
        await channel.after_turn(turn, [])
        assert saved_id(await call(channel, "memory_save", text="the kiln is new"))


async def test_a_turn_off_the_record_that_was_broken_off_is_over_with_the_next(root: Path) -> None:
    """Of its speaker: others may talk meanwhile."""
    async with opened(root) as (_, channel):
        await channel.before_turn("I am quitting", speaker="Dana", record=False)
        await channel.after_turn(await channel.before_turn("hello", speaker="Tom"), [])
        assert channel.is_off_the_record
        await channel.after_turn(await channel.before_turn("hello", speaker="Dana"), [])
        assert not channel.is_off_the_record


async def test_a_save_shows_what_says_nearly_the_same_each_time(root: Path) -> None:
    """A search shows one of two such entries, whichever; the new one must not hide the other."""
    async with opened(root) as (_, channel):
        for number in range(8):
            first = await call(channel, "memory_save", text=f"kiln {number} takes ten hours")
            second = await call(
                channel, "memory_save", text=f"a kiln {number} takes ten hours at most"
            )
            assert saved_id(first) in [hit["id"] for hit in second["similar"]]


async def test_a_save_does_not_show_what_it_takes_the_place_of(root: Path) -> None:
    """It is gone by then."""
    async with opened(root) as (_, channel):
        name = saved_id(await call(channel, "memory_save", text="the kiln takes ten hours"))
        for text in ("the kiln takes nine hours", "the kiln takes eight hours"):
            done = await call(channel, "memory_save", text=text, supersedes=[name])
            assert name not in [hit["id"] for hit in done["similar"]]
            name = saved_id(done)
