"""Excerpts in a turn: what was said, where the entries do not answer."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from pipimem import Message, Pipimem, Receipt, Text, Visible
from pipimem.cli.options import Chosen
from pipimem.cli.recalls import opened_recall
from pipimem.recall.budget import Limits
from pipimem.recall.items import Item
from pipimem.recall.query import refined
from pipimem.recall.recall import Recall
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.transcript_recall import Seen, TranscriptRecall, TranscriptSearch
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import Hands, opened, read, say, workspace, write

pytestmark = pytest.mark.anyio

QUESTION = "Where did Dana's brother get married?"
SAID = "My brother got married in Lisbon."


async def talked(root: Path, more: int = 30, first: str = SAID) -> None:
    """A conversation that begins with what will be asked for, and is closed."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        now = hands.clock().now() - timedelta(days=40)
        messages = [Message.user(first, id="said", speaker="Dana", time=now)]
        for number in range(more):
            later = now + timedelta(hours=2 + number)
            text = f"Ticket {number} is closed."
            messages.append(Message.user(text, id=f"x{number}", speaker="Tom", time=later))
        await channel.talk.append(messages)


def host(root: Path, keeps: bool) -> Pipimem:
    """A host that keeps what it was shown, or builds each prompt anew."""
    return Pipimem(root, "offline", keeps_context=keeps)


async def excerpts(
    channel: Channel, text: str = QUESTION, visible: Visible | str = Visible.NEWEST
) -> list[str]:
    """The texts of a turn's excerpts."""
    turn = await channel.before_turn(text, speaker="Dana", visible=visible)
    assert turn.recall is not None
    return [item.text for item in turn.recall.excerpts]


async def found_soon(channel: Channel) -> list[str]:
    """The excerpts of a turn, once it has some; no turn is ended meanwhile."""
    found: list[str] = []
    with anyio.move_on_after(60):
        while not found:
            await anyio.sleep(0.02)
            found = await excerpts(channel)
    return found


async def test_a_first_turn_after_a_start_has_excerpts(tmp_path: Path) -> None:
    """The index is built while the channel is opened; the turn names what it showed."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        turn = await channel.before_turn(QUESTION, speaker="Dana")
        assert SAID in turn.context
        assert "log:said" in turn.shown


async def test_what_a_person_reworded_beats_what_was_said(tmp_path: Path) -> None:
    """The message that the entry rests on comes with no hit any more; the hit does."""
    root = workspace(tmp_path)
    said, asked = "we decided to have dinner at seven", "remember: I'm allergic to peanuts"
    async with opened(root) as channel:
        now = Hands().clock().now() - timedelta(days=2)
        await channel.talk.append(
            Message.user(text, id=text[:2], speaker="Ann", time=now) for text in (said, asked)
        )
        await channel.reset()
    path = root / "channels" / "room" / "MEMORY.md"
    learnt = path.read_text("utf-8")
    assert f"{said}\n" in learnt
    path.write_text(learnt.replace("at seven", "at 7:30 pm"), "utf-8")
    async with opened(root) as channel:
        found = await excerpts(channel, "can Ann eat satay sauce with peanuts?")
    assert found == [asked]


async def test_what_was_said_minutes_ago_reaches_a_prompt_that_shows_nothing(
    tmp_path: Path,
) -> None:
    """No file has it yet; a plain question shares one of its two words with it."""
    root, hands = workspace(tmp_path), Hands()
    async with opened(root, hands=hands) as channel:
        await say(channel, "We decided: the concert is on 18 April in the town hall.")
        for number in range(12):
            hands.pass_by(minutes=1)
            await say(channel, f"Row {number} has chairs now.")
        question = "When is the concert, and how much is the rent?"
        with anyio.move_on_after(60):
            while not (found := await excerpts(channel, question, visible=Visible.NOTHING)):
                await anyio.sleep(0.02)
        assert any("18 April" in text for text in found)
        assert any("18 April" in text for text in await excerpts(channel, question))
        await channel.reset()
        assert "18 April" in read(root)  # from here on the entry answers
        turn = await channel.before_turn(question, visible=Visible.NOTHING)
        assert turn.recall is not None
        assert turn.recall.excerpts == ()


async def test_excerpts_come_back_after_a_forgetting_without_another_turn(tmp_path: Path) -> None:
    """The forgetting rewrites the transcript, so its index is built anew beside the turns."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        assert await excerpts(channel) != []
        await channel.notes.forget(Text("Ticket 3 is closed"))
        assert SAID in await found_soon(channel)


