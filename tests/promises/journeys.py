"""The journeys that meet a fault: what is there before, what is done, what is acknowledged when.

`prepare` and `run` get the folder of the workspace; `run` says what the public API or a command has
acknowledged, at the moment it returned:

    message CHANNEL ID CONTENT    the message is in the transcript
    entry CHANNEL TEXT            the entry is in MEMORY.md
    gone CHANNEL TEXT             it is no longer there
    forgotten TEXT                it is in no byte of the workspace
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from tests.promises import front_door
from tests.promises.front_door import Channel, Clock, Kind, Message, Pipimem, PipimemError
from tests.promises.zygote import Say

NOW = datetime.now().astimezone().replace(microsecond=0)
TEAM = "team"
OTHER = "other"
STRANGE = "Room 7/=上线"
"""A channel whose folder is not named as it is."""
TYPED = "typed by hand, zebra"
SECRET = "the blue elephant"

ELSEWHERE = ("hello from elsewhere", "erin keeps bees")

Work = Callable[[Path, Say], Coroutine[Any, Any, None]]
Commands = Callable[[Path], list[tuple[str | Path, ...]]]


def _no_commands(root: Path) -> list[tuple[str | Path, ...]]:
    return []


def _no_check(root: Path) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Journey:
    """What a fault is put into.

    `typed` are lines that a person typed into MEMORY.md before it. `forgets` are the words that it
    forgets: afterwards they are all there or in no byte of the workspace. An `atomic` journey is
    made of commits that are known from the history afterwards: the notes are as one of them left
    them. `channel` is that of the acknowledgements. `again` are the commands that a person gives
    after a kill; with `completes` all is there then. `check` returns what else is wrong.
    """

    name: str
    prepare: Work
    run: Work
    channel: str = TEAM
    typed: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    is_atomic: bool = True
    again: Commands = _no_commands
    completes: bool = False
    check: Callable[[Path], list[str]] = _no_check


def runtime(root: Path, now: datetime = NOW) -> Pipimem:
    """Return a runtime with the offline rules and a clock that does not move."""
    return Pipimem(root, "offline", clock=Clock(now=lambda: now, wall=lambda: now))


@dataclass(slots=True)
class Refusals:
    """The function that goes on in the same process after a `PipimemError` ended a journey."""

    then: Callable[[Pipimem, PipimemError], Coroutine[Any, Any, None]] | None = None


REFUSALS = Refusals()


@asynccontextmanager
async def opened(root: Path, now: datetime = NOW) -> AsyncIterator[Pipimem]:
    """Yield a runtime; a `PipimemError` ends the block and goes to `REFUSALS`."""
    async with runtime(root, now) as pipimem:
        try:
            yield pipimem
        except PipimemError as error:
            if REFUSALS.then is None:
                raise
            await REFUSALS.then(pipimem, error)


async def command(root: Path, *arguments: str | Path) -> str:
    """Run a command on the workspace and return its output; raise for any code but 0."""
    code, out, err = await to_thread.run_sync(
        front_door.command_line, "--workspace", root, *arguments
    )
    if code:
        raise CommandFailed(err or out)
    return out


class CommandFailed(Exception):
    """A command that ended with another code than 0; its text is what it printed."""


def said_by(speaker: str, name: str, content: str, *, when: datetime = NOW) -> Message:
    """Return a message of a person."""
    return Message.user(content, id=name, speaker=speaker, time=when)


def answered(name: str, content: str, *, when: datetime = NOW) -> Message:
    """Return a message of the bot."""
    return Message.assistant(content, id=name, time=when)


async def silent(root: Path) -> None:
    """Make a workspace with two channels that have a past: talk, a history, entries, a change."""
    await command(root, "init", root)
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group", title="The team")
        talk = [
            said_by("alice", "u1", "we decided to have tea on mondays"),
            answered("a1", "tea it is"),
            said_by("dana", "u2", "the plants are watered on fridays"),
            answered("a2", "I see"),
        ]
        await front_door.take_in(team, talk)
        receipt = await team.before_compaction()
        await team.compacted(receipt)
        await front_door.remember(team, "alice likes green tea", speaker="alice")
        await front_door.remember(team, "the release window opens at nine", kind=Kind.CONSTRAINT)
        other = await pipimem.channel(OTHER)
        await front_door.take_in(other, [said_by("erin", "o1", ELSEWHERE[0])])
        await front_door.remember(other, ELSEWHERE[1])


async def lived(root: Path, say: Say) -> None:
    """Make a workspace with a past."""
    await silent(root)


def memory_of(root: Path, channel: str = TEAM) -> Path:
    """Return the path of a channel's MEMORY.md."""
    return front_door.folder_of(root, channel) / "MEMORY.md"


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────


