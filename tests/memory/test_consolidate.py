"""What a stretch of talk leaves in MEMORY.md and, at a boundary, in HISTORY.md."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import get_ident

import pytest
from msgspec.structs import replace
from pipimem.errors import AnswerRefused, ModelUnavailable
from pipimem.memory.consolidate import consolidate
from pipimem.memory.window import Window
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Bullet,
    Decision,
    Invalidate,
    LeftOut,
    Progress,
    Trust,
)
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Consolidate, Consolidated, HistoryItem, Learned, Outdated

from tests.notes.building import NOW, notes_of

pytestmark = pytest.mark.anyio
CALL = Call("dev", "c1", 20)
SINCE = NOW - timedelta(hours=2)
TALK = Window(
    (
        Message("user", "the port is 9090", "m7", NOW - timedelta(hours=1), "Dana", "", 7),
        Message("assistant", "noted", "b8", NOW - timedelta(minutes=30), "bot", "", 8),
    ),
    7,
    9,
)
TOLD = Consolidated(title="the port", history=(HistoryItem("Dana named the port", ("m7",)),))
DATED = Bullet("Dana named the port", ("m7",), when=(NOW - timedelta(hours=1)).isoformat())
EARLIER = Bullet("林晓问了端口", ("m2",), when=(NOW - timedelta(minutes=90)).isoformat())


def after(cursor: int = 6, *pending: Bullet) -> Notes:
    return notes_of(ledger=Ledger(cursor=cursor, pending=pending))


async def think(
    notes: Notes,
    answer: Consolidated | BaseException,
    window: Window = TALK,
    since: datetime | None = None,
) -> tuple[Decision, Scripted]:
    assistant = Scripted([answer])
    decision = await consolidate(assistant, notes, window, NOW, CALL, since=since, today=NOW)
    return decision, assistant


async def test_between_boundaries_bullets_wait() -> None:
    """No block yet: the bullets join those that wait, and the cursor moves past the window."""
    decision, _ = await think(after(6, EARLIER), TOLD)
    assert decision.operations == ()
    assert decision.progress == Progress(cursor=9, pending=(EARLIER, DATED), expect_cursor=6)


async def test_the_newest_of_history_is_shown_whatever_block_it_stands_in() -> None:
    """A compaction closes the block: what it wrote is told already all the same."""
    blocks = "".join(
        f"## 2026-03-{day:02} 09:00–10:00 +08:00\n\n- Dana came on day {day}\n- Tom left on day {day}\n\n"
        for day in range(1, 12)
    )
    notes = replace(notes_of(history=f"# History\n\n{blocks}"), ledger=after(6, EARLIER).ledger)
    _, assistant = await think(notes, TOLD)
    [task] = assistant.asked
    assert isinstance(task, Consolidate)
    assert len(task.told) == 6
    assert task.told[0] == "Tom left on day 9"
    assert task.told[-2:] == ("Tom left on day 11", f"2026-03-12 16:30 {EARLIER.text}")


async def test_of_long_lines_of_history_fewer_are_shown() -> None:
    """Up to 800 characters, the newest."""
    lines = "".join(f"- {'long ' * 100}day {day}\n" for day in range(9))
    notes = notes_of(history=f"## 2026-03-01 09:00–10:00 +08:00\n\n{lines}")
    _, assistant = await think(notes, TOLD)
    [task] = assistant.asked
    assert isinstance(task, Consolidate)
    assert [line.split()[-1] for line in task.told] == ["8"]


async def test_what_was_left_out_is_shown_with_the_next_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the reason, so that the old value is not ended for a new one that is not there."""
    lost = LeftOut("no source says so", "the port is 9091")
    monkeypatch.setattr(Notes, "left_out", (lost,), raising=False)
    _, assistant = await think(after(), TOLD)
    [task] = assistant.asked
    assert isinstance(task, Consolidate)
    assert task.not_kept == ("the port is 9091, because no source says so",)


