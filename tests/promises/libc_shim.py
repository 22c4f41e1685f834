"""The Python half of `libc_shim.c`: compile it, load it, arm it, and read its log.

Only a process that was started with `LD_PRELOAD` has the functions that `arm`, `disarm` and
`note` call; `zygote.py` starts it. Linux only: elsewhere the tests are skipped.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("libc_shim.c")
_FOLDER = Path(__file__).parents[2] / ".pytest_cache" / "promises"
_HEAD = struct.Struct("=iiQqqII")
FOREVER = 2**62


class Kind(IntEnum):
    """What a call does; `NOTE` is no call but a line of the test in the log."""

    CREATE = 0
    WRITE = 1
    TRUNCATE = 2
    SYNC = 3
    RENAME = 4
    EXCHANGE = 5
    LINK = 6
    UNLINK = 7
    MKDIR = 8
    RMDIR = 9
    NOTE = 10
    SYNC_ALL = 11


class Action(IntEnum):
    """What happens at a call. `TEAR` writes half and kills, `HALVE` writes half and returns."""

    KILL_BEFORE = 1
    KILL_AFTER = 2
    TEAR = 3
    FAIL = 4
    HALVE = 5
    PAUSE = 6


def mask(*kinds: Kind) -> int:
    """Return the bits of some kinds."""
    return sum(1 << kind for kind in kinds)


ALL_KINDS = mask(*Kind)
GROWING = mask(
    Kind.CREATE, Kind.WRITE, Kind.TRUNCATE, Kind.RENAME, Kind.EXCHANGE, Kind.LINK, Kind.MKDIR
)
"""What a full disk refuses: a name or a byte more. It removes files and syncs as ever."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens at the calls `first` to `last`, counted from 1; at most four rules at once."""

    action: Action
    first: int
    last: int
    error: int = 0
    kinds: int = ALL_KINDS

    def as_json(self) -> dict[str, int]:
        """Return the fields as plain numbers."""
        return {name: int(value) for name, value in asdict(self).items()}


def kill_before(number: int) -> list[Rule]:
    """Kill the process before a call."""
    return [Rule(Action.KILL_BEFORE, number, number)]


def kill_after(number: int) -> list[Rule]:
    """Kill the process after a call."""
    return [Rule(Action.KILL_AFTER, number, number)]


def kill_within(number: int) -> list[Rule]:
    """Kill the process when half of a write is done."""
    return [Rule(Action.TEAR, number, number)]


def fail_once(number: int, error: int = errno.EIO) -> list[Rule]:
    """Fail a single call."""
    return [Rule(Action.FAIL, number, number, error)]


def fail_from(number: int, error: int = errno.EIO) -> list[Rule]:
    """Fail a call and all after it; a full disk fails those that need room, after half a write."""
    if error == errno.ENOSPC:
        return [
            Rule(Action.HALVE, number, number, kinds=mask(Kind.WRITE)),
            Rule(Action.FAIL, number, number, error, GROWING & ~mask(Kind.WRITE)),
            Rule(Action.FAIL, number + 1, FOREVER, error, GROWING),
        ]
    return [Rule(Action.FAIL, number, FOREVER, error)]


def pause_at(number: int) -> list[Rule]:
    """Wait for the test before a call."""
    return [Rule(Action.PAUSE, number, number)]


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the log has it.

    `number` counts from 1, the number of a note is that of the call before it. `file` is an inode.
    `offset` is where a write began, or the size of a truncated file.
    """

    number: int
    kind: Kind
    error: int
    file: int
    offset: int
    path: str
    other: str
    data: bytes

    def __str__(self) -> str:
        to = f" to {self.other}" if self.other else ""
        return f"call {self.number}, {self.kind.name.lower()} {self.path}{to}"


def read_log(path: Path) -> list[Call]:
    """Return the calls of a log, in their order."""
    content, calls, at, number = path.read_bytes(), list[Call](), 0, 0
    while at < len(content):
        kind, error, file, offset, size, path_size, other_size = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        parts = []
        for length in (path_size, other_size, size):
            parts.append(content[at : at + length])
            at += length
        number += kind != Kind.NOTE
        name, other = map(os.fsdecode, parts[:2])
        calls.append(Call(number, Kind(kind), error, file, offset, name, other, parts[2]))
    return calls


def require_shim() -> None:
    """Skip the test where there is no `LD_PRELOAD`; fail it where there is no compiler."""
    if sys.platform != "linux":
        pytest.skip("calls of libc are intercepted by LD_PRELOAD, which only Linux has")
    if compiler() is None:
        pytest.fail(
            "The crash tests compile tests/promises/libc_shim.c: install a C compiler and the "
            "headers of the C library (Debian: gcc and libc6-dev, Fedora: gcc, Alpine: build-base)."
        )


def compiler() -> str | None:
    """Return the path of the C compiler, `None` without one."""
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def compiled() -> Path:
    """Return the library, compiled if the source has changed since."""
    mark = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    library = _FOLDER / f"libc_shim-{mark}.so"
    if not library.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        beside = library.with_suffix(f".{os.getpid()}")
        command = [compiler() or "cc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-o", str(beside)]
        subprocess.run([*command, str(_SOURCE), "-ldl", "-lpthread"], check=True)
        beside.replace(library)
    return library


# ── in the process that has it ────────────────────────────────────────────────────────────────────


class _Rule(ctypes.Structure):
    _fields_ = (
        ("action", ctypes.c_int),
        ("error", ctypes.c_int),
        ("kinds", ctypes.c_uint),
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
    )


def arm(
    root: str, rules: Sequence[Rule] = (), *, log: int = -1, tell: int = -1, wait: int = -1
) -> None:
    """Count the calls below a folder from now on, and do at them what the rules say.

    `log` is a descriptor for the record of the calls; at a pause a byte goes to `tell`, and a byte
    from `wait` ends it.
    """
    folder = os.fsencode(os.path.realpath(root))
    given = (_Rule * max(1, len(rules)))(
        *(_Rule(rule.action, rule.error, rule.kinds, rule.first, rule.last) for rule in rules)
    )
    ctypes.CDLL(None).shim_arm(folder, given, len(rules), log, tell, wait)


def disarm() -> None:
    """Let all calls pass again."""
    ctypes.CDLL(None).shim_arm(None, None, 0, -1, -1, -1)


def note(text: str) -> None:
    """Put a line into the log."""
    ctypes.CDLL(None).shim_note(os.fsencode(text))
