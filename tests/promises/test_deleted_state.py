"""`.pipimem/`, or any one file in it, is deleted at any time: notes and talk stay, the bot goes on.

What is deleted is enumerated on disk, so that the tests hold for any form of the state.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Channel, Consolidated, HistoryItem, Kind, Learned, Message
from tests.promises.lived_workspace import (
    BESIDE,
    FOREIGN,
    FORGOTTEN,
    QUESTION,
    REMEMBERED,
    ROOM,
    copied,
    delete,
    intruders,
    messages,
    missing,
    own_files,
)
from tests.promises.processes import command

MOMENTS = ("before opening", "under a running bot", "in a turn", "in a compaction")
NEW = ("the boiler is blue", "the fence is new")
FRESH = ("n1", "n2", "n3")
# The short form takes so many files of each folder.
_FILES_A_FOLDER = 7


@dataclass(slots=True)
class Model:
    """An assistant that learns one fact of each window, and does something before its next answer."""

    before_answer: Callable[[], None] = lambda: None
    name: str = "model"
    paid: bool = False
    asked: list[Any] = field(default_factory=list)

    async def answer(self, task: Any, call: object) -> Any:
        """Answers `Consolidate`."""
        self.asked.append(task)
        act, self.before_answer = self.before_answer, lambda: None
        act()
        said = [message for message in task.window if message.role == "user"][-1]
        return Consolidated(
            learned=(Learned(Kind.FACT, said.content, (said.id,), speaker=said.speaker),),
            history=(HistoryItem(f"{said.speaker} spoke.", (said.id,)),),
        )


def deletable(root: Path, turn: int = 0, *, is_long: bool) -> Iterator[str]:
    """The files and folders of ours; in the short form a third of them, by turns."""
    names = list(_deletable(root, is_long=is_long))
    yield from (name for at, name in enumerate(names) if is_long or at % 3 == turn % 3)


def _deletable(root: Path, *, is_long: bool) -> Iterator[str]:
    seen: dict[PurePosixPath, int] = {}
    for name in own_files(root):
        folder = PurePosixPath(name).parent
        seen[folder] = seen.get(folder, 0) + 1
        deep = ".pipimem" in folder.parts[:-1]
        if is_long or seen[folder] <= (1 if deep else _FILES_A_FOLDER):
            yield name


async def live_on(root: Path, path: Path, moment: str) -> None:
    """All calls of a bot, with one deletion at a moment; each must work."""
    if moment == "before opening":
        delete(path)
    model = Model()
    async with front_door.quiet(root, "", assistant=model) as pipimem:
        room = await pipimem.channel(ROOM, kind="group")
        await front_door.before_turn(room, "Hello?")
        if moment == "under a running bot":
            delete(path)
        turn = await front_door.before_turn(room, QUESTION, speaker="alice")
        assert not turn.problem, turn.problem
        assert REMEMBERED[0] in turn.context
        assert FOREIGN not in turn.context
        assert FORGOTTEN not in turn.context
        if moment == "in a turn":
            delete(path)
        said = [Message.user(QUESTION, id="n1", speaker="alice"), Message.assistant("I", id="n2")]
        await front_door.after_turn(room, turn, said)
        await front_door.remember(room, NEW[0])
        if moment == "in a compaction":
            model.before_answer = lambda: delete(path)
        await compact(room, Message.user("The pump is old.", id="n3", speaker="alice"))
        assert model.asked
        await front_door.remember(room, "the shed is locked")
        await front_door.forget(room, "the shed is locked")
        await front_door.remember(room, NEW[1])
        turn = await front_door.before_turn(room, "Which colour does the boiler have?")
        assert not turn.problem, turn.problem
        assert NEW[0] in turn.context


async def compact(room: Channel, message: Message) -> None:
    """Compact with a message that the transcript lacks."""
    receipt = await front_door.before_compaction(room, [message])
    assert receipt.may_compact, receipt.reason
    await front_door.compacted(room, receipt)


def lost(root: Path) -> list[str]:
    """What does not stand as it must after `live_on`."""
    notes = front_door.note(root, ROOM)
    found = messages(root)
    return [
        *missing(root),
        *intruders(root),
        *(f"{text} is there {notes.count(text)} times" for text in NEW if notes.count(text) != 1),
        *(f"message {each} is there {found[each]} times" for each in FRESH if found[each] != 1),
        *(["the shed is back"] if "the shed is locked" in notes else []),
    ]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_deletion_costs_nothing_that_was_typed_said_or_remembered(
    lived: Path,
    tmp_path: Path,
    moment: str,
    is_long: bool,
    count_trials: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No call raises, nothing is lost or doubled, nothing that was forgotten comes back; the log
    tells of it once at most.
    """
    caplog.set_level(logging.WARNING, "pipimem")
    wrong: list[tuple[str, ...]] = []
    names = [*deletable(lived, MOMENTS.index(moment), is_long=is_long)]
    state = f"channels/{ROOM}/.pipimem"
    for number, name in enumerate(dict.fromkeys([state, *names])):
        root = copied(lived, tmp_path / str(number))
        try:
            anyio.run(live_on, root, root / name, moment)
        except Exception as error:  # noqa: BLE001 - each is counted, with the file
            wrong.append((name, repr(error)))
            continue
        wrong += [(name, each) for each in lost(root)]
        if len(caplog.messages) > 1:
            wrong.append((name, *caplog.messages))
        caplog.clear()
        delete(root)
        count_trials()
    assert wrong == []