async def nothing(root: Path, say: Say) -> None:
    """Leave the folder empty."""


async def take_turn(
    channel: Channel, say: Say, speaker: str, name: str, question: str, answer: str
) -> None:
    """Take one turn and say its messages."""
    turn = await front_door.before_turn(channel, question, speaker=speaker)
    talk = [said_by(speaker, f"u{name}", question), answered(f"a{name}", answer)]
    await channel.after_turn(turn, talk)
    for message in talk:
        say("message", channel.id, message.id, message.content)


def _init_again(root: Path) -> list[tuple[str | Path, ...]]:
    return [("init", root)]


async def _first_turn(root: Path, say: Say) -> None:
    await command(root, "init", root)
    async with opened(root) as pipimem:
        room = await pipimem.channel(STRANGE, kind="group", title="The room")
        await take_turn(room, say, "alice", "1", "when is the release?", "at nine")


async def _turns(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await take_turn(team, say, "bob", "5", "when is the release?", "at nine")
        await take_turn(team, say, "bob", "6", "is there any cake left?", "two pieces")


async def _take_in(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        for number in range(5, 8):
            message = said_by("carol", f"u{number}", f"the parcel number {number} has come")
            await front_door.take_in(team, [message])
            say("message", TEAM, message.id, message.content)


async def large_log(root: Path, say: Say) -> None:
    """Make a transcript that is due to be rotated: 9 MB, in fields that nobody reads."""
    await silent(root)
    path = front_door.folder_of(root, TEAM) / "log.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for number in range(5, 14):
            line = {"id": f"t{number}", "n": number, "ts": NOW.isoformat(), "role": "tool"}
            padding = "x" * 1_000_000
            file.write(json.dumps({**line, "content": "done", "padding": padding}) + "\n")


# ── entries ───────────────────────────────────────────────────────────────────────────────────────


async def remember(channel: Channel, say: Say, text: str, **options: Any) -> None:
    """Remember a text and say it."""
    await front_door.remember(channel, text, **options)
    say("entry", channel.id, text)


async def entry_id(channel: Channel, text: str) -> str:
    """Return the id of the entry with a text."""
    return next(str(entry.id) for entry in await front_door.entries(channel) if text in entry.text)


async def _remember(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await remember(team, say, "the office cat is called Miso", speaker="alice")
        await remember(team, say, "the office dog is called Nori", speaker="bob")


async def _supersede(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        old = await entry_id(team, "opens at nine")
        text = "the release window opens at eleven"
        await remember(team, say, text, kind=Kind.CONSTRAINT, supersedes=[old])
        say("gone", TEAM, "opens at nine")


async def _update(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        old = await entry_id(team, "opens at nine")
        await front_door.update(team, old, "the release window opens at ten")
        say("gone", TEAM, "opens at nine")
        say("entry", TEAM, "the release window opens at ten")


async def _take_out(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.take_out(team, await entry_id(team, "opens at nine"))
        say("gone", TEAM, "opens at nine")


# ── a compaction ──────────────────────────────────────────────────────────────────────────────────


async def backlog(root: Path, say: Say) -> None:
    """Add talk that is not consolidated yet: a gate makes changes of the three notes of it."""
    await silent(root)
    team_talk = [
        said_by("alice", "u5", "please remember that the parcels are in hall seven"),
        answered("a5", "noted"),
        said_by("bob", "u6", "we decided to ship on friday"),
        answered("a6", "fine"),
    ]
    pipimem = runtime(root)  # without `async with`: closing would consolidate it
    team = await pipimem.channel(TEAM, kind="group")
    await front_door.take_in(team, team_talk)


async def _compact(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        last = said_by("carol", "u7", "we always deploy from the main branch")
        receipt = await team.before_compaction([last])
        if receipt.may_compact:
            say("message", TEAM, last.id, last.content)
            say("message", TEAM, "u5", "please remember that the parcels are in hall seven")
            await team.compacted(receipt)
        await take_turn(team, say, "bob", "8", "where are the parcels?", "in hall seven")


# ── edits ─────────────────────────────────────────────────────────────────────────────────────────


async def edited(root: Path, say: Say) -> None:
    """Edit MEMORY.md in place as a person does: add a line, delete a line."""
    await silent(root)
    path = memory_of(root)
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "alice likes green tea" in line)
    lines[at] = f"- {TYPED}"
    path.write_text("\n".join(lines) + "\n")


async def edited_from_old(root: Path, say: Say) -> None:
    """Save an older text with one line added, by rename, as a person does."""
    await silent(root)
    path = memory_of(root)
    old = path.read_text()
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.remember(team, "frank came later")
    beside = path.with_name("MEMORY.md.swp")
    beside.write_text(old.rstrip("\n") + f"\n- {TYPED}\n")
    beside.replace(path)


async def _go_on_talking(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await take_turn(team, say, "bob", "5", "who waters the plants?", "dana does")
        await remember(team, say, "the office cat is called Miso", speaker="alice")


# ── forgetting ────────────────────────────────────────────────────────────────────────────────────


async def told(root: Path, say: Say) -> None:
    """Write a text that is to be forgotten: to notes, versions, the transcript, by one speaker."""
    await silent(root)
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        talk = [
            said_by("mallory", "u5", f"please remember that I saw {SECRET} in paris"),
            answered("a5", "noted"),
            said_by("alice", "u6", "we decided to bake a cake on sunday"),
        ]
        await front_door.take_in(team, talk)
        receipt = await team.before_compaction()
        await team.compacted(receipt)
        await front_door.remember(team, f"the mascot is {SECRET}", speaker="mallory")
        await front_door.remember(team, "the cake is for erin", speaker="alice")
        await front_door.search(team, "elephant")


async def everywhere(root: Path, say: Say) -> None:
    """Write the text wherever a channel may have one, also where only an accident puts it."""
    await told(root, say)
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.remember(team, f"{SECRET} is grey", speaker="mallory")
        [entry] = [entry for entry in await front_door.entries(team) if "grey" in entry.text]
        await front_door.update(team, entry.id, f"{SECRET} is white")
        await front_door.before_turn(team, f"where is {SECRET}?", speaker="alice")
        await team.preview_turn(f"where is {SECRET}?")
    folder = front_door.folder_of(root, TEAM)
    words = f"\n## Archived\n\n- {SECRET} was small\n- the lamp was red\n"
    (folder / "HISTORY.archive.md").write_text(words)
    lines = f"{{torn {SECRET}\n"
    (folder / "log.jsonl.damaged").write_text(lines)
    database = (folder / ".pipimem" / "state.db").read_bytes()
    (folder / ".pipimem" / "state.db.damaged").write_bytes(database)
    for name in (".MEMORY.md", ".pipimem/.recall.json"):
        (folder / f"{name}.half.pipimem-tmp").write_text(f"half of {SECRET}")


async def _forget(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.forget(team, SECRET)
        say("forgotten", "blue elephant")
        await remember(team, say, "the office cat is called Miso")


async def _forget_speaker(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.forget(team, speaker="mallory")
        say("forgotten", "blue elephant")


async def _retract(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.retract(team, "u5")
        say("forgotten", "elephant in paris")


# ── taking back ───────────────────────────────────────────────────────────────────────────────────


async def _undo(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        await front_door.undo(team)
        say("gone", TEAM, "opens at nine")


async def _restore(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        team = await pipimem.channel(TEAM, kind="group")
        _, before, *_ = await front_door.log(team)
        await front_door.restore(team, before.number)
        say("gone", TEAM, "opens at nine")
        say("entry", TEAM, "alice likes green tea")


# ── idle jobs ─────────────────────────────────────────────────────────────────────────────────────


async def months_ago(root: Path, say: Say) -> None:
    """Make the history of a past month, long enough to fold, and an entry that has expired."""
    await command(root, "init", root)
    days = [(NOW - timedelta(days=92)).replace(day=1)]
    clock = Clock(now=lambda: days[-1], wall=lambda: days[-1])
    async with Pipimem(root, "offline", clock=clock) as pipimem:
        team = await pipimem.channel(TEAM, kind="group", title="The team")
        until = (days[0] + timedelta(days=9)).date()
        await front_door.remember(team, "the lift is out of order", until=until)
        for day in range(24):
            days.append(days[0] + timedelta(days=day))
            talk = [
                said_by("alice", f"u{day}", f"we decided to paint room {day} green", when=days[-1]),
                answered(f"a{day}", "fine", when=days[-1]),
            ]
            await team.compacted(await team.before_compaction(talk))


async def _maintain(root: Path, say: Say) -> None:
    await command(root, "maintain", TEAM)
    say("gone", TEAM, "the lift is out of order")


# ── moving ────────────────────────────────────────────────────────────────────────────────────────


def beside(root: Path) -> Path:
    """Return the folder for what is outside of the workspace."""
    folder = root.parent / "beside"
    folder.mkdir(exist_ok=True)
    return folder


async def exported(root: Path, say: Say) -> None:
    """Make a workspace without channels, and an archive of two channels."""
    await silent(root)
    await command(root, "export", beside(root) / "archive.zip")
    await command(root, "remove", TEAM, "--yes")
    await command(root, "remove", OTHER, "--yes")


async def _import(root: Path, say: Say) -> None:
    for arguments in _import_again(root):
        await command(root, *arguments)
    say("message", TEAM, "u1", "we decided to have tea on mondays")
    say("entry", TEAM, "alice likes green tea")
    say("entry", OTHER, ELSEWHERE[1])


def _import_again(root: Path) -> list[tuple[str | Path, ...]]:
    return [("import", beside(root) / "archive.zip")]


async def foreign(root: Path, say: Say) -> None:
    """Write the memory of another program, and a log of talk."""
    await silent(root)
    folder = beside(root) / "claw"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- likes tea\n- lives in Porto\n")
    (folder / "memory" / "2026-03-02.md").write_text("- lunch with Bob\n")
    talk = [{"role": "user", "content": text, "id": text} for text in ("one", "two")]
    (beside(root) / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in talk))


def _import_foreign_again(root: Path) -> list[tuple[str | Path, ...]]:
    sources = [beside(root) / "claw", beside(root) / "talk.jsonl"]
    return [("import", source, "--channel", TEAM) for source in sources]


async def _import_foreign(root: Path, say: Say) -> None:
    notes, talk = _import_foreign_again(root)
    await command(root, *notes)
    say("entry", TEAM, "lives in Porto")
    await command(root, *talk)
    say("message", TEAM, "log:one", "one")
    say("message", TEAM, "log:two", "two")


def _archive(root: Path) -> Path:
    return root / "moved.zip"


async def _export(root: Path, say: Say) -> None:
    await command(root, "export", _archive(root))
    say("made")


def _check_archive(root: Path) -> list[str]:
    """Return the problems of the archive: it is whole or does not exist."""
    if not _archive(root).exists():
        return []
    try:
        with zipfile.ZipFile(_archive(root)) as archive:
            broken = archive.testzip()
            names = " ".join(archive.namelist())
    except zipfile.BadZipFile as error:
        return [f"the archive is broken: {error}"]
    if broken or "team" not in names or "other" not in names:
        return [f"the archive is not whole: {broken} of {names}"]
    return []


async def _remove(root: Path, say: Say) -> None:
    async with opened(root) as pipimem:
        await pipimem.remove(OTHER)
        for words in ELSEWHERE:
            say("forgotten", words)


JOURNEYS = (
    Journey("first-turn", nothing, _first_turn, channel=STRANGE, again=_init_again),
    Journey("turns", lived, _turns),
    Journey("take-in", lived, _take_in),
    Journey("log-rotation", large_log, _take_in),
    Journey("remember", lived, _remember),
    Journey("supersede", lived, _supersede),
    Journey("update", lived, _update),
    Journey("take-out", lived, _take_out),
    Journey("compaction", backlog, _compact),
    Journey("hand-edit", edited, _go_on_talking, typed=(TYPED,)),
    Journey("old-buffer", edited_from_old, _go_on_talking, typed=(TYPED,)),
    Journey("forget", told, _forget, forgets=("blue elephant",), is_atomic=False),
    Journey("forget-everywhere", everywhere, _forget, forgets=("blue elephant",), is_atomic=False),
    Journey("forget-speaker", told, _forget_speaker, forgets=("blue elephant",), is_atomic=False),
    Journey("retract", told, _retract, forgets=("elephant in paris",), is_atomic=False),
    Journey("undo", lived, _undo),
    Journey("restore", lived, _restore),
    Journey("maintain", months_ago, _maintain),
    Journey("export", lived, _export, check=_check_archive),
    Journey("import-archive", exported, _import, again=_import_again, completes=True),
    Journey(
        "import-foreign", foreign, _import_foreign, again=_import_foreign_again, completes=True
    ),
    Journey(
        "remove-channel",
        lived,
        _remove,
        channel=OTHER,
        forgets=ELSEWHERE,
        again=lambda _: [("doctor", "--fix")],
    ),
)
BY_NAME = {journey.name: journey for journey in JOURNEYS}


# ── called in children of the zygote ──────────────────────────────────────────────────────────────


def prepare(say: Say, name: str, root: str) -> None:
    """Make what is there before a journey."""
    anyio.run(BY_NAME[name].prepare, Path(root), say)


def perform(say: Say, name: str, root: str) -> None:
    """Do a journey."""
    anyio.run(BY_NAME[name].run, Path(root), say)
