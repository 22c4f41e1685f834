"""The states that a power cut may leave, made from the recorded calls of a journey.

Only a sync orders what reaches the disk. A file's bytes that were written since its last sync may
all be there, be missing, end at a sector, or be zeros. A name set or removed in a folder since the
last sync of that folder may be there or missing, whatever became of other names; two changes of the
same name keep their order. A rename between two folders lasts from the first sync of either.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.promises.libc_shim import Call, Kind

_SECTOR = 512
FATES = ("all", "none", "cut", "zeros")
"""What became of bytes that were not synced."""
_MIXED = 3
_ROOT = 0

Name = tuple[int, str]
"""A name in a folder, by the folder's number."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names that were set to a file or folder in one step, or removed (`None`)."""

    names: tuple[tuple[Name, int | None], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes of a file set at an offset; without any the file got that size."""

    file: int
    offset: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Synced:
    """A file's bytes, or a folder's names, are on the disk; those of all without a target."""

    target: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """Something was acknowledged."""

    line: tuple[Any, ...]


Step = Named | Written | Synced | Told


@dataclass(slots=True)
class Disk:
    """Files and folders by number, and names in folders; the workspace's folder is number 0."""

    names: dict[Name, int] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)
    folders: set[int] = field(default_factory=lambda: {_ROOT})

    @classmethod
    def of(cls, root: Path) -> Disk:
        """Read what is in a folder."""
        disk = cls()
        numbers = {root: _ROOT}
        for number, path in enumerate(sorted(root.rglob("*")), 1):
            numbers[path] = number
            disk.names[numbers[path.parent], path.name] = number
            if path.is_dir():
                disk.folders.add(number)
            else:
                disk.contents[number] = path.read_bytes()
        return disk

    def copy(self) -> Disk:
        """Return a disk that changes apart from this one."""
        return Disk(dict(self.names), dict(self.contents), set(self.folders))

    def apply(self, names: Named) -> None:
        """Set and remove some names."""
        for name, number in names.names:
            if number is None:
                self.names.pop(name, None)
            else:
                self.names[name] = number

    def write(self, step: Written, fate: str) -> None:
        """Change the bytes of a file as far as its fate lets them through."""
        before, data = self.contents.get(step.file, b""), step.data
        if fate == "none":
            return
        head = before[: step.offset].ljust(step.offset, b"\0")
        if data is None:
            self.contents[step.file] = head
            return
        if fate == "zeros":
            data = bytes(len(data))
        if fate == "cut":
            end = (step.offset + len(data) - 1) // _SECTOR * _SECTOR
            data = data[: max(0, end - step.offset)]
        self.contents[step.file] = head + data + before[step.offset + len(data) :]

    def lay_out(self, folder: Path, number: int = _ROOT) -> None:
        """Write all that has a name into a folder."""
        folder.mkdir(mode=0o700, exist_ok=True)
        for (parent, name), child in self.names.items():
            if parent != number:
                continue
            if child in self.folders:
                self.lay_out(folder / name, child)
            else:
                (folder / name).touch(mode=0o600)
                (folder / name).write_bytes(self.contents.get(child, b""))


@dataclass(frozen=True, slots=True)
class Cut:
    """A power cut behind so many steps.

    `lost` are the steps whose names are missing, `fates` what became of bytes that were not synced,
    by the file's number.
    """

    end: int
    lost: frozenset[int]
    fates: tuple[str, ...]
    how: str


