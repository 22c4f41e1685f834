"""Files of a channel replaced, restored, swapped, cut and deleted under two running processes.

Run: `python -m benchmarks.replaced [--steps 2000] [--seed 1] [FOLDER]`.

Two processes append, commit, forget, read and search in two channels. Between two calls a hand does
something to a file: puts a copy, an older copy, the other channel's or one of the same length in
its place, under the inode it had or another one, with the time it had. After each step what the
files say is held against what was acknowledged since.

The processes run: each has looked at a channel before the hand does something to it, and is closed
before it ends. An end of the journal that was cut while nobody ran leaves no sign
(docs/design/reliability.md, "What nobody can tell").
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.recall.transcript.filters import Filters
from pipimem.runtime.search_service import SearchService
from pipimem.store.channel import ChannelStore
from pipimem.store.health.channels import channel_findings
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading

NOW = datetime.fromisoformat("2026-03-02T09:10:00+08:00")
CHANNELS = ("room", "hall")
_STATE = ("journal.jsonl", "ledger.json", "channel.json", "lock", "search.idx")
# Words of nine letters that no other number shares a piece with.
_LETTERS = "bcdfghjklmnpqrstvwxz"


def word(number: int) -> str:
    """A word that stands for a number and resembles no other."""
    return "".join(random.Random(number).choices(_LETTERS, k=9)) + f"{number:05d}"


# ── a process ─────────────────────────────────────────────────────────────────────────────────────


class Process:
    """What a bot does, in this process or in a child; a call that raises answers with the error's
    text.
    """

    def __init__(self, root: Path) -> None:
        self.workspace = WorkspaceStore.open(root)
        self.stores = {
            name: ChannelStore.open(self.workspace, name, create=True) for name in CHANNELS
        }
        self.search_service = SearchService(self.workspace)

    def call(self, what: str, channel: str, *values: str) -> object:
        """The answer to a call, or an `Exception`."""
        try:
            return getattr(self, what)(channel, *values)
        except Exception as error:  # noqa: BLE001 - whatever it is, the judge counts it
            return RuntimeError(f"{what}: {type(error).__name__}: {error}")

    def append(self, channel: str, *ids: str) -> list[str]:
        """The ids of the messages that were stored."""
        messages = [Message.user(f"{name} said", id=name, time=NOW) for name in ids]
        return [message.id for message in self.stores[channel].append(messages)]

    def remember(self, channel: str, text: str) -> None:
        """A fact."""
        fact = Add(Kind.FACT, text, Trust.INFERRED, Evidence(("m1",), 1, "alice", NOW))
        self.stores[channel].commit(Decision("consolidate", Author.MODEL, (fact,)), NOW)

    def forget(self, channel: str, text: str) -> None:
        """A fact and what was said of it."""
        self.stores[channel].forget(text, keep_transcript=False, now=NOW)

    def read(self, channel: str) -> str:
        """MEMORY.md as it is shown."""
        return self.stores[channel].notes().memory.text

    def search(self, channel: str, text: str) -> list[str]:
        """The messages that hold a word."""
        hits = self.search_service.found(channel, text, 5, Filters())
        return [hit.item.text for hit in hits if text in hit.item.text]

    def close(self, channel: str) -> None:
        """As at a shutdown, or after quiet minutes."""
        self.stores[channel].close()
        self.search_service.keep()

    def reopen(self, channel: str) -> None:
        """A new start of the process."""
        self.stores[channel] = ChannelStore.open(self.workspace, channel, create=True)
        self.search_service = SearchService(self.workspace)


class Child:
    """The same in a process of its own."""

    def __init__(self, root: Path) -> None:
        self._ours, theirs = multiprocessing.get_context("fork").Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_serves, args=(root, theirs), daemon=True
        )
        self._process.start()
        self._ours.recv()

    def call(self, what: str, channel: str, *values: str) -> object:
        """The answer to a call, or an `Exception`."""
        self._ours.send((what, channel, *values))
        return self._ours.recv()

    def end(self) -> None:
        """Lets it go."""
        self._ours.send(())
        self._process.join()


def _serves(root: Path, theirs: Connection) -> None:
    process = Process(root)
    theirs.send("ready")
    while asked := theirs.recv():
        theirs.send(process.call(*asked))


# ── a hand ────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Hand:
    """What is done to files between two calls; `copies` are older ones of the same file."""

    root: Path
    dice: random.Random
    copies: dict[Path, list[bytes]] = field(default_factory=dict)

    def folder(self, channel: str) -> Path:
        """Where a channel lies."""
        return self.root / "channels" / channel

    def files(self, channel: str) -> list[Path]:
        """The files that something may be done to."""
        own = self.folder(channel) / ".pipimem"
        return [
            path
            for path in (self.folder(channel) / "log.jsonl", *(own / name for name in _STATE))
            if path.exists()
        ]

    def keep_copies(self, channel: str) -> None:
        """As a backup does."""
        for path in self.files(channel):
            self.copies.setdefault(path, []).append(path.read_bytes())

    def drop_copies(self, channel: str) -> None:
        """What was forgotten is not put back by this hand."""
        for path in [path for path in self.copies if self.folder(channel) in path.parents]:
            del self.copies[path]

    def put(self, path: Path, data: bytes) -> None:
        """Other bytes under a name, with the time the file had, under the inode it had or another
        one.
        """
        before = path.stat() if path.exists() else None
        if before is not None and self.dice.random() < 0.5:
            with path.open("r+b") as file:
                file.truncate(0)
                file.write(data)
        else:
            aside = path.with_name("aside")
            aside.write_bytes(data)
            aside.replace(path)
        if before is not None:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def same(self, channel: str) -> str:
        """A file by a copy of itself."""
        if not self.files(channel):
            return ""
        path = self.dice.choice(self.files(channel))
        self.put(path, path.read_bytes())
        return path.name

    def restored(self, channel: str) -> str:
        """A file by an older copy."""
        known = [path for path in self.copies if self.folder(channel) in path.parents]
        if not known:
            return ""
        path = self.dice.choice(known)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.put(path, self.dice.choice(self.copies[path]))
        return path.name

    def cut(self, channel: str) -> str:
        """The last lines of the log or the journal, and perhaps half of one."""
        known = [path for path in self.files(channel) if path.suffix == ".jsonl"]
        if not known:
            return ""
        path = self.dice.choice(known)
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        kept = b"".join(lines[: self.dice.randint(max(0, len(lines) - 4), len(lines))])
        self.put(path, data[: len(kept) + self.dice.choice([0, 0, 7, 40])])
        if path.name == "journal.jsonl":
            # Of one that was cut to nothing no copy is put back behind the checkpoint of the next:
            # that is refused.
            self.drop_copies(channel)
        return path.name

    def swapped_lines(self, channel: str) -> str:
        """Two messages trade their ids: the log is as long as it was, and its last line the
        same.
        """
        path = self.folder(channel) / "log.jsonl"
        if not path.exists():
            return ""
        lines = path.read_bytes().splitlines(keepends=True)
        whole = [number for number, data in enumerate(lines[:-1]) if _id(data)]
        if not whole:
            return ""
        number = self.dice.choice(whole)
        name = _id(lines[number])
        other = f"{name[:-1]}{'xyz'[int(name[-2], 36) % 3]}" if name[-1].isdigit() else name
        lines[number] = lines[number].replace(name.encode(), other.encode())
        self.put(path, b"".join(lines))
        return path.name

    def traded(self, channel: str) -> str:
        """The logs of two channels, as a wrong restore does."""
        paths = [self.folder(name) / "log.jsonl" for name in CHANNELS]
        if not all(path.exists() for path in paths):
            return ""
        first, second = (path.read_bytes() for path in paths)
        self.put(paths[0], second)
        self.put(paths[1], first)
        return f"log.jsonl of both, {channel}"

    def deleted(self, channel: str) -> str:
        """A file."""
        if not self.files(channel):
            return ""
        path = self.dice.choice(self.files(channel))
        path.unlink()
        if path.name == "journal.jsonl":
            # Another one begins: to put the one before it in its place says that nothing happened
            # since.
            self.drop_copies(channel)
        return path.name

    def deleted_state(self, channel: str) -> str:
        """All of `.pipimem/`."""
        shutil.rmtree(self.folder(channel) / ".pipimem", ignore_errors=True)
        self.drop_copies(channel)
        return ".pipimem"

    def deleted_folder(self, channel: str) -> str:
        """The whole channel."""
        shutil.rmtree(self.folder(channel), ignore_errors=True)
        self.drop_copies(channel)
        return channel

    def typed(self, channel: str) -> str:
        """A digit in a line of a person's in MEMORY.md: as long as before, with the time it had."""
        path = self.folder(channel) / File.MEMORY
        text = path.read_text() if path.exists() else ""
        head, mark, tail = text.partition("- a person typed ")
        if not mark:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.put(path, f"{text}\n- a person typed 100000\n".encode())
        else:
            self.put(path, f"{head}{mark}{int(tail[:6]) + 1}{tail[6:]}".encode())
        return path.name