async def test_a_channel_opened_before_the_start_has_excerpts_too(tmp_path: Path) -> None:
    """Its index is built at the start, and its first turn waits for that one alone."""
    root = workspace(tmp_path)
    await talked(root)
    pipimem = host(root, keeps=False)
    channel = await pipimem.channel("room", kind="group")
    assert await excerpts(channel) == []
    await pipimem.start()
    try:
        assert SAID in await found_soon(channel)
    finally:
        await pipimem.aclose()


class Waits(threading.Event):
    """Is never waited for; it knows for how long it would have been."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Writes down the time, and answers whether it is set."""
        self.seconds.append(timeout)
        return self.is_set()


async def test_a_first_turn_does_not_wait_for_what_takes_longer(tmp_path: Path) -> None:
    """A file of 1 MB that somebody pasted as one line is indexed beside the turns."""
    root = workspace(tmp_path)
    await talked(root, more=1, first="whatever the log says about it, " * 32_000)
    room, waits = service(root), Waits()
    room._is_warm = waits
    room.expect()
    room.wait(1.0)
    assert waits.seconds == []
    room.warm()
    room.keep()
    later = service(root)
    later._is_warm = waits
    later.expect()
    later.wait(0.1)
    assert waits.seconds == [0.1]


async def test_excerpts_come_back_after_another_process_forgot(tmp_path: Path) -> None:
    """The bot notices at its next turn, and builds the index anew beside the turns."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        assert await excerpts(channel) != []
        other = ChannelStore.open(WorkspaceStore.open(root), "room", create=False)
        forget = partial(other.forget, "Ticket 3 is closed", keep_transcript=False)
        await to_thread.run_sync(partial(forget, now=Hands().now, actor="person"))
        assert SAID in await found_soon(channel)


async def test_entries_and_excerpts_together_stay_within_1800_tokens(tmp_path: Path) -> None:
    """Long entries leave little room, and messages of a few words on many days are mostly frame."""
    root = workspace(tmp_path)
    hands = Hands()
    lines = [f"- Tom's brother came with {n} guests {'and so on ' * 100}\n" for n in range(12)]
    write(root, "MEMORY.md", "".join(lines))
    async with opened(root, hands=hands) as channel:
        start = hands.clock().now() - timedelta(days=90)
        messages = []
        for day in range(80):
            text = f"brother {day}: married in Lisbon"
            later = start + timedelta(days=day)
            messages.append(Message.user(text, id=f"d{day}", speaker="Dana", time=later))
        await channel.talk.append(messages)
    async with opened(root, hands=hands) as channel:
        turn = await channel.before_turn(QUESTION, speaker="Dana")
        assert turn.recall is not None
        assert turn.recall.excerpts
        assert turn.recalled_tokens <= 1_800


SOUND_CHECK = "when is the sound check?"
HALF_PAST = "The sound check is at half past four."


async def in_session(channel: Channel, count: int) -> None:
    """So many messages of one session, the first of them the one that is asked for."""
    talk = [f"Ticket {number} is closed." for number in range(1, count)]
    await channel.talk.append([Message.user(text, speaker="Tom") for text in (HALF_PAST, *talk)])
    turn = await channel.before_turn("ok", speaker="Tom")
    await channel.after_turn(turn, [])


async def warmed(channel: Channel, text: str = SOUND_CHECK) -> list[str]:
    """The excerpts once the index holds all that was said."""
    await to_thread.run_sync(channel._recall_service.transcript_recall.warm)
    return await excerpts(channel, text)


async def test_the_newest_ten_messages_of_a_session_are_no_excerpts(tmp_path: Path) -> None:
    """A host shows them to the model anyway."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await in_session(channel, 10)
        assert await warmed(channel) == []
        await channel.talk.append([Message.user("Ticket 10 is closed.", speaker="Tom")])
        assert HALF_PAST in await warmed(channel)