def test_a_command_line_goes_on_after_a_deletion(
    lived: Path, tmp_path: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Commands that read and commands that write end with 0 and leave what must stand."""
    wrong: list[tuple[str, ...]] = []
    for number, name in enumerate(deletable(lived, is_long=is_long)):
        root = copied(lived, tmp_path / str(number))
        delete(root / name)
        for arguments in (("status",), ("remember", ROOM, NEW[0]), ("recall", ROOM, QUESTION)):
            ended = command(root, *arguments)
            if ended.code or ended.has_traceback:
                wrong.append((name, arguments[0], ended.printed[-200:]))
        if ended.output.count(REMEMBERED[0]) < 1:
            wrong.append((name, "recall", ended.printed[-200:]))
        wrong += [(name, each) for each in (*missing(root), *intruders(root))]
        if front_door.note(root, ROOM).count(NEW[0]) != 1:
            wrong.append((name, "remember", front_door.note(root, ROOM)))
        count_trials()
    assert wrong == []


def test_whatever_is_deleted_while_a_bot_works_nothing_is_lost(
    lived: Path, tmp_path: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """A person deletes one file after the other, or all of them, at instants nobody chose."""
    root = copied(lived, tmp_path / "w")
    rounds = 2_000 if is_long else 40
    is_over = threading.Event()

    def deletes() -> None:
        turn = 0
        while not is_over.wait(0.011):
            names = own_files(root)
            if names:
                delete(root / names[turn * 7 % len(names)])
            turn += 1
        count_trials(turn)

    async def work() -> None:
        async with front_door.quiet(root) as pipimem:
            room = await pipimem.channel(ROOM)
            for number in range(rounds):
                turn = await front_door.before_turn(room, QUESTION)
                assert not turn.problem, turn.problem
                said = Message.user(f"It is round {number}.", id=f"r{number}")
                await front_door.after_turn(room, turn, [said])
                await front_door.remember(room, f"lamp {number} has {number * 7919} hours")

    person = threading.Thread(target=deletes)
    person.start()
    try:
        anyio.run(work)
    finally:
        is_over.set()
        person.join()
    notes, found = front_door.note(root, ROOM), messages(root)
    assert [*missing(root), *intruders(root)] == []
    lamps = [f"lamp {number} has {number * 7919} hours\n" for number in range(rounds)]
    assert [text for text in lamps if notes.count(text) != 1] == []
    assert [number for number in range(rounds) if found[f"r{number}"] != 1] == []


def test_a_deleted_channel_stays_away(lived: Path, tmp_path: Path) -> None:
    """Nothing of the old notes comes back, and a bot that only ends makes no folder anew."""
    root = copied(lived, tmp_path / "w")

    async def work(*, speaks: bool) -> None:
        async with front_door.quiet(root) as pipimem:
            room = await pipimem.channel(ROOM)
            await front_door.before_turn(room, QUESTION)
            delete(front_door.folder_of(root, ROOM))
            if speaks:
                turn = await front_door.before_turn(room, QUESTION)
                assert not turn.problem
                assert REMEMBERED[0] not in turn.context
                await front_door.after_turn(room, turn, [Message.user("Hi.", id="n1")])
                await front_door.remember(room, NEW[0])

    anyio.run(lambda: work(speaks=False))
    assert not front_door.folder_of(root, ROOM).exists()
    root = copied(lived, tmp_path / "again")
    anyio.run(lambda: work(speaks=True))
    assert NEW[0] in front_door.note(root, ROOM)
    assert REMEMBERED[0] not in front_door.note(root, ROOM)
    assert list(messages(root)) == ["n1"]


def test_all_channels_may_be_deleted_under_a_bot(lived: Path, tmp_path: Path) -> None:
    """The bot goes on with new ones."""
    root = copied(lived, tmp_path / "w")

    async def work() -> None:
        async with front_door.quiet(root) as pipimem:
            room = await pipimem.channel(ROOM)
            await front_door.before_turn(room, QUESTION)
            delete(root / "channels")
            turn = await front_door.before_turn(room, QUESTION)
            assert not turn.problem
            await front_door.after_turn(room, turn, [Message.user("Hi.", id="n1")])
            await front_door.remember(room, NEW[0])

    anyio.run(work)
    assert NEW[0] in front_door.note(root, ROOM)
    assert list(messages(root)) == ["n1"]


@pytest.mark.parametrize("is_running", [False, True])
def test_talk_from_before_a_deletion_is_not_learnt_again(
    lived: Path, tmp_path: Path, is_running: bool
) -> None:
    """A model is shown only what was said after the state was lost."""
    root, model = copied(lived, tmp_path / "w"), Model()
    state = front_door.folder_of(root, ROOM) / ".pipimem"

    async def work() -> None:
        async with front_door.quiet(root, "", assistant=model) as pipimem:
            room = await pipimem.channel(ROOM)
            await front_door.before_turn(room, "Hello?")
            if is_running:
                delete(state)
            await compact(room, Message.user("The pump is old.", id="n3", speaker="alice"))

    if not is_running:
        delete(state)
    anyio.run(work)
    shown = {message.id for task in model.asked for message in task.window}
    assert shown == {"n3"}


def kind_in_status(root: Path, channel: str) -> str:
    """The kind of a channel as `status` prints it."""
    rows = [line.split() for line in command(root, "status").output.splitlines()]
    return next(row[1] for row in rows if row[0] == channel)


def test_a_direct_chat_without_its_state_counts_as_a_group(workspace: Path) -> None:
    """Until its host says again that it is direct."""

    async def work(text: str, **kind: Any) -> None:
        async with front_door.quiet(workspace) as pipimem:
            room = await pipimem.channel(ROOM, **kind)
            await front_door.remember(room, text)

    anyio.run(partial(work, "tea is green", kind="dm"))
    assert kind_in_status(workspace, ROOM) == "dm"
    delete(front_door.folder_of(workspace, ROOM) / ".pipimem")
    anyio.run(work, "milk is white")
    assert kind_in_status(workspace, ROOM) == "group"
    anyio.run(partial(work, "coffee is black", kind="dm"))
    assert kind_in_status(workspace, ROOM) == "dm"


def test_an_entry_without_a_record_in_a_group_is_shown_as_said_by_nobody_known(
    lived: Path, tmp_path: Path
) -> None:
    """Where there is a transcript, an entry without a record may be anybody's."""
    root = copied(lived, tmp_path / "w")
    delete(front_door.folder_of(root, ROOM) / ".pipimem")

    async def work() -> str:
        async with front_door.quiet(root) as pipimem:
            room = await pipimem.channel(ROOM, kind="group")
            return (await front_door.before_turn(room, QUESTION)).context

    assert "said by: unknown" in anyio.run(work)
    # A command that finds nothing to do leaves it so.
    assert command(root, "undo", ROOM, "--yes").code == 1
    assert "said by: unknown" in anyio.run(work)
    assert "for the state was lost" in command(root, "doctor").printed


def test_a_channel_without_its_state_stays_apart_from_others(lived: Path, tmp_path: Path) -> None:
    """Neither channel is shown what the other was told."""
    root = copied(lived, tmp_path / "w")
    for name in (ROOM, BESIDE):
        delete(front_door.folder_of(root, name) / ".pipimem")

    async def work() -> tuple[str, str]:
        async with front_door.quiet(root) as pipimem:
            room, beside = await pipimem.channel(ROOM), await pipimem.channel(BESIDE)
            asked = f"What of the {FOREIGN}, and where is the spare key?"
            first, second = [await front_door.before_turn(each, asked) for each in (room, beside)]
            return first.context, second.context

    first, second = anyio.run(work)
    shows_foreign = [f"the {FOREIGN} are red" in text for text in (first, second)]
    assert shows_foreign == [False, True]
    assert [REMEMBERED[0] in text for text in (first, second)] == [True, False]


def test_idle_work_goes_on_in_one_process_though_the_workspaces_state_is_deleted(
    workspace: Path,
) -> None:
    """The process that does it goes on with it, and no second one begins."""

    async def talk(pipimem: front_door.Pipimem, name: str) -> None:
        channel = await pipimem.channel(name, kind="group")
        said = Message.user(f"We decided to paint the {name} green.", speaker="alice")
        await front_door.after_turn(channel, None, [said])
        with anyio.fail_after(60):
            while f"paint the {name}" not in front_door.note(workspace, name):
                await anyio.sleep(0.02)

    async def work() -> None:
        async with front_door.busy(workspace, idle_seconds=0.1) as first:
            await talk(first, "hall")
            assert first.does_idle_work
            delete(workspace / ".pipimem")
            await talk(first, "shed")
            async with front_door.busy(workspace, idle_seconds=0.1) as second:
                await talk(first, "roof")
                assert [first.does_idle_work, second.does_idle_work] == [True, False]

    anyio.run(work)