# ── a judge ───────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Judge:
    """What must stand: messages in their order, facts, the newest line of a person's; and what did
    not.
    """

    root: Path
    messages: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CHANNELS})
    facts: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in CHANNELS})
    typed: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def looked_again(self, channel: str) -> None:
        """What a hand left is what must stand from here on."""
        self.messages[channel] = [name for name in map(_id, self._log(channel)) if name]
        text = self._memory(channel)
        self.facts[channel] = {fact for fact in self.facts[channel] if fact in text}
        self.typed[channel] = _typed(text)

    def check(self, channel: str, step: str) -> None:
        """Holds the files against what was acknowledged."""
        found = [name for name in map(_id, self._log(channel)) if name]
        wanted = self.messages[channel]
        self._note("lost", step, set(wanted) - set(found))
        self._note("doubled", step, [name for name, count in Counter(found).items() if count > 1])
        self._note("out of order", step, [] if found == wanted else found[-3:])
        numbers = [json.loads(data)["n"] for data in self._log(channel) if _id(data)]
        self._note(
            "numbered twice", step, [n for n, count in Counter(numbers).items() if count > 1]
        )
        text = self._memory(channel)
        self._note("facts lost", step, [fact for fact in self.facts[channel] if fact not in text])
        self._note(
            "facts doubled", step, [fact for fact in self.facts[channel] if text.count(fact) > 1]
        )
        typed = self.typed.get(channel, "")
        self._note("typed lost", step, [] if typed in text else [typed])

    def answered(self, step: str, answer: object) -> bool:
        """Whether a call answered; one that raised is a failure."""
        if isinstance(answer, RuntimeError):
            self._note("damaged" if "damaged" in str(answer) else "raised", step, [str(answer)])
        return not isinstance(answer, RuntimeError)

    def _note(self, what: str, step: str, found: object) -> None:
        if found:
            self.counts[what] += 1
            self.failures.append(f"{what}: {step}: {found}")

    def _log(self, channel: str) -> list[bytes]:
        path = self.root / "channels" / channel / "log.jsonl"
        return path.read_bytes().splitlines(keepends=True) if path.exists() else []

    def _memory(self, channel: str) -> str:
        path = self.root / "channels" / channel / File.MEMORY
        return path.read_text() if path.exists() else ""