class Recording:
    """The steps of a journey, from the log of its calls."""

    def __init__(self, before: Path, root: Path, calls: Sequence[Call]) -> None:
        """Follow the calls from what was in `before`; `root` is where the journey ran."""
        self.before = Disk.of(before)
        self._now, self._root = self.before.copy(), root
        self._next = len(self.before.names) + 1
        self._inodes: dict[int, int] = {}
        self.steps: list[Step] = []
        for call in calls:
            if not call.error:
                self._follow(call)

    def _follow(self, call: Call) -> None:
        match call.kind:
            case Kind.NOTE:
                self.steps.append(Told(tuple(json.loads(call.data))))
            case Kind.CREATE | Kind.MKDIR:
                self._make(call)
            case Kind.RENAME | Kind.EXCHANGE | Kind.LINK:
                self._rename(call)
            case Kind.UNLINK | Kind.RMDIR:
                self._set((self._name(call.path), None))
            case Kind.SYNC_ALL:
                self.steps.append(Synced(None))
            case Kind.WRITE | Kind.TRUNCATE | Kind.SYNC:
                self._touch(call)

    def _name(self, path: str) -> Name:
        """Return the folder and the name of a path."""
        *folders, name = Path(path).relative_to(self._root).parts or ("",)
        number = _ROOT
        for folder in folders:
            number = self._now.names[number, folder]
        return number, name

    def _find(self, path: str) -> int | None:
        if Path(path) == self._root:
            return _ROOT
        try:
            return self._now.names.get(self._name(path))
        except KeyError:
            return None

    def _set(self, *names: tuple[Name, int | None]) -> None:
        step = Named(names)
        self._now.apply(step)
        self.steps.append(step)

    def _make(self, call: Call) -> None:
        number, self._next = self._next, self._next + 1
        if call.kind == Kind.MKDIR:
            for disk in (self._now, self.before):
                disk.folders.add(number)
        self._inodes[call.file] = number
        self._set((self._name(call.path), number))

    def _rename(self, call: Call) -> None:
        old, new = self._name(call.path), self._name(call.other)
        moved = self._now.names[old]
        if call.kind == Kind.EXCHANGE:
            self._set((old, self._now.names[new]), (new, moved))
        elif call.kind == Kind.LINK:
            self._set((new, moved))
        else:
            self._set((old, None), (new, moved))

    def _touch(self, call: Call) -> None:
        number = self._find(call.path)
        if number is None:  # a file without a name, but for the descriptor
            number = self._inodes.get(call.file)
        if number is None:
            return
        self._inodes[call.file] = number
        if call.kind == Kind.SYNC:
            self.steps.append(Synced(number))
        else:
            data = call.data if call.kind == Kind.WRITE else None
            self.steps.append(Written(number, call.offset, data))

    # ── cuts ──

    def cuts(self, chance: random.Random) -> list[Cut]:
        """Return the cuts behind any step.

        Everything that was not synced is lost, is kept, each change of a name is kept or lost
        alone, and some are mixed by lot.
        """
        return [
            cut
            for end in range(1, len(self.steps) + 1)
            # Before an acknowledgement the disk is the same, and less was acknowledged.
            if end == len(self.steps) or not isinstance(self.steps[end], Told)
            for cut in self._cuts_behind(end, chance)
        ]

    def _synced(self, end: int) -> Callable[[int], int]:
        """Return a function that has the last step that synced a file or folder, else -1."""
        steps = enumerate(self.steps[:end])
        last = {step.target: at for at, step in steps if isinstance(step, Synced)}
        return lambda target: max(last.get(target, -1), last.get(None, -1))

    def _cuts_behind(self, end: int, chance: random.Random) -> Iterator[Cut]:
        synced = self._synced(end)
        pending = [
            at
            for at, step in enumerate(self.steps[:end])
            if isinstance(step, Named)
            and not any(synced(folder) > at for (folder, _), _ in step.names)
        ]
        for how, kept in self._choices(pending):
            for fate in FATES:
                yield Cut(end, frozenset(pending) - kept, (fate,), f"{how}, bytes {fate}")
        for _ in range(_MIXED):
            kept = self._with_earlier(pending, {at for at in pending if chance.random() < 0.5})
            fates = tuple(chance.choice(FATES) for _ in range(17))
            yield Cut(end, frozenset(pending) - kept, fates, "mixed")

    def _choices(self, pending: list[int]) -> Iterator[tuple[str, frozenset[int]]]:
        every = frozenset(pending)
        yield "no name", frozenset()
        yield "all names", every
        for at in pending:
            yield f"only the name of step {at}", self._with_earlier(pending, {at})
            yield f"not the name of step {at}", every - self._with_later(pending, at)

    def _meet(self, one: int, other: int) -> bool:
        """Whether two steps change the same name."""
        first, second = self.steps[one], self.steps[other]
        assert isinstance(first, Named)
        assert isinstance(second, Named)
        return bool(dict(first.names).keys() & dict(second.names).keys())

    def _with_earlier(self, pending: list[int], chosen: set[int]) -> frozenset[int]:
        """Return steps with all earlier ones that change the same names."""
        for at in reversed(pending):
            if any(later > at and self._meet(at, later) for later in chosen):
                chosen = chosen | {at}
        return frozenset(chosen)

    def _with_later(self, pending: list[int], at: int) -> frozenset[int]:
        """Return a step with all later ones that change the same names."""
        found = {at}
        for later in pending:
            if any(earlier < later and self._meet(earlier, later) for earlier in found):
                found.add(later)
        return frozenset(found)

    def after(self, cut: Cut) -> tuple[Disk, list[tuple[Any, ...]]]:
        """Return the disk that a cut leaves, and what had been acknowledged."""
        disk, said, synced = self.before.copy(), [], self._synced(cut.end)
        for at, step in enumerate(self.steps[: cut.end]):
            match step:
                case Named() if at not in cut.lost:
                    disk.apply(step)
                case Written(file):
                    is_synced = at < synced(file)
                    fate = cut.fates[file % len(cut.fates)]
                    disk.write(step, "all" if is_synced else fate)
                case Told(line):
                    said.append(line)
        return disk, said
