"""Each file of a workspace is replaced by something else: sentences, not tracebacks, and no loss."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Message, PipimemError
from tests.promises.lived_workspace import (
    BESIDE,
    QUESTION,
    REMEMBERED,
    ROOM,
    TYPED,
    copied,
    intruders,
    messages,
    missing,
)
from tests.promises.processes import Ended, command

NOTES = tuple(TYPED)
OLDER, OF_ANOTHER = "an older copy", "another channel's"


def _cut(share: float, data: bytes) -> bytes:
    return data[: int(len(data) * share)]


def _flipped(share: float, data: bytes) -> bytes:
    if not data:
        return data
    index = min(len(data) - 1, int(len(data) * share))
    return data[:index] + bytes([data[index] ^ 0x10]) + data[index + 1 :]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to a file; `bytes_of` gives its new bytes, `put` something that is no file.

    An older copy, and the file of another channel, are put in its place as a wrong restore does.
    """

    name: str
    bytes_of: Callable[[bytes], bytes] | None = None
    put: Callable[[Path], None] | None = None

    def do(self, path: Path, copies: Mapping[str, Path]) -> bool:
        """Damage a file; False where nothing changed."""
        before = path.read_bytes()
        if self.put is not None:
            path.unlink()
            self.put(path)
            return True
        if self.bytes_of is None:
            copy = copies[self.name]
            if not copy.is_file() or copy.read_bytes() == before:
                return False
            fresh = path.with_name("copy")
            shutil.copy2(copy, fresh)
            fresh.replace(path)
            return True
        path.write_bytes(self.bytes_of(before))
        return self.bytes_of(before) != before