@pytest.mark.parametrize("keeps", [False, True])
async def test_after_a_start_nothing_said_before_is_taken_as_seen(
    tmp_path: Path, keeps: bool
) -> None:
    """A process that was killed learnt nothing of the last talk, and the new one shows none."""
    root = workspace(tmp_path)
    async with opened(root) as killed:
        await in_session(killed, 8)
        async with host(root, keeps) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            assert HALF_PAST in await excerpts(channel, SOUND_CHECK)
            assert HALF_PAST not in await excerpts(channel, SOUND_CHECK, visible="m1")


@pytest.mark.parametrize("keeps", [False, True])
async def test_after_a_compaction_nothing_said_before_is_taken_as_seen(
    tmp_path: Path, keeps: bool
) -> None:
    """The host dropped it, whether the notes have it or not."""
    root = workspace(tmp_path)
    async with host(root, keeps) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await in_session(channel, 8)
        assert await warmed(channel) == []
        await channel.compacted(Receipt(True, "deferred", covered=8, cursor=0))
        turn = await channel.before_turn(SOUND_CHECK, speaker="Dana")
        assert HALF_PAST in turn.context


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_session_begins_behind_what_a_receipt_covers(tmp_path: Path, keeps: bool) -> None:
    """Messages that came in while the host compacted it still shows."""
    root = workspace(tmp_path)
    await talked(root)
    room = service(root)
    room.warm()
    assert room._search is not None
    room._session_start = 0
    room.begin_session(29)
    assert room._first_seen(room._search, room.store.ledger, Seen(keeps_context=keeps)) == 29


async def test_what_is_not_to_be_noted_comes_with_no_turn(tmp_path: Path) -> None:
    """Neither as an excerpt nor as talk that is not consolidated; a search finds it."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        secret = "off the record: I bought Leo a new cello for Christmas"
        await channel.talk.append(
            [
                Message.user(secret, speaker="Mum"),
                Message.user("Leo gets a book from grandma for Christmas", speaker="Mum"),
            ]
        )
        question = "what does Leo get for Christmas?"
        await channel.compacted(Receipt(True, "deferred", covered=2, cursor=0))
        await warmed(channel)
        turn = await channel.before_turn(question, speaker="Leo")
        assert "book" in turn.context
        assert "cello" not in turn.context
        found = await channel.talk.search("cello")
        assert secret in [hit.item.text for hit in found]


async def test_an_id_that_no_message_has_is_told_once(tmp_path: Path) -> None:
    """A host that gives its own ids would not know why its model is shown things twice."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        first = await channel.before_turn(QUESTION, visible="nobody")
        second = await channel.before_turn(QUESTION, visible="nobody")
        assert "visible: 'nobody'" in first.problem
        assert second.problem == ""


async def test_visible_may_name_a_message_that_is_not_indexed_yet(tmp_path: Path) -> None:
    """It was stored a moment ago; all that is indexed is older."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await in_session(channel, 8)
        assert await warmed(channel) == []
        await channel.talk.append([Message.user("Ticket 99 is open.", id="new", speaker="Tom")])
        assert HALF_PAST in await excerpts(channel, SOUND_CHECK, visible="new")


async def test_visible_nothing_says_that_the_model_sees_nothing(tmp_path: Path) -> None:
    """What was said a moment ago is an excerpt, too."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await in_session(channel, 8)
        assert await warmed(channel) == []
        assert HALF_PAST in await excerpts(channel, SOUND_CHECK, visible=Visible.NOTHING)