def _id(data: bytes) -> str:
    with suppress(ValueError, KeyError):
        return str(json.loads(data)["id"])
    return ""


def _typed(text: str) -> str:
    return text.partition("- a person typed ")[2][:6]


# ── the run ───────────────────────────────────────────────────────────────────────────────────────


def replaced(root: Path, steps: int, seed: int) -> Judge:
    """So many steps by two processes and a hand."""
    (root / "channels").mkdir(parents=True)
    dice, judge = random.Random(seed), Judge(root)
    hand = Hand(root, dice)
    bots = [Process(root), Child(root)]
    for number in range(steps):
        channel, bot = dice.choice(CHANNELS), dice.randrange(2)
        if dice.random() < 0.35:
            deed = _deed(hand, dice)
            for each in bots:
                each.call("read", channel)
            step = f"{number} {channel} {deed.__name__} {deed(channel)}"
            for name in CHANNELS:
                judge.looked_again(name)
        else:
            call, *values = _call(judge, dice, channel, number)
            if call == "reopen":
                bots[bot].call("close", channel)
            step = f"{number} {channel} {'AB'[bot]} {call} {' '.join(values)}"
            _judged(
                judge, hand, step, channel, call, values, bots[bot].call(call, channel, *values)
            )
        judge.check(channel, step)
        if dice.random() < 0.1:
            hand.keep_copies(channel)
    bots[1].end()  # type: ignore[union-attr]
    for name in CHANNELS:
        _diagnosed(root, name, judge)
    return judge


