"""What must hold after a journey that met a fault, found out by a process of its own.

`know` runs on a workspace before and after the journey without a fault and takes down the texts
that its commits left. `inspect` runs on a workspace where the fault happened.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from tests.promises import front_door, libc_shim
from tests.promises.front_door import Channel, Pipimem, PipimemError
from tests.promises.journeys import (
    BY_NAME,
    REFUSALS,
    CommandFailed,
    Journey,
    opened,
    runtime,
    said_by,
)
from tests.promises.zygote import Say

NOTES = ("MEMORY.md", "SESSION.md", "HISTORY.md")
_OURS = ("SOUL.md", "AGENTS.md", "MEMORY.md")
_KNOWN_NAMES = {*NOTES, "HISTORY.archive.md", ".pipimem"}
_NEXT = "the next fact of all is a quokka"
_NEXT_MESSAGE = "the next message of all"

Texts = dict[str, str]
Said = list[list[Any]]


@dataclass(slots=True)
class Known:
    """What a journey without a fault does to its channel.

    `states` are the notes before, after each of its commits, and at its end. `messages` are those
    of before, by id. `human` are the files of the workspace that the runtime never writes. `said`
    is what the journey acknowledged.
    """

    states: list[Texts] = field(default_factory=list)
    messages: dict[str, str] = field(default_factory=dict)
    human: Texts = field(default_factory=dict)
    said: Said = field(default_factory=list)

    @property
    def standing(self) -> Counter[tuple[str, str]]:
        """The lines that every state has, by file, with the least count."""
        least = Counter(_lines(self.states[0]))
        for state in self.states[1:]:
            least &= Counter(_lines(state))
        return least

    @property
    def seen(self) -> Counter[tuple[str, str]]:
        """The lines of any state, with the highest count in one."""
        most: Counter[tuple[str, str]] = Counter()
        for state in self.states:
            most |= Counter(_lines(state))
        return most


def _lines(texts: Texts) -> list[tuple[str, str]]:
    """Return the lines of the notes without headings and blank lines."""
    return [
        (name, line)
        for name in NOTES
        for line in texts.get(name, "").splitlines()
        if line.strip() and not line.startswith("#")
    ]


def _on_disk(root: Path, channel: str) -> Texts:
    """Return the notes of a channel as they are on disk."""
    folder = _folder_of(root, channel)
    if folder is None:
        return dict.fromkeys(NOTES, "")
    found = {name: folder / name for name in NOTES}
    return {
        name: path.read_bytes().decode() if path.exists() else "" for name, path in found.items()
    }


def _folder_of(root: Path, channel: str) -> Path | None:
    """Return the folder of a channel; that of a strange id is the only one in its workspace."""
    plain = front_door.folder_of(root, channel)
    if channel.isalnum():
        return plain if plain.exists() else None
    others = [path for path in (root / "channels").glob("*") if not path.name.startswith(".")]
    return others[0] if others else None


# ── without a fault ───────────────────────────────────────────────────────────────────────────────


def know(say: Say, name: str, root: str, file: str, said: Said) -> None:
    """Add what is there now to the file of what is known of a journey."""
    path = Path(file)
    known = Known(**json.loads(path.read_text())) if path.exists() else Known()
    known.said = said
    anyio.run(_know, BY_NAME[name], Path(root), known)
    path.write_text(json.dumps(asdict(known)))


async def _know(journey: Journey, root: Path, known: Known) -> None:
    is_before = not known.states
    known.human = known.human or _human(root)
    if _folder_of(root, journey.channel) is None:
        known.states.append(dict.fromkeys(NOTES, ""))
        return
    pipimem = runtime(root)
    channel = await pipimem.channel(journey.channel, create=False)
    if is_before:
        known.messages = {one.id: one.content for one in await front_door.transcript(channel)}
        # What a person typed since the newest change counts as standing from the start.
        known.states.append(_on_disk(root, journey.channel))
    for change in reversed(await front_door.log(channel, 50)):
        try:
            state = await front_door.texts(channel, change.number)
        except PipimemError:
            continue  # a forgetting ends what is known of before
        if state not in known.states:
            known.states.append(state)
    known.states.append(await front_door.texts(channel))


def _human(root: Path) -> Texts:
    return {name: (root / name).read_text() for name in _OURS if (root / name).exists()}


# ── after a fault ─────────────────────────────────────────────────────────────────────────────────


def inspect(say: Say, name: str, root: str, file: str, said: Said, is_last: bool) -> None:
    """Say each thing that is wrong, as `wrong TEXT`.

    Looks at the bytes, opens the workspace, reads, goes on, undoes, and looks again. `is_last` if
    nothing but the journey has happened since: then the notes are as one of its commits left them.
    """
    known = Known(**json.loads(Path(file).read_text()))
    anyio.run(_Inspection(BY_NAME[name], Path(root), known, said, say, is_last).run)


def go_on(say: Say, root: str, name: str) -> None:
    """Open what a fault left, store a message and an entry, and say both."""
    anyio.run(_go_on, Path(root), BY_NAME[name].channel, say)


async def _go_on(root: Path, name: str, say: Say) -> None:
    async with opened(root) as pipimem:
        await _store_more(pipimem, name, say, "later")


async def _store_more(pipimem: Pipimem, name: str, say: Say, message: str) -> None:
    channel = await pipimem.channel(name, kind="group")
    content = f"a message called {message}"
    await front_door.take_in(channel, [said_by("zoe", message, content)])
    say("message", name, message, content)
    text = f"the fact called {message} is about a quokka"
    await front_door.remember(channel, text)
    say("entry", name, text)


def mend(say: Say, root: str, name: str) -> None:
    """Give the command `doctor --fix`; what it still finds is no matter."""
    front_door.command_line("--workspace", root, "doctor", "--fix")


def pack(say: Say, name: str, root: str) -> None:
    """Export all and import it elsewhere; say `wrong` if a channel says something else there."""
    there, archive = Path(root).parent / "unpacked", Path(root).parent / "packed.zip"
    shutil.rmtree(there, ignore_errors=True)
    archive.unlink(missing_ok=True)
    commands: list[list[str | Path]] = [
        ["--workspace", root, "export", archive],
        ["--workspace", there, "init", there],
        ["--workspace", there, "import", archive],
    ]
    for arguments in commands:
        code, _, err = front_door.command_line(*arguments)
        if code:
            say("wrong", f"{arguments[2]} ends with {code}: {err}")
    here, unpacked = (anyio.run(_say_all, Path(folder)) for folder in (root, there))
    if here != unpacked:
        say("wrong", f"the archive has {unpacked}, the workspace {here}")


async def _say_all(root: Path) -> dict[str, tuple[Texts, list[tuple[str, str]]]]:
    """Return the notes and messages of all channels."""
    async with opened(root) as pipimem:
        found = {}
        for info in await pipimem.channels():
            channel = await pipimem.channel(info.id, create=False)
            messages = [(one.id, one.content) for one in await front_door.transcript(channel)]
            found[info.id] = (await front_door.texts(channel), messages)
        return found


def perform_on_bad_disk(say: Say, name: str, root: str) -> None:
    """Do a journey whose calls fail, then make the disk well and go on in the same process.

    Says `refused` for an error of ours, and `left` with the notes as they are read after it.
    """
    journey = BY_NAME[name]

    async def go_on_in(pipimem: Pipimem, error: PipimemError) -> None:
        libc_shim.disarm()
        say("refused", type(error).__name__, str(error))
        channel = await pipimem.channel(journey.channel, kind="group")
        say("left", await front_door.texts(channel))
        await _store_more(pipimem, journey.channel, say, "meanwhile")

    REFUSALS.then = go_on_in
    try:
        anyio.run(journey.run, Path(root), say)
    except (PipimemError, CommandFailed) as error:
        say("refused", type(error).__name__, str(error))
    libc_shim.disarm()
    REFUSALS.then = None
    anyio.run(command_again, Path(root), journey)
    go_on(say, root, name)


async def command_again(root: Path, journey: Journey) -> None:
    """Give the commands that a person gives after a fault."""
    for arguments in journey.again(root):
        await to_thread.run_sync(front_door.command_line, "--workspace", root, *arguments)


@dataclass(slots=True)
class _Inspection:
    journey: Journey
    root: Path
    known: Known
    said: Said
    say: Say
    is_last: bool

    async def run(self) -> None:
        for wrong in (*self._bytes(), *self.journey.check(self.root)):
            self._wrong(f"on the disk: {wrong}")
        await command_again(self.root, self.journey)
        if self.known.human != _human(self.root):
            self._wrong("SOUL.md, AGENTS.md or MEMORY.md of the workspace is another")
        if self.journey.completes:
            self.said += [line for line in self.known.said if line not in self.said]
        await self._read()
        await self._continue()
        await self._read_again()
        # Last: a command has an event loop of its own.
        await to_thread.run_sync(self._check_doctor)

    def _of(self, kind: str) -> list[list[Any]]:
        return [values for said, *values in self.said if said == kind]

    def _wrong(self, text: str) -> None:
        self.say("wrong", text)

    @property
    def _is_exact(self) -> bool:
        """Whether the notes must be of one of the journey's commits."""
        return self.is_last and self.journey.is_atomic

    # ── the bytes ──

    def _bytes(self) -> Iterator[str]:
        """Yield problems of the bytes: a note that no commit left, a forgotten text in a file."""
        try:
            texts = _on_disk(self.root, self.journey.channel)
        except UnicodeDecodeError as error:
            yield f"a note is no UTF-8: {error}"
            return
        for name in NOTES if self._is_exact else ():
            if not any(texts[name] == state.get(name, "") for state in self.known.states):
                yield f"{name} is of no commit: {texts[name]!r}"
        if self.is_last:
            yield from self._typed(texts)
        for (words,) in self._of("forgotten"):
            yield from (f"{words!r} is in {path}" for path in self._holding(words))

    def _typed(self, texts: Texts) -> Iterator[str]:
        for line in (*self.journey.typed, *(line for (line,) in self._of("typed"))):
            if texts["MEMORY.md"].count(line) != 1:
                yield f"{texts['MEMORY.md'].count(line)} times what a person typed: {line!r}"

    def _holding(self, words: str) -> list[str]:
        """Return the files of the workspace whose bytes have some words, in any case."""
        wanted = words.encode().lower()
        return [
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.is_file() and wanted in path.read_bytes().lower()
        ]

    # ── the first reading ──

    async def _read(self) -> None:
        """Check that a commit left the notes so, and that everything acknowledged is found."""
        name = self.journey.channel
        if _folder_of(self.root, name) is None:
            if self._of("message") or (self.known.messages and not self.journey.forgets):
                self._wrong(f"the channel {name} is gone")
            return
        async with opened(self.root) as pipimem:
            channel = await pipimem.channel(name, kind="group")
            texts = await front_door.texts(channel)
            if self._is_exact and texts not in self.known.states:
                self._wrong(f"the notes are of no commit: {texts}")
            for (left,) in self._of("left"):
                if self.journey.is_atomic and left not in self.known.states:
                    self._wrong(f"after the error the notes were of no commit: {left}")
            self._check_lines(texts)
            await self._check_acknowledged(pipimem)

    def _check_lines(self, texts: Texts) -> None:
        lines, standing, seen = Counter(_lines(texts)), self.known.standing, self.known.seen
        if not self.is_last:  # SESSION.md is written anew by what happened since
            standing = Counter({line: n for line, n in standing.items() if line[0] != NOTES[1]})
        if lost := standing - lines:
            self._wrong(f"lines of before and after are gone: {dict(lost)}")
        strange = set(lines) - set(seen)
        if strange and self.is_last:
            self._wrong(f"lines of neither before nor after: {sorted(strange)}")
        if doubled := lines - seen - Counter(strange):
            self._wrong(f"lines are there twice: {dict(doubled)}")

    async def _check_acknowledged(self, pipimem: Pipimem) -> None:
        for channel_id in {values[0] for values in (*self._of("entry"), *self._of("message"))}:
            channel = await pipimem.channel(channel_id, kind="group")
            memory = (await front_door.texts(channel))["MEMORY.md"]
            for text, is_there in self._entries(channel_id).items():
                if memory.count(text) != is_there:
                    self._wrong(f"acknowledged, and {memory.count(text)} times: {text!r}")
                entries = [entry.text for entry in await front_door.entries(channel)]
                if is_there and not any(text in entry for entry in entries):
                    self._wrong(f"acknowledged, and no entry: {text!r}")
            await self._check_messages(channel)

    def _entries(self, channel: str) -> dict[str, bool]:
        """Return whether each text must be there, by its last acknowledgement."""
        found: dict[str, bool] = {}
        for kind, *values in self.said:
            if kind in ("entry", "gone") and values[0] == channel and values[1]:
                found[values[1]] = kind == "entry"
        return found

    async def _check_messages(self, channel: Channel) -> None:
        messages = await front_door.transcript(channel)
        counts = Counter(message.id for message in messages)
        for twice in [name for name, count in counts.items() if count > 1]:
            self._wrong(f"the message {twice} is there {counts[twice]} times")
        if [message.number for message in messages] != list(range(1, len(messages) + 1)):
            self._wrong(f"the messages are numbered {[message.number for message in messages]}")
        contents = {message.id: message.content for message in messages}
        for channel_id, name, content in self._of("message"):
            if channel_id == channel.id and contents.get(name) != content:
                self._wrong(f"message {name} was acknowledged, and is {contents.get(name)!r}")
        if channel.id == self.journey.channel and not self.journey.forgets:
            lost = self.known.messages.keys() - contents.keys()
            if lost:
                self._wrong(f"messages of before are gone: {sorted(lost)}")

    # ── going on ──

    async def _continue(self) -> None:
        """Check that the next message, the next entry and an undo work."""
        name = self.journey.channel
        async with opened(self.root) as pipimem:
            channel = await pipimem.channel(name, kind="group")
            await front_door.take_in(channel, [said_by("zoe", "next", _NEXT_MESSAGE)])
            await front_door.remember(channel, _NEXT)
            (number,) = [
                change.number
                for change in await front_door.log(channel)
                if any(_NEXT in str(one) for one in change.changes)
            ]
            await front_door.undo(channel, number)
            if _NEXT in (await front_door.texts(channel))["MEMORY.md"]:
                self._wrong("undo does not take the next change back")
            await front_door.remember(channel, _NEXT)
            await self._check_recall(channel)

    async def _check_recall(self, channel: Channel) -> None:
        """Check that a search finds everything acknowledged."""
        for text, is_there in self._entries(channel.id).items():
            hits = await front_door.search(channel, text, where="notes")
            if is_there and not any(text in hit.item.text for hit in hits):
                self._wrong(f"acknowledged, and not found: {text!r}")
        for channel_id, name, _ in self._of("message"):
            if channel_id == channel.id and not await front_door.detail(channel, name):
                self._wrong(f"message {name} was acknowledged, and detail has nothing")

    async def _read_again(self) -> None:
        """Check that files and state agree, and that no file is left over."""
        name = self.journey.channel
        async with opened(self.root) as pipimem:
            channel = await pipimem.channel(name, create=False)
            texts, disk = await front_door.texts(channel), _on_disk(self.root, name)
            if {note: texts.get(note, "") for note in NOTES} != disk:
                self._wrong(f"the files are not what is read: {disk} and {texts}")
            self.said.append(["entry", name, _NEXT])
            self.said.append(["message", name, "next", _NEXT_MESSAGE])
            await self._check_acknowledged(pipimem)
            for wrong in self._typed(disk):
                self._wrong(wrong)
        self._check_forgotten(disk)
        self._check_names()

    def _check_forgotten(self, disk: Texts) -> None:
        for words in self.journey.forgets:
            held = self._holding(words)
            if self._of("forgotten") and held:
                self._wrong(f"{words!r} was forgotten, and is in {held}")
            elif held and not self._is_whole(words, disk):
                self._wrong(f"{words!r} is forgotten in part: it is in {held}")

    def _is_whole(self, words: str, disk: Texts) -> bool:
        """Return whether words that are to be forgotten are where they were before."""
        lost = [
            line
            for note, line in _lines(self.known.states[0])
            if words in line and line not in disk[note]
        ]
        log = self._holding(words)
        in_talk = any(words in content for content in self.known.messages.values())
        return not lost and (not in_talk or any("log" in path for path in log))

    def _check_names(self) -> None:
        folder = _folder_of(self.root, self.journey.channel)
        assert folder is not None
        strange = [
            path.name
            for path in folder.iterdir()
            if path.name not in _KNOWN_NAMES and not path.name.startswith("log")
        ]
        if strange:
            self._wrong(f"left over beside the notes: {strange}")

    def _check_doctor(self) -> None:
        code, out, err = front_door.command_line("--workspace", self.root, "doctor", "--json")
        findings = json.loads(out)["findings"] if out else [{"wrong": True, "what": err}]
        wrong = [f"{found.get('where')}: {found['what']}" for found in findings if found["wrong"]]
        if code or wrong:
            self._wrong(f"the doctor: {wrong or err}")
