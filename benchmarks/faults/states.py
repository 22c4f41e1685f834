"""Every state a disk may be left in where nothing but a sync orders what reaches it: a small ALICE.

Between two syncs of a folder its names change in any order that leaves steps over the same name in
theirs; any of them may be missing. Bytes of a file that were not synced are all there, none of
them, cut at a sector, or zeros.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.recording import FOLDER, Bytes, Named, Record, Synced, Told

_SECTOR = 512
MODES = ("all", "none", "cut", "zeros")
"""What became of bytes that were not synced."""
_MIXED = 4


@dataclass(frozen=True, slots=True)
class State:
    """A disk after a power cut: names, bytes, and what had been acknowledged by then."""

    names: dict[str, int]
    contents: dict[int, bytes]
    told: tuple[tuple[object, ...], ...]

    @property
    def mark(self) -> bytes:
        """The same for states that are the same."""
        digest = hashlib.blake2b(repr(self.told).encode())
        for name, number in sorted(self.files().items()):
            digest.update(
                repr((name, self.contents.get(number, b"") if number != FOLDER else None)).encode()
            )
        return digest.digest()

    def files(self) -> dict[str, int]:
        """The names whose folders are there too."""
        folders = {name for name, number in self.names.items() if number == FOLDER}

        def is_there(name: str) -> bool:
            above = name.rpartition("/")[0]
            return not above or (above in folders and is_there(above))

        return {name: number for name, number in self.names.items() if is_there(name)}

    def laid(self, root: Path) -> None:
        """Puts it into an empty folder."""
        for name, number in sorted(self.files().items()):
            if number == FOLDER:
                (root / name).mkdir(mode=0o700)
            else:
                (root / name).touch(mode=0o600)
                (root / name).write_bytes(self.contents.get(number, b""))


def states(record: Record, chance: random.Random, *, mixed: int = _MIXED) -> Iterator[State]:
    """The states after a power cut at any step: everything unsynced lost, kept, each thing lost or
    kept alone, and some mixed by lot."""
    seen: set[bytes] = set()
    for at in range(1, len(record.steps) + 1):
        if at < len(record.steps) and isinstance(record.steps[at], Told):
            continue
        for state in _states_at(record, at, chance, mixed):
            if state.mark not in seen:
                seen.add(state.mark)
                yield state


def _states_at(record: Record, at: int, chance: random.Random, mixed: int) -> Iterator[State]:
    steps = record.steps[:at]
    last = {step.target: number for number, step in enumerate(steps) if isinstance(step, Synced)}
    pending = [
        number for number, step in enumerate(steps)
        if isinstance(step, Named) and number > last.get(step.folder, -1)
    ]  # fmt: skip
    for chosen in _choices(record, pending, chance, mixed):
        lost = frozenset(pending) - chosen
        for mode in MODES:
            yield _built(record, at, lost, last, lambda _, mode=mode: mode)  # type: ignore[misc]
    for _ in range(mixed):
        lost = frozenset(pending) - _closed(
            record, pending, {one for one in pending if chance.random() < 0.5}
        )
        modes = {
            number: chance.choice(MODES) for number in range(len(record.contents) + len(steps))
        }
        yield _built(record, at, lost, last, modes.__getitem__)


def _choices(
    record: Record, pending: list[int], chance: random.Random, mixed: int
) -> list[frozenset[int]]:
    every = frozenset(pending)
    chosen = [frozenset[int](), every]
    for one in pending:
        chosen.append(_closed(record, pending, {one}))
        chosen.append(every - _dependent(record, pending, one))
    chosen += [
        _closed(record, pending, {one for one in pending if chance.random() < 0.5})
        for _ in range(mixed)
    ]
    return list(dict.fromkeys(chosen))


def _meet(record: Record, one: int, other: int) -> bool:
    """Whether two steps are about the same name."""
    first, second = record.steps[one], record.steps[other]
    assert isinstance(first, Named)
    assert isinstance(second, Named)
    return bool(dict(first.names).keys() & dict(second.names).keys())


def _closed(record: Record, pending: list[int], chosen: set[int]) -> frozenset[int]:
    """With all that they rest on."""
    for one in reversed(pending):
        if any(later in chosen and later > one and _meet(record, one, later) for later in pending):
            chosen = chosen | {one}
    return frozenset(chosen)


def _dependent(record: Record, pending: list[int], one: int) -> frozenset[int]:
    """With all that rests on it."""
    found = {one}
    for later in pending:
        if later > one and any(
            _meet(record, earlier, later) for earlier in found if earlier < later
        ):
            found.add(later)
    return frozenset(found)


def _built(
    record: Record, at: int, lost: frozenset[int], last: dict[int | str, int], mode_of: object
) -> State:
    names, contents, told = dict(record.names), dict(record.contents), []
    for number, step in enumerate(record.steps[:at]):
        match step:
            case Named(_, changed) if number not in lost:
                for name, file in changed:
                    if file is None:
                        names.pop(name, None)
                    else:
                        names[name] = file
            case Bytes(file, offset, data):
                mode = "all" if number < last.get(file, -1) else mode_of(file)  # type: ignore[operator]
                contents[file] = _with(contents.get(file, b""), offset, data, mode)
            case Told(line):
                told.append(line)
    return State(names, contents, tuple(told))


def _with(before: bytes, offset: int, data: bytes | None, mode: str) -> bytes:
    if mode == "none":
        return before
    if data is None:
        return before[:offset].ljust(offset, b"\0")
    if mode == "zeros":
        data = bytes(len(data))
    if mode == "cut":
        data = data[: max(0, (offset + len(data) - 1) // _SECTOR * _SECTOR - offset)]
    return before[:offset].ljust(offset, b"\0") + data + before[offset + len(data) :]