async def test_visible_says_what_the_model_still_sees(tmp_path: Path) -> None:
    """Excerpts are older than that message; an id that nobody knows is as none."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        assert await excerpts(channel, visible="said") == []
        assert SAID in await excerpts(channel, visible="x0")
        assert SAID in await excerpts(channel, visible="nobody knows it")


async def test_an_entry_that_holds_every_word_of_the_question_keeps_no_excerpt_away(
    tmp_path: Path,
) -> None:
    """What answers it may stand beside it in the talk."""
    root = workspace(tmp_path)
    await talked(root)
    write(root, "MEMORY.md", "## Facts\n\n- The brother of Dana got married in Lisbon\n")
    async with opened(root) as channel:
        assert SAID in await excerpts(channel)


async def test_what_was_forgotten_is_no_excerpt(tmp_path: Path) -> None:
    """Nor while the index of before is still there."""
    root = workspace(tmp_path)
    await talked(root)
    async with opened(root) as channel:
        assert SAID in await excerpts(channel)
        await channel.notes.forget(Text("My brother got married in Lisbon"))
        assert await excerpts(channel) == []


def service(root: Path) -> TranscriptRecall:
    """The excerpts of the room, nothing built."""
    found = WorkspaceStore.open(root)
    store = ChannelStore.open(found, "room", create=False)
    return TranscriptRecall(store, Vocabulary(found))


async def test_a_host_that_keeps_its_context_is_shown_what_was_said_before_the_epoch(
    tmp_path: Path,
) -> None:
    """What was said since stands in the model's context."""
    root = workspace(tmp_path)
    await talked(root)
    room = service(root)
    room.warm()
    ledger = room.store.ledger
    assert room._search is not None
    room._session_start = 0
    keeps, rebuilds = Seen(keeps_context=True), Seen()
    assert ledger.epoch_start == 0
    assert room._first_seen(room._search, ledger, keeps) == 0
    assert room._first_seen(room._search, ledger, rebuilds) == 31 - 10


async def test_nothing_is_built_on_a_turn(tmp_path: Path) -> None:
    """Without an index a turn has no excerpts, and does not wait where nobody builds one."""
    root = workspace(tmp_path)
    await talked(root)
    room = service(root)
    room.wait(60)
    now, words = Hands().clock().now(), room.vocabulary.words
    query = refined(QUESTION, words, now=now)
    found = room.excerpts(query, Recall(), room.store.notes(), Limits(), now, Seen())
    assert (found, room._search) == ((), None)


async def test_the_command_shows_the_excerpts_of_a_first_turn(tmp_path: Path) -> None:
    """`pipimem recall --turn` tells what a bot would be given, also without a bot."""
    root = workspace(tmp_path)
    await talked(root)
    turn = await opened_recall(Chosen(root)).recall("room").turn(QUESTION, speaker="Dana")
    assert SAID in turn.context
    assert "log:said" in turn.shown


async def test_what_the_model_still_sees_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message looked at is read from the disk; of the same index its place is known."""
    root = workspace(tmp_path)
    await talked(root, more=150)
    looked_at = 0
    real = TranscriptSearch.item

    def item(self: TranscriptSearch, slot: int) -> Item:
        nonlocal looked_at
        looked_at += 1
        return real(self, slot)

    monkeypatch.setattr(TranscriptSearch, "item", item)
    async with opened(root) as channel:
        assert await excerpts(channel, visible="x5") == [SAID]
        before, looked_at = looked_at, 0
        assert await excerpts(channel, visible="x5") == [SAID]
        assert before - looked_at > 100
        assert await excerpts(channel, visible="said") == []
        assert await excerpts(channel, visible="x5") == [SAID]


@pytest.mark.parametrize("is_kept_off", [False, True])
async def test_a_host_may_keep_recall_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_kept_off: bool
) -> None:
    """Else a quick question is asked there, all but the first."""
    root = workspace(tmp_path)
    await talked(root)
    threads: list[int] = []
    real = TranscriptRecall.excerpts

    def excerpts_of(self: TranscriptRecall, *given: Any) -> tuple[Item, ...]:
        threads.append(threading.get_ident())
        return real(self, *given)

    monkeypatch.setattr(TranscriptRecall, "excerpts", excerpts_of)
    async with opened(root) as channel:
        if is_kept_off:
            upkeep_of(channel).turn_recall.in_threads = True
        for _ in range(3):
            assert await excerpts(channel) == [SAID]
    assert (threading.get_ident() in threads[1:]) is not is_kept_off