def _deed(hand: Hand, dice: random.Random) -> Callable[[str], str]:
    often = (
        hand.same,
        hand.restored,
        hand.cut,
        hand.swapped_lines,
        hand.traded,
        hand.typed,
        hand.deleted,
    )
    return dice.choice((*often, *often, *often, hand.deleted_state, hand.deleted_folder))


def _call(judge: Judge, dice: random.Random, channel: str, number: int) -> Iterator[str]:
    what = dice.choice(
        (
            "append",
            "append",
            "again",
            "remember",
            "read",
            "search",
            "search",
            "close",
            "reopen",
            "forget",
        )
    )
    known = judge.messages[channel]
    facts = sorted(judge.facts[channel])
    if what == "again" and known:
        yield from ("append", *dice.sample(known, min(2, len(known))), word(number))
    elif what == "remember":
        yield from ("remember", f"fact {word(number)}")
    elif what == "search" and known:
        yield from ("search", dice.choice(known))
    elif what == "forget" and facts and dice.random() < 0.3:
        yield from ("forget", dice.choice(facts))
    elif what in ("read", "close", "reopen"):
        yield what
        return
    else:
        yield from ("append", word(number))


def _judged(
    judge: Judge, hand: Hand, step: str, channel: str, call: str, values: list[str], answer: object
) -> None:
    if not judge.answered(step, answer):
        return
    if call == "append":
        fresh = [name for name in values if name not in judge.messages[channel]]
        if answer != fresh:
            judge.counts["stored wrongly"] += 1
            judge.failures.append(f"stored wrongly: {step}: {answer} for {fresh}")
        judge.messages[channel] += fresh
    elif call == "remember":
        judge.facts[channel].add(values[0])
    elif call == "forget":
        judge.facts[channel].discard(values[0])
        hand.drop_copies(channel)
    elif call == "search" and not answer:
        judge.counts["not found"] += 1
        judge.failures.append(f"not found: {step}")
    elif call == "read" and judge.typed.get(channel, "") not in str(answer):
        judge.counts["typed not shown"] += 1
        judge.failures.append(f"typed not shown: {step}")


def _diagnosed(root: Path, channel: str, judge: Judge) -> None:
    workspace = WorkspaceStore.open(root)
    for finding in channel_findings(workspace, workspace.folder_of(channel), NOW):
        if "damaged" in finding.what:
            judge.counts["damaged"] += 1
            judge.failures.append(f"damaged: doctor: {finding.what}")


def main() -> None:
    """Prints what came of it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", nargs="?", type=Path)
    arguments.add_argument("--steps", type=int, default=2_000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    print(heading("files replaced"))
    logging.getLogger("pipimem").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        judge = replaced(Path(folder) / "bot", given.steps, given.seed)
    for failure in judge.failures[:20]:
        print(failure)
    print(
        f"{given.steps} steps, seed {given.seed}: "
        f"{dict(judge.counts) or 'nothing lost, doubled, damaged or raised'}"
    )
    raise SystemExit(bool(judge.failures))


if __name__ == "__main__":
    main()
