"""The library, whole: what the command line can do, a host can do in Python."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from pipimem import (
    ArgumentError,
    Author,
    By,
    ById,
    Channel,
    File,
    Kind,
    Message,
    NothingFound,
    Pipimem,
    Text,
    Trust,
)
from pipimem.errors import CannotTakeBack, ChannelError
from pipimem.runtime.channel import upkeep_of

from tests.runtime.building import MORNING, Hands, read, settings, workspace, write

pytestmark = pytest.mark.anyio

TALK = (
    ("m1", "Dana", "the kiln takes eleven hours"),
    ("m2", "Tom", "the staging port is 9443"),
    ("m3", "Dana", "we fire the kiln on Fridays only"),
    ("m4", "Tom", "and never without gloves"),
)


@asynccontextmanager
async def opened(root: Path, hands: Hands | None = None) -> AsyncIterator[tuple[Pipimem, Channel]]:
    clock = (hands or Hands()).clock()
    async with Pipimem(root, "offline", settings=settings(), clock=clock) as pipimem:
        yield pipimem, await pipimem.channel("room", kind="group", title="Pottery")


async def talked(channel: Channel) -> None:
    messages = [
        Message("user", text, id=name, speaker=speaker, time=MORNING + timedelta(minutes=number))
        for number, (name, speaker, text) in enumerate(TALK)
    ]
    await channel.after_turn(None, messages)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


async def test_a_sentence_that_is_entry_and_message_is_found_once(tmp_path: Path) -> None:
    """The entry names the messages it quotes whole; where only the log is asked they stand there."""
    async with opened(workspace(tmp_path)) as (_, channel):
        said = Message.user("We never deploy on Fridays.", id="d1", speaker="Ana")
        await channel.after_turn(None, [said, Message.assistant("Noted.", id="d2")])
        await channel.before_compaction()
        hits = await channel.talk.search("deploy on Fridays")
        log = await channel.talk.search("deploy on Fridays", where="log")
    (entry, *others) = [hit for hit in hits if "deploy" in hit.item.text]
    assert (entry.item.text.endswith("We never deploy on Fridays"), others) == (True, [])
    assert entry.also == ("log:d1",)
    assert [hit.item.id for hit in log if "deploy" in hit.item.text] == ["log:d1"]


async def test_search_looks_through_notes_and_transcript(root: Path) -> None:
    """Notes first; `where` takes one of both, the filters hold for both."""
    async with opened(root) as (_, channel):
        await talked(channel)
        await channel.notes.remember("the kiln door is green", kind=Kind.FACT, speaker="Ines")
        found = await channel.talk.search("kiln")
        assert [hit.item.id for hit in found[1:3]] == ["log:m3", "log:m1"]
        assert found[0].item.source == "memory"
        assert [hit.item.text for hit in await channel.talk.search("kiln", where="notes")] == [
            "the kiln door is green"
        ]
        by_dana = await channel.talk.search(
            "kiln", speaker="dana", after=MORNING + timedelta(minutes=2)
        )
        assert [hit.item.id for hit in by_dana] == ["log:m3"]
        assert await channel.talk.search("kiln", role="assistant") == ()
        await upkeep_of(channel).unload()
        assert not upkeep_of(channel).is_loaded
        assert len(await channel.talk.search("kiln", where="notes")) == 1


async def test_timeline_and_detail(root: Path) -> None:
    """What was said around a message, and messages whole; an unknown id is named."""
    async with opened(root) as (_, channel):
        await talked(channel)
        around = await channel.talk.timeline("m2", around=1)
        assert [item.id for item in around] == ["log:m1", "log:m2", "log:m3"]
        (whole,) = await channel.talk.detail("m2")
        assert (whole.text, whole.speaker) == ("the staging port is 9443", "Tom")
        with pytest.raises(NothingFound, match="'m9'"):
            await channel.talk.detail("m9")


async def test_entries_with_kind_trust_age_recalls_expiry_and_sources(root: Path) -> None:
    """All that is known of them, and the filters of `pipimem list`."""
    hands = Hands()
    async with opened(root, hands) as (_, channel):
        until = (MORNING + timedelta(days=40)).date()
        await channel.notes.remember("the kiln is lent to Ines", speaker="Dana", until=until)
        await channel.notes.remember("never fire without gloves", kind=Kind.CONSTRAINT)
        write(root, "MEMORY.md", read(root) + "\n## Facts\n\n- typed by hand\n")
        hands.pass_by(days=10)
        lent, gloves, typed = sorted(
            await channel.notes.entries(), key=lambda one: "ltn".find(one.text[-1])
        )
        found = {one.text: one for one in (lent, gloves, typed)}
        lent = found["the kiln is lent to Ines"]
        assert (lent.kind, lent.trust, lent.speaker) == (Kind.FACT, Trust.EXPLICIT, "Dana")
        assert lent.since == MORNING
        assert lent.expires is not None
        assert str(until) in lent.why
        assert found["typed by hand"].trust is Trust.HUMAN
        assert found["typed by hand"].since is None
        (only,) = await channel.notes.entries(kind=Kind.CONSTRAINT)
        assert only.text == "never fire without gloves"
        assert len(await channel.notes.entries(older_than=timedelta(days=9))) == 2
        assert await channel.notes.entries(older_than=timedelta(days=11)) == ()


async def test_history_log_blame_diff_undo_restore(root: Path) -> None:
    """Who changed what; taken back, and put back to a moment."""
    async with opened(root) as (_, channel):
        await channel.notes.remember("the kiln door is green", speaker="Ines")
        await channel.notes.remember("the roof is red")
        roof, door = (await channel.history.log())[:2]
        assert (roof.author, roof.changes[0].after) == (Author.PERSON, "the roof is red")
        assert len(await channel.history.log(1)) == 1
        origins = {one.text: one for one in await channel.history.blame(File.MEMORY)}
        assert origins["the kiln door is green"].who == "Ines"
        assert origins["the kiln door is green"].change == door.number
        assert "+- the roof is red" in await channel.history.diff()
        taken = await channel.history.undo()
        assert [change.before for change in taken.changes] == ["the roof is red"]
        assert "roof" not in read(root)
        await channel.history.undo(taken.number)
        assert "roof" in read(root)
        await channel.history.restore(door.number)
        assert "roof" not in read(root)
        with pytest.raises(NothingFound):
            await channel.history.undo(99)
        await channel.notes.forget(Text("the kiln door is green"))
        with pytest.raises((CannotTakeBack, NothingFound)):
            await channel.history.restore(door.number)


async def test_forget_by_message_id_and_by_speaker(root: Path) -> None:
    """What was learnt from it alone goes, too; the words of others stay."""
    async with opened(root) as (_, channel):
        await talked(channel)
        await channel.before_compaction()
        assert "9443" in read(root, "HISTORY.md") + read(root)
        counts = await channel.notes.forget(ById("m2"))
        assert counts["messages"] == 1
        everything = read(root) + read(root, "HISTORY.md") + read(root, "SESSION.md")
        assert "9443" not in everything
        assert "kiln on Fridays" in everything
        await channel.notes.forget(By("dana"))
        said = await channel.talk.detail("m1", "m2", "m3", "m4")
        assert [item.text for item in said] == ["", "", "", "and never without gloves"]
        for name in ("MEMORY.md", "HISTORY.md", "SESSION.md"):
            assert "kiln" not in read(root, name)
        with pytest.raises(NothingFound, match="m77"):
            await channel.notes.forget(ById("m77"))
        with pytest.raises(NothingFound, match="Nobody called 'Zed'"):
            await channel.notes.forget(By("Zed"))


async def test_forgetting_a_person_takes_their_words_out_of_quotes_of_several_people(
    root: Path,
) -> None:
    """An answer is quoted with its question; who asked may be forgotten, who answered stays."""
    asked = "Who brings the ladder for the gutters?"
    said = [
        Message.user(asked, id="q1", speaker="Zoe"),
        Message.user("I'll bring the ladder on Saturday at nine", id="q2", speaker="Ben"),
        Message.user("The paint for the shed is in room 12", id="q3", speaker="Ben"),
    ]
    async with opened(root) as (_, channel):
        await channel.talk.append(said)
        await channel.before_compaction()
        assert asked in read(root)
        await channel.notes.forget(By("Zoe"))
        for name in ("MEMORY.md", "HISTORY.md", "SESSION.md"):
            assert asked not in read(root, name)
        assert "room 12" in read(root)
        assert [one.text for one in await channel.talk.detail("q2")] == [said[1].content]


@pytest.mark.parametrize("has_id", [True, False])
async def test_what_was_forgotten_does_not_come_back_with_what_a_host_still_holds(
    tmp_path: Path, has_id: bool
) -> None:
    """A host hands in its whole context at a gate, and need not know ids."""
    root = workspace(tmp_path)
    salary = "my salary is 4711 euros a month, I earn too little"
    stored = Message.user(salary, speaker="Ann", id="s1" if has_id else "")
    async with opened(root) as (_, channel):
        turn = await channel.before_turn(salary, speaker="Ann")
        await channel.after_turn(turn, [stored, Message.assistant("ok")])
        await channel.notes.forget(Text(salary))
        held = [Message.user(salary, speaker="Ann"), Message.assistant("ok")]
        more = Message.user("The rehearsal moved to Tuesday at seven", speaker="Ann")
        await channel.before_compaction([*held, more])
        assert "rehearsal moved" in read(root)
    for path in root.rglob("*"):
        assert path.is_dir() or b"4711" not in path.read_bytes(), path


@pytest.mark.parametrize("is_taken_back", [True, False])
async def test_of_what_a_host_still_holds_only_the_forgotten_message_stays_away(
    tmp_path: Path, is_taken_back: bool
) -> None:
    """The same words of somebody else, and the answers, are talk like any other."""
    root = workspace(tmp_path)
    async with opened(root) as (_, channel):
        await channel.after_turn(None, [Message.user("yes please", id="a1", speaker="Ana")])
        if is_taken_back:
            assert await channel.talk.retract("a1") is False
        else:
            await channel.notes.forget(ById("a1"))
        held = [
            Message.user("yes please"),
            Message.assistant("Ana, your desk is number 7"),
            Message.user("yes please", speaker="Ben"),
            Message.assistant("Ben, yours is number 8"),
        ]
        await channel.before_compaction(held)
        stored = [one async for one in _messages(channel)]
    assert stored == [
        "",
        "Ana, your desk is number 7",
        "yes please",
        "Ben, yours is number 8",
    ]


async def _messages(channel: Channel) -> AsyncIterator[str]:
    for number in range(1, 20):
        try:
            (item,) = await channel.talk.detail(f"m{number}" if number > 1 else "a1")
        except NothingFound:
            return
        yield item.text


async def test_a_message_taken_back_is_emptied_and_only_a_forgetting_ends_undo(root: Path) -> None:
    """Nothing was learnt from most messages: then the transcript alone changes."""
    async with opened(root) as (_, channel):
        await channel.after_turn(
            None, [Message.user(text, id=name, speaker=who) for name, who, text in TALK]
        )
        await channel.notes.remember("tea at four")
        assert await channel.talk.retract("m2") is False
        assert [item.text for item in await channel.talk.detail("m1", "m2")] == [TALK[0][2], ""]
        assert not await channel.talk.search("staging port", where="log")
        # Delivered again it is known.
        assert await channel.talk.append([Message.user("the staging port is 9443", id="m2")]) == ()
        await channel.history.undo()
        with pytest.raises(NothingFound, match="m77"):
            await channel.talk.retract("m77")


async def test_a_message_taken_back_takes_along_what_was_learnt_from_it(root: Path) -> None:
    """It is a forgetting then, also where what was learnt is superseded by now."""
    said = [Message.user("we decided: releases are never on Fridays", id="d1", speaker="Dana")]
    async with opened(root) as (_, channel):
        await channel.after_turn(None, said)
        await channel.before_compaction()
        (entry,) = await channel.notes.entries()
        assert entry.sources == ("d1",)
        await channel.notes.take_out(entry.id)
        assert await channel.talk.retract("d1") is True
        with pytest.raises(NothingFound, match="is a forgetting"):
            await channel.history.undo(1)
        assert "Fridays" not in "".join(
            path.read_text("utf-8", "replace")
            for path in root.rglob("*")
            if path.is_file() and "channels" in path.parts
        )


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("Forget what I said about my blood.", "my blood"),
        ("忘掉我说的买琴的事", "买琴"),
    ],
)
async def test_a_request_alone_is_no_forgetting(root: Path, asked: str, about: str) -> None:
    """What is meant is said in other words: the host is told, and forgets by id what is found."""
    async with opened(root) as (_, channel):
        told = "I have haemophilia and 想买一把大提琴 in spring"
        await channel.after_turn(None, [Message("user", told, id="told", speaker="Tom")])
        turn = await channel.before_turn(asked, speaker="Tom")
        (request,) = turn.requests
        assert request.text == about
        reply = Message.assistant(f"I shall forget {about}.")
        said = Message("user", asked, id="asked", speaker="Tom")
        await channel.after_turn(turn, [said, reply])
        with pytest.raises(NothingFound, match=r"only in the request itself \(asked\)"):
            await channel.notes.forget(Text(request.text))
        assert [item.text for item in await channel.talk.detail("asked")] == [asked]
        await channel.notes.forget([ById("log:told"), ById("log:asked")])
        assert [item.text for item in await channel.talk.detail("told", "asked")] == ["", ""]


async def test_a_request_that_says_what_was_said_forgets_it(root: Path) -> None:
    """The line, and the request with it."""
    async with opened(root) as (_, channel):
        await talked(channel)
        asked = "Forget that the staging port is 9443."
        await channel.after_turn(None, [Message("user", asked, id="asked", speaker="Tom")])
        counts = await channel.notes.forget(Text("the staging port is 9443"))
        assert counts["messages"] == 2


async def test_the_id_of_a_message_takes_what_was_learnt_from_it(root: Path) -> None:
    """As `search` gives it, in a list as with `message`."""
    async with opened(root) as (_, channel):
        await talked(channel)
        await channel.before_compaction()
        await channel.notes.forget(ById("log:m2"))
        assert "9443" not in read(root) + read(root, "HISTORY.md") + read(root, "SESSION.md")


async def test_a_text_and_a_speaker_mean_their_words_with_it(root: Path) -> None:
    """Others keep theirs; who said nothing of it, and a text with a message, are refused."""
    async with opened(root) as (_, channel):
        await talked(channel)
        both = [
            Message("user", "I like running at dawn", id=f"r-{name}", speaker=name)
            for name in ("爸爸", "Tom")
        ]
        await channel.after_turn(None, both)
        await channel.before_compaction()
        assert (await channel.notes.forget(By("爸爸", "I like running")))["messages"] == 1
        said = await channel.talk.detail("r-爸爸", "r-Tom")
        assert [item.text for item in said] == ["", "I like running at dawn"]
        notes = read(root) + read(root, "HISTORY.md") + read(root, "SESSION.md")
        assert "爸爸" not in notes
        assert "Tom" in notes
        with pytest.raises(NothingFound, match="Dana said nothing with this text"):
            await channel.notes.forget(By("Dana", "I like running"))


async def test_channels_usage_and_remove(root: Path) -> None:
    """Which there are, what they cost, and one gone for good with its folder."""
    async with opened(root) as (pipimem, channel):
        await talked(channel)
        (info,) = await pipimem.channels()
        assert (info.id, info.kind, info.title) == ("room", "group", "Pottery")
        assert (await channel.usage()).calls == 0
        assert await pipimem.usage("model") == {}
        await pipimem.remove("room")
        assert await pipimem.channels() == ()
        assert not info.folder.exists()
        assert list((root / ".pipimem").glob("removed*")) == []
        with pytest.raises(ChannelError):
            await pipimem.remove("room")
        again = await pipimem.channel("room")
        assert again is not channel
        assert await again.notes.entries() == ()


async def test_arguments_are_checked_with_a_sentence(root: Path) -> None:
    """Each says what is meant, and nothing was done."""
    async with opened(root) as (pipimem, channel):
        for call, says in (
            (lambda: pipimem.channel("x", kind="room"), "kind must be dm or group, not 'room'"),
            (lambda: pipimem.channel(7), "id must be str"),
            (lambda: pipimem.usage("hour"), "by must be task, channel, model or day"),
            (lambda: channel.talk.search(None), "query must be str"),
            (
                lambda: channel.talk.search("kiln", where="everywhere"),
                "where must be all, notes or log",
            ),
            (
                lambda: channel.talk.search("kiln", count=0),
                "count must be a whole number from 1 on",
            ),
            (
                lambda: channel.talk.search("kiln", after="yesterday"),
                "after must be datetime or None",
            ),
            (lambda: channel.talk.search("kiln", role="bot"), "role must be user"),
            (
                lambda: channel.notes.remember("the roof is red", kind="colour"),
                "kind must be identity",
            ),
            (lambda: channel.notes.entries(kind="colour"), "kind must be identity"),
            (lambda: channel.notes.forget(()), "There is nothing to forget"),
            (lambda: channel.notes.forget(ById(7)), "id must be str"),
        ):
            with pytest.raises(ArgumentError, match=says):
                await call()  # type: ignore[no-untyped-call]
        assert [info.id for info in await pipimem.channels()] == ["room"]


@pytest.mark.anyio
async def test_what_is_forgotten_within_a_turn_does_not_come_back_with_its_messages(
    tmp_path: Path,
) -> None:
    """The request itself says it again, and is stored only after the turn."""
    root = workspace(tmp_path)
    request = "Please forget that my cat Zorbulon eats only salmon"
    async with opened(root) as (_, channel):
        await channel.notes.remember("my cat Zorbulon eats only salmon", speaker="Tom")
        turn = await channel.before_turn(request, speaker="Tom")
        await channel.notes.forget(Text(turn.requests[0].text))
        await channel.after_turn(
            turn, [Message.user(request, speaker="Tom"), Message.assistant("ok")]
        )
        assert not (await channel.before_turn("what does Zorbulon eat?")).recalled
    for path in root.rglob("*"):
        assert path.is_dir() or b"Zorbulon eats" not in path.read_bytes(), path


async def test_what_was_remembered_for_a_person_goes_with_all_they_said(root: Path) -> None:
    """Also where they said nothing here themselves."""
    async with opened(root) as (_, channel):
        await channel.notes.remember("likes rowing at dawn", speaker="Eva")
        await channel.notes.remember("the yard has a lamp")
        counts = await channel.notes.forget(By("eva"))
        left = [entry.text for entry in await channel.notes.entries()]
    assert counts["entries"] == 1
    assert left == ["the yard has a lamp"]