def _bind(path: Path) -> None:
    # The path of a socket may have 108 bytes.
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def _conflict(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    half = len(lines) // 2
    ours, theirs = b"- ours\n", b"- theirs\n"
    mark = [b"<<<<<<< HEAD\n", ours, b"=======\n", theirs, b">>>>>>> main\n"]
    return b"".join([*lines[:half], *mark, *lines[half:]])


DAMAGES = (
    Damage("empty", lambda _: b""),
    *(Damage(f"cut at {at}", partial(_cut, at)) for at in (0.2, 0.7)),
    Damage("cut by a byte", lambda data: data[:-1]),
    Damage("cut by nine bytes", lambda data: data[:-9]),
    *(Damage(f"flipped at {at}", partial(_flipped, at)) for at in (0, 0.4, 0.8, 1)),
    Damage("random", lambda data: random.Random(len(data)).randbytes(len(data) + 50)),
    Damage(OLDER),
    Damage(OF_ANOTHER),
    Damage("Latin-1", lambda data: data + "- caf\xe9\n".encode("latin-1")),
    Damage("UTF-16", lambda data: data.decode("utf-8", "replace").encode("utf-16")),
    Damage("a NUL", lambda data: data + b"- nu\0l\n"),
    Damage("a conflict of git", _conflict),
    Damage("doubled", lambda data: data + data),
    Damage("a folder", put=lambda path: path.mkdir()),
    Damage("a dangling link", put=lambda path: path.symlink_to(path.with_name("nowhere"))),
    Damage("a link out", put=lambda path: path.symlink_to("/etc/hostname")),
    Damage("a pipe", put=os.mkfifo),
    Damage("a socket", put=_bind),
)


def files(root: Path) -> list[str]:
    """The files of the workspace that may be damaged: all but those of the other channel."""
    found = [
        path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()
    ]
    return [name for name in found if f"channels/{BESIDE}/" not in name]


def states(root: Path, *, is_long: bool) -> Iterator[tuple[str, Damage, bool]]:
    """Files, damages, and whether a bot runs: all, or one for each sort of file.

    Of the files of a channel; of those of the workspace every other.
    """
    names = files(root)
    if is_long:
        running = (False, True)
        yield from (
            (name, damage, is_on) for name in names for damage in DAMAGES for is_on in running
        )
        return
    # Versions of a note and the like have a hash in their names.
    sorts = {re.sub(r"\.[0-9a-f]{8,}", "", name): name for name in names}
    ours = [name for name in sorts.values() if "channels/" in name]
    for number, name in enumerate([*ours, *sorted(set(sorts.values()) - set(ours))[::3]]):
        yield name, DAMAGES[number * 7 % len(DAMAGES)], number % 2 == 0


@dataclass(slots=True)
class Trial:
    """One damaged workspace, and what is wrong with how it is met."""

    root: Path
    file: str
    damage: Damage
    copies: Mapping[str, Path] = field(default_factory=dict)
    is_running: bool = False
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The damaged file."""
        return self.root / self.file

    def __str__(self) -> str:
        running = " under a running bot" if self.is_running else ""
        return f"{self.file}, {self.damage.name}{running}: {self.wrong}"

    async def call(self, name: str, work: Awaitable[object], *, may_refuse: bool = True) -> object:
        """Await a call: a refusal must be an error of ours, in a sentence."""
        try:
            with anyio.fail_after(30):
                return await work
        except PipimemError as error:
            self.refused.append(f"{name}: {error}")
            if not may_refuse:
                self.wrong.append(f"{name} refused: {error}")
            if len(str(error)) < 15:
                self.wrong.append(f"{name} says only {error!r}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
            self.wrong.append(f"{name} raised {error!r}")
        return None

    def command(self, *arguments: str) -> Ended:
        """Run a command: it ends with 0, or with 1 and a sentence."""
        ended = command(self.root, *arguments)
        if ended.has_traceback or ended.code not in (0, 1):
            self.wrong.append(f"{arguments} ended with {ended.code}: {ended.printed[-300:]}")
        if ended.code == 1 and len(ended.printed) < 15:
            self.wrong.append(f"{arguments} says only {ended.printed!r}")
        return ended


async def live(trial: Trial) -> None:
    """The calls of a bot. Only a turn and the gate must return; closing may be refused too.

    Under a running bot the file is damaged after a turn and an entry.
    """
    try:
        async with front_door.quiet(trial.root) as pipimem:
            room = await trial.call("channel", pipimem.channel(ROOM))
            if isinstance(room, front_door.Channel):
                if trial.is_running:
                    await front_door.before_turn(room, QUESTION)
                    await front_door.remember(room, "the fence is new")
                    trial.damage.do(trial.path, trial.copies)
                await _calls(trial, room)
    except PipimemError as error:
        trial.refused.append(f"open or close: {error}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
        trial.wrong.append(f"open or close raised {error!r}")


async def _calls(trial: Trial, room: front_door.Channel) -> None:
    await trial.call("session_prompt", room.session_prompt())
    asked = front_door.before_turn(room, QUESTION)
    turn = await trial.call("before_turn", asked, may_refuse=False)
    if isinstance(turn, front_door.Turn) and turn.problem:
        trial.refused.append(f"turn: {turn.problem}")
    said = [Message.user("The pump is old.", id="n1", speaker="alice")]
    await trial.call("after_turn", front_door.after_turn(room, None, said))
    await trial.call("remember", front_door.remember(room, "the boiler is blue"))
    await trial.call("search", front_door.search(room, "pump"))
    gate = front_door.before_compaction(room, deadline=10)
    await trial.call("before_compaction", gate, may_refuse=False)


async def works(root: Path) -> list[str]:
    """What is wrong with a workspace that was put right."""
    async with front_door.quiet(root) as pipimem:
        room = await pipimem.channel(ROOM)
        turn = await front_door.before_turn(room, QUESTION)
        wrong = [turn.problem] if turn.problem else []
        await front_door.after_turn(room, turn, [Message.user(QUESTION, id="again")])
        await front_door.remember(room, "everything works")
        if not (await front_door.before_compaction(room, deadline=10)).may_compact:
            wrong.append("the gate is shut")
        text = front_door.note(root, ROOM)
        return wrong + ([] if text.count("everything works") == 1 else [text])


def typed_nowhere(root: Path) -> list[str]:
    """The typed lines that no file of the workspace holds any more."""
    texts = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    return [line for line in TYPED.values() if not any(line.encode() in text for text in texts)]


def meet(trial: Trial) -> None:
    """Damage a file, live with it, let the doctor look and mend, put it right, and live on."""
    original = trial.path.read_bytes()
    if not trial.is_running and not trial.damage.do(trial.path, trial.copies):
        return
    anyio.run(live, trial)
    left = trial.path.read_bytes() if trial.path.is_file() else b""
    ended = trial.command("doctor")
    if trial.refused and ended.code == 0:
        trial.wrong.append(f"the doctor says well, and {trial.refused[0]}")
    but: tuple[str, ...] = ()
    if trial.path.name in (*NOTES, "log.jsonl"):
        but = (trial.path.name,)
    trial.wrong += missing(trial.root, *but)
    trial.wrong += [each for each in intruders(trial.root) if not each.startswith(but)]
    ended = trial.command("doctor", "--fix")
    trial.wrong += [f"after --fix {each}" for each in missing(trial.root, *but)]
    # What a person typed into the damaged file is in the workspace, there or set aside.
    typed = [line for line in typed_nowhere(trial.root) if line.encode() in left]
    trial.wrong += [f"after --fix nowhere: {line}" for line in typed]
    if ended.code:
        put_right(trial.path, original)
        trial.wrong += [f"put right: {each}" for each in missing(trial.root)]
    try:
        trial.wrong += [f"afterwards {each}" for each in anyio.run(works, trial.root)]
    except Exception as error:  # noqa: BLE001 - it must work again
        trial.wrong.append(f"afterwards {error!r}")


def put_right(path: Path, original: bytes) -> None:
    """A person puts the file back."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.write_bytes(original)


def test_a_damaged_file_costs_no_traceback_and_no_other_text(
    lived: Path, tmp_path: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Turns return, errors are sentences, the doctor says what is wrong, and `--fix` loses nothing."""
    wrong = []
    for number, (name, damage, is_running) in enumerate(states(lived, is_long=is_long)):
        beside = name.replace(f"channels/{ROOM}/", f"channels/{BESIDE}/")
        copies = {OLDER: lived.with_name("earlier") / name, OF_ANOTHER: lived / beside}
        root = copied(lived, tmp_path / str(number))
        trial = Trial(root, name, damage, copies, is_running)
        meet(trial)
        wrong += [str(trial)] if trial.wrong else []
        shutil.rmtree(root)
        count_trials()
    assert wrong == []


NO_TEXT = {
    "a byte of Latin-1": "- the café is shut\n".encode("latin-1"),
    "a NUL": b"- nu\0l\n",
    "UTF-16": "- sixteen\n".encode("utf-16"),
    "a conflict of git": b"<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> main\n",
}


def spoil(root: Path, name: str, added: bytes) -> tuple[Path, bytes]:
    """Append what is no text to a note; returns its path and the bytes before."""
    path = front_door.folder_of(root, ROOM) / name
    before = path.read_bytes()
    path.write_bytes(before + added)
    return path, before


@pytest.mark.parametrize("kind", [kind for kind in NO_TEXT if "git" not in kind])
def test_a_note_that_is_no_text_is_reported_and_left_as_it_is(
    lived: Path, tmp_path: Path, kind: str, is_long: bool
) -> None:
    """Turns return, the talk is stored, `doctor` and `status` name the file, its bytes stay.

    `doctor --fix` puts the last good text in its place, and keeps the file beside it.
    """
    for name in NOTES if is_long else NOTES[:1]:
        root = copied(lived, tmp_path / name)
        path, before = spoil(root, name, NO_TEXT[kind])
        trial = Trial(root, str(path.relative_to(root)), DAMAGES[0])
        anyio.run(live, trial)
        assert trial.wrong == []
        assert messages(root)["n1"] == 1
        assert path.read_bytes() == before + NO_TEXT[kind]
        for arguments in (("doctor",), ("status",)):
            assert name in command(root, *arguments).printed, arguments
        assert path.read_bytes() == before + NO_TEXT[kind]
        assert name in command(root, "doctor", "--fix").printed
        assert path.with_name(f"{name}.unreadable").read_bytes() == before + NO_TEXT[kind]
        assert anyio.run(works, root) == []
        assert missing(root) == []


@pytest.mark.parametrize("kind", NO_TEXT)
def test_the_last_good_text_serves_and_what_is_remembered_waits(
    lived: Path, tmp_path: Path, kind: str
) -> None:
    """What is remembered is acknowledged and recallable at once, and written when the file is
    text again.
    """
    root = copied(lived, tmp_path / "w")

    async def live_on() -> None:
        async with front_door.quiet(root) as pipimem:
            room = await pipimem.channel(ROOM)
            await front_door.before_turn(room, QUESTION)
            path, before = spoil(root, "MEMORY.md", NO_TEXT[kind])
            turn = await front_door.before_turn(room, QUESTION)
            assert REMEMBERED[0] in turn.context
            await front_door.remember(room, "the boiler is blue")
            turn = await front_door.before_turn(room, "Which colour has the boiler?")
            assert "the boiler is blue" in turn.context
            assert path.read_bytes() == before + NO_TEXT[kind]
            assert "MEMORY.md" in command(root, "status").printed
            path.write_bytes(before)
            await front_door.before_turn(room, QUESTION)
            await front_door.after_turn(room, None, [Message.user("Hi.", id="n1")])
        assert front_door.note(root, ROOM).count("- the boiler is blue\n") == 1

    anyio.run(live_on)


def test_a_file_without_a_mode_for_us_is_refused_in_a_sentence(
    lived: Path, tmp_path: Path, is_long: bool
) -> None:
    """Files without a mode for us: nothing is taken for empty, and nothing is lost."""
    if os.geteuid() == 0:
        pytest.skip("root reads every file, whatever its mode")
    for number, name in enumerate(files(lived) if is_long else files(lived)[-6:]):
        root = copied(lived, tmp_path / str(number))
        trial = Trial(root, name, DAMAGES[0])
        mode = trial.path.stat().st_mode
        trial.path.chmod(0)
        anyio.run(live, trial)
        for arguments in (("status",), ("doctor",), ("doctor", "--fix")):
            trial.command(*arguments)
        trial.path.chmod(mode)
        trial.wrong += [*missing(root), *anyio.run(works, root)]
        assert trial.wrong == [], name
