"""A person at an editor: five ways of saving, a fresh or a stale buffer, lines typed and lines
deleted.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.store.disk.files import TEMPORARY

# A line is deleted only after so many commits.
_KNOWN_FOR = 2
# Bots that were killed need a while to be back.
_LONGEST_WAIT = 1.0


def in_place(path: Path, text: str, _: random.Random) -> None:
    """As vim (with `backupcopy`), nano and VS Code save: cut to nothing, then written."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def slow_stream(path: Path, text: str, dice: random.Random) -> None:
    """In place, in pieces that end anywhere, over a good while."""
    data = text.encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while data:
            size = dice.randint(1, max(1, len(data) // 3))
            data = data[os.write(descriptor, data[:size]) :]
            time.sleep(dice.uniform(0, 0.01))
    finally:
        os.close(descriptor)


def renamed_over(path: Path, text: str, _: random.Random) -> None:
    """As `sed -i`, rsync and many editors save: a new file takes the name."""
    other = path.with_name(".sed0123")
    other.write_text(text, encoding="utf-8", newline="")
    other.replace(path)


def removed_and_made(path: Path, text: str, dice: random.Random) -> None:
    """As git checks out: the name goes, and comes back with another file."""
    path.unlink(missing_ok=True)
    time.sleep(dice.choice((0, 0, 0.001)))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def appended(path: Path, text: str, _: random.Random) -> None:
    """As `echo >>`: whatever stands there, the line goes to its end."""
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


WAYS: dict[str, Callable[[Path, str, random.Random], None]] = {
    "truncate and write": in_place,
    "slow stream": slow_stream,
    "rename over": renamed_over,
    "remove and create": removed_and_made,
    "append": appended,
}


@dataclass(frozen=True, slots=True)
class Save:
    """One save of a hand: the text it began with (read just now, or saved by itself before), and
    what became of it.
    """

    base: str
    is_read: bool
    text: str
    typed: str
    deleted: str


@dataclass(slots=True)
class Hand:
    """One person at one file. Everything typed and deleted is noted once the save is over.

    A stale hand loads the file only now and then and goes on from what it saved itself. A line is
    deleted only when `commits`, the number of them so far, has grown by two since it came:
    docs/design/reliability.md says why.
    """

    path: Path
    way: str
    is_stale: bool
    deletes: bool
    dice: random.Random
    typed: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    buffer: str = ""
    commits: Callable[[], int] = lambda: 0
    since: dict[str, int] = field(default_factory=dict)
    past: list[Save] = field(default_factory=list)

    def save(self) -> None:
        """Loads where it loads, changes one or two lines, waits as people do, and saves."""
        line = f"- {similar_line(self.dice)}\n"
        if self.way == "append":
            self._wait_for_a_commit()
            WAYS[self.way](self.path, line, self.dice)
            self.typed.append(line)
            return
        is_read = not self.is_stale or not self.buffer or self.dice.random() < 0.2
        if is_read:
            self._load()
        base = self.buffer
        lines = self.buffer.splitlines(keepends=True)
        count = self.commits()
        for each in lines:
            self.since.setdefault(each, count)
        known = [
            each
            for each in lines
            if each.startswith("- ") and self.since[each] + _KNOWN_FOR <= count
        ]
        gone = (
            self.dice.choice(known) if self.deletes and known and self.dice.random() < 0.5 else ""
        )
        if gone:
            lines.remove(gone)
        if not gone or self.dice.random() < 0.7:
            lines.insert(self.dice.randint(_first(lines), len(lines)), line)
        else:
            line = ""
        self.buffer = "".join(lines)
        self._wait_for_a_commit()
        WAYS[self.way](self.path, self.buffer, self.dice)
        if self.deletes:  # whole texts: only a deletion asks for them later
            self.past.append(Save(base, is_read, self.buffer, line, gone))
        self.typed += [line] if line else []
        self.deleted += [gone] if gone else []

    def _wait_for_a_commit(self) -> None:
        """The worst instant: a text lies prepared, and is about to take the place of the one that
        is saved.
        """
        deadline = time.monotonic() + _LONGEST_WAIT
        while time.monotonic() < deadline and not any(self.path.parent.glob(f".*{TEMPORARY}")):
            time.sleep(0.0002)
        time.sleep(self.dice.choice((0, self.dice.uniform(0, 0.003), self.dice.uniform(0, 0.02))))

    def _load(self) -> None:
        try:
            self.buffer = self.path.read_bytes().decode()
        except FileNotFoundError:
            self.buffer = "# Memory\n\n## Facts\n\n"


def similar_line(dice: random.Random) -> str:
    """A line that resembles many others, as lines of a list do, but is equal to none."""
    payer, payee = dice.sample(("Ann", "Bob", "Eva", "Tom", "Ivo"), 2)
    return f"{payer} owes {payee} {dice.randint(1, 10**6)} euros"


def _first(lines: list[str]) -> int:
    """Where bullets begin."""
    return next((number for number, line in enumerate(lines) if line.startswith("- ")), len(lines))
