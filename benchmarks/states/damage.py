"""What may become of one file: bits, ranges, cuts, older copies, other things in its place."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# The longest range of zeros, and the longest tail that stands twice, in bytes.
_LONGEST = 600
_VALUES = (None, "", "x", -1, 0, 10**30, 1.5, True, [], {}, ["x"], {"x": 1}, float("nan"), 2**63,
           "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00+14:00", "2026=03-02T09:10:00+08:00",
           "\ud800")  # fmt: skip
"""What somebody may type where a value of ours stood."""


# What comes behind the last line of a file.
_JUNK = (
    b"\n" * 200,
    b"\n\r\n \n",
    bytes(40),
    b"{}\n",
    b"[]\n",
    b"null\n",
    b'{"id": "x"\n',
    b"<<<<<<< HEAD\n",
    b'{"id": "x", "n": 999999999999999, "role": "user", "content": ""}\n',
    b"\xff\xfe\x00\n",
    b"- x\n",
)
_OWN = {".pipimem"}
_FILE_MODES = (0, 0o200, 0o400, 0o444, 0o666, 0o777)
_FOLDER_MODES = (0, 0o300, 0o500, 0o777)


@dataclass(frozen=True, slots=True)
class Copies:
    """The bytes of a file as they stand, as they stood earlier where they were others, and those of
    other files of its name: another channel's.
    """

    now: bytes
    before: tuple[bytes, ...] = ()
    others: tuple[bytes, ...] = ()


def _flipped(path: Path, copies: Copies, dice: random.Random) -> bool:
    data = bytearray(copies.now)
    for _ in range(dice.choice((1, 1, 1, 2, 8))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return _written(path, copies, bytes(data))


def _zeroed(path: Path, copies: Copies, dice: random.Random) -> bool:
    first = dice.randrange(len(copies.now))
    last = min(len(copies.now), first + dice.randint(1, _LONGEST))
    return _written(path, copies, copies.now[:first] + bytes(last - first) + copies.now[last:])


def _cut(path: Path, copies: Copies, dice: random.Random) -> bool:
    length = len(copies.now)
    near_the_end = max(0, length - dice.randint(1, 40))
    at = dice.choice((0, dice.randrange(length), near_the_end))
    return _written(path, copies, copies.now[:at])


def _deleted(path: Path, *_: object) -> bool:
    path.unlink()
    return True


def _repeated(path: Path, copies: Copies, dice: random.Random) -> bool:
    lines = copies.now.splitlines(keepends=True)
    some_lines = b"".join(lines[-dice.randint(1, len(lines)) :])
    some_bytes = copies.now[-dice.randint(1, _LONGEST) :]
    return _written(path, copies, copies.now + dice.choice((some_lines, some_bytes)))


def _older(path: Path, copies: Copies, dice: random.Random) -> bool:
    return bool(copies.before) and _written(path, copies, dice.choice(copies.before))


def _of_another(path: Path, copies: Copies, dice: random.Random) -> bool:
    return bool(copies.others) and _written(path, copies, dice.choice(copies.others))


def _with_junk(path: Path, copies: Copies, dice: random.Random) -> bool:
    junk = dice.choice(
        (*_JUNK, dice.randbytes(dice.randint(1, _LONGEST)), *copies.others, *copies.before)
    )
    return _written(path, copies, copies.now + junk)


def _of_wrong_mode(path: Path, _: Copies, dice: random.Random) -> bool:
    """Of the file, or of its folder where that is one of ours."""
    if dice.random() < 0.5 or not _OWN.intersection(path.parent.parts):
        path.chmod(dice.choice(_FILE_MODES))
    else:
        path.parent.chmod(dice.choice(_FOLDER_MODES))
    return True


def _retyped(path: Path, copies: Copies, dice: random.Random) -> bool:
    """A value somewhere in the JSON of a line, or a key, is another one."""
    lines = copies.now.splitlines(keepends=True)
    at = dice.randrange(len(lines))
    try:
        record = json.loads(lines[at])
    except ValueError:
        return False
    if not isinstance(record, dict):
        return False
    inner = record
    while nested := [each for each in inner.values() if isinstance(each, dict) and each]:
        if dice.random() < 0.3:
            break
        inner = dice.choice(nested)
    key = dice.choice(list(inner))
    value = inner.pop(key)
    inner[dice.choice((key, key, key, "x"))] = dice.choice((*_VALUES, [value], str(value)))
    lines[at] = json.dumps(record, ensure_ascii=True).encode() + b"\n"
    return _written(path, copies, b"".join(lines))


def _folder(path: Path, copies: Copies, dice: random.Random) -> bool:
    path.unlink()
    path.mkdir()
    if dice.random() < 0.5:
        (path / "inside").write_bytes(copies.now)
    return True


def _pipe(path: Path, *_: object) -> bool:
    path.unlink()
    os.mkfifo(path)
    return True


def _link(path: Path, copies: Copies, dice: random.Random) -> bool:
    """A link: to itself, to nothing, out of the workspace, or to the file under another name."""
    path.unlink()
    other = path.with_name(f"{path.name}.moved")
    outside = Path("/etc/hostname"), Path("/dev/zero")
    target = dice.choice((path, path.with_name("nowhere"), *outside, other))
    if target == other:
        other.write_bytes(copies.now)
    path.symlink_to(target)
    return True


KINDS: dict[str, Callable[[Path, Copies, random.Random], bool]] = {
    "bits": _flipped,
    "zeros": _zeroed,
    "cut": _cut,
    "deleted": _deleted,
    "tail twice": _repeated,
    "older copy": _older,
    "another channel's": _of_another,
    "junk behind it": _with_junk,
    "wrong mode": _of_wrong_mode,
    "value retyped": _retyped,
    "a folder": _folder,
    "a pipe": _pipe,
    "a link": _link,
}
"""Each damages the file in place, and answers whether it is another one now."""
# Where a bit, a range or a value stands matters; a deleted file is a deleted file.
_WEIGHTS = {
    "bits": 8, "zeros": 4, "cut": 3, "tail twice": 2, "older copy": 3, "value retyped": 6,
    "another channel's": 3,
    "junk behind it": 3, "wrong mode": 2, "a link": 2,
}  # fmt: skip
_JSON_WEIGHT = 3


def drawn(dice: random.Random, files: dict[str, list[str]]) -> tuple[str, str]:
    """A kind of damage and a file, by lot; `files` has them by sort.

    JSON has more ways to be wrong than others.
    """
    kinds, sorts = list(KINDS), sorted(files)
    [kind] = dice.choices(kinds, [_WEIGHTS.get(each, 1) for each in kinds])
    [sort] = dice.choices(sorts, [_JSON_WEIGHT if ".json" in each else 1 for each in sorts])
    return kind, dice.choice(files[sort])


def _written(path: Path, copies: Copies, data: bytes) -> bool:
    path.write_bytes(data)
    return data != copies.now