async def test_facts_stay_where_every_line_of_history_is_left_out() -> None:
    """The first of them is the line that a window with an exchange leaves; without one it fails."""
    unsaid = (HistoryItem("Dana named port 7070", ("m7",)),)
    fact = Learned(Kind.FACT, "the port is 9090", ("m7",), "Dana")
    decision, _ = await think(after(), Consolidated((fact,), history=unsaid))
    assert [bullet.text for bullet in decision.progress.pending or ()] == ["the port is 9090"]
    assert [(item.text, item.file) for item in decision.left_out] == [
        ("Dana named port 7070", File.HISTORY)
    ]
    with pytest.raises(AnswerRefused, match="the number 7070 stands nowhere"):
        await think(after(), Consolidated(history=unsaid))


async def test_a_large_memory_is_compared_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both what is shown of it and what comes of the answer."""
    threads: list[int] = []
    for name in ("known", "promoted"):
        work = getattr(sys.modules[consolidate.__module__], name)

        def noting(
            *arguments: object, work: Callable[..., object] = work, **options: object
        ) -> object:
            threads.append(get_ident())
            return work(*arguments, **options)

        monkeypatch.setattr(sys.modules[consolidate.__module__], name, noting)
    await think(after(), TOLD)
    assert len(threads) == 2
    assert get_ident() not in threads


async def test_a_boundary_closes_one_block_of_all_that_waited() -> None:
    """It reaches from the last boundary to the last word, and nothing waits any more."""
    decision, _ = await think(after(6, EARLIER), TOLD, since=SINCE)
    assert decision.operations == (
        AddBlock(SINCE, NOW - timedelta(minutes=30), "the port", (EARLIER, DATED)),
    )
    assert decision.progress == Progress(cursor=9, boundary=9, pending=(), expect_cursor=6)


async def test_a_window_without_words_of_people_needs_no_thought() -> None:
    """The cursor moves; at a boundary the block is closed from what waited; nobody is asked."""
    silent = Window((), 7, 9)
    decision, assistant = await think(after(6, EARLIER), TOLD, silent)
    assert (decision.operations, decision.progress.pending, assistant.asked) == ((), (EARLIER,), [])
    closed, assistant = await think(after(6, EARLIER), TOLD, silent, SINCE)
    assert closed.operations == (AddBlock(SINCE, NOW, "", (EARLIER,)),)
    assert assistant.asked == []


async def test_a_boundary_with_nothing_to_tell_makes_no_block() -> None:
    """The boundary moves all the same."""
    decision, _ = await think(after(), TOLD, Window((), 7, 9), SINCE)
    assert (decision.operations, decision.progress.boundary) == ((), 9)


@pytest.mark.parametrize("history", [(), (HistoryItem(" \n"),)])
async def test_an_exchange_leaves_at_least_one_bullet(history: tuple[HistoryItem, ...]) -> None:
    """An answer that tells nothing of a question and its answer is refused."""
    with pytest.raises(AnswerRefused, match="at least one bullet"):
        await think(after(), Consolidated(history=history))


async def test_an_assistant_that_cannot_think_moves_nothing() -> None:
    """Its error goes on to who may try again."""
    with pytest.raises(ModelUnavailable, match="no route"):
        await think(after(), ModelUnavailable("no route"))


async def test_what_was_learnt_and_what_is_over_become_operations() -> None:
    """An entry of MEMORY.md ends by its id, an invented id ends nothing, a secret is masked."""
    notes = notes_of("## Facts\n\n- the gateway is in Berlin\n", trust=Trust.INFERRED)
    entry = notes.memory.entries[0]
    learned = Learned(Kind.FACT, "the port is 9090", ("m7",), necessity="high")
    answer = Consolidated(
        (learned,), (Outdated(entry.id, "moved"), Outdated("zzzzzzzz", "?")), "", TOLD.history
    )
    decision, _ = await think(notes, answer)
    add, gone = decision.operations
    assert isinstance(add, Add)
    assert (add.text, add.evidence.newest, add.trust) == ("the port is 9090", 7, Trust.INFERRED)
    assert gone == Invalidate(entry.target, "moved")


async def test_a_bullet_is_one_line_of_at_most_300_characters_without_secrets() -> None:
    """Line breaks fold, length is cut, and what tells a key is left out."""
    key = "sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN"
    decision, _ = await think(
        after(),
        Consolidated(history=(HistoryItem("a\n b " + "x" * 400), HistoryItem(f"the key is {key}"))),
    )
    assert decision.progress.pending is not None
    [long] = decision.progress.pending
    assert (long.text[:290], len(long.text)) == ("a b " + "x" * 286, 300)
    assert [(item.reason, item.text) for item in decision.left_out] == [
        ("rests on a sentence of which a secret was masked", "")
    ]


async def test_the_thought_sees_the_memory_and_who_spoke() -> None:
    """Participants are the people of the window, memory what stands."""
    _, assistant = await think(notes_of("## Facts\n\n- tea\n"), TOLD)
    [task] = assistant.asked
    assert isinstance(task, Consolidate)
    assert (task.participants, [k.text for k in task.memory], task.window) == (
        ("Dana",),
        ["tea"],
        TALK.messages,
    )


async def test_a_block_holds_the_eight_weightiest_quotes() -> None:
    """Of all windows of its day, whole, by time; what a model told is not counted, and what waits
    of another day has a block of its own.
    """
    today, before = (NOW - timedelta(hours=2)).isoformat(), (NOW - timedelta(days=2)).isoformat()
    waiting = tuple(
        Bullet(f"Dana (2026-03-12): quote {n} {'long ' * 70}end", ("m2",), n, today)
        for n in range(1, 8)
    )
    other = Bullet("Dana (2026-03-10): the gate is shut", ("m1",), 1, before)
    new = tuple(HistoryItem(f"Dana (2026-03-12): quote {n}", ("m7",), n) for n in (9, 2, 8))
    decision, _ = await think(after(6, other, EARLIER, *waiting), Consolidated(history=new))
    told = decision.progress.pending
    assert told is not None
    assert told[0] == other
    assert [bullet.weight for bullet in told[1:]] == [2, 3, 4, 5, 6, 7, 0, 9, 8]
    assert told[1].text.endswith("long end")


async def test_bullets_of_two_days_stand_in_two_blocks() -> None:
    """Each under the day of the messages it rests on; the title is that of the longer day."""
    night = NOW.replace(hour=23, minute=30) - timedelta(days=2)
    talk = Window(
        (
            Message("user", "the key is with Wei", "m7", night, "Dana", "", 7),
            Message("user", "good night", "m8", night + timedelta(hours=1), "Wei", "", 8),
            Message("user", "the port is 9090", "m9", NOW - timedelta(hours=1), "Dana", "", 9),
            Message("user", "and the host is new", "m10", NOW, "Dana", "", 10),
        ),
        7,
        10,
    )
    told = (
        HistoryItem("Dana named the port", ("m9",)),
        HistoryItem("the host is new", ("m10",)),
        HistoryItem("Wei has the key", ("m7", "m8")),
    )
    answer = Consolidated(title="ports", history=told)
    decision, _ = await think(after(), answer, talk, night - timedelta(minutes=5))
    first, second = (op for op in decision.operations if isinstance(op, AddBlock))
    assert (first.start, first.end, first.title) == (
        night - timedelta(minutes=5),
        night + timedelta(hours=1),
        "",
    )
    assert [bullet.text for bullet in first.bullets] == ["Wei has the key"]
    assert (second.start, second.end, second.title) == (NOW - timedelta(hours=1), NOW, "ports")
    assert [bullet.text for bullet in second.bullets] == ["Dana named the port", "the host is new"]
