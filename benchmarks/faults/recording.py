"""What a journey did to the disk, call by call: bytes, names, syncs, and what was acknowledged
between them.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.child import in_child
from benchmarks.faults.journeys import Journey
from benchmarks.faults.shim import SYNCS, Call, Shim
from benchmarks.faults.tree import Tree

FOLDER = -1
"""What a name stands for where it is a folder's; files have numbers from 0."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names of one folder, set in one step to files, or to nothing."""

    folder: str
    names: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of a file set at an offset, or, without any, the file cut or grown to that size."""

    file: int
    offset: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Synced:
    """From here on all that was done to a file (its bytes) or a folder (its names) stays."""

    target: int | str


@dataclass(frozen=True, slots=True)
class Told:
    """What was acknowledged."""

    line: tuple[object, ...]


Step = Named | Bytes | Synced | Told


@dataclass(frozen=True, slots=True)
class Record:
    """The workspace before, as names and bytes, and the steps from there."""

    names: dict[str, int]
    contents: dict[int, bytes]
    steps: tuple[Step, ...]


class Recorder:
    """Watches a journey and takes down each step."""

    def __init__(self, root: Path, tree: Tree) -> None:
        self.steps: list[Step] = []
        self._root = os.fspath(root)
        self.names: dict[str, int] = {name: FOLDER for name, _ in tree.folders}
        self.names |= {name: number for number, (name, *_) in enumerate(tree.files)}
        self.contents = {number: data for number, (_, _, data, _) in enumerate(tree.files)}
        self._next = len(tree.files)
        self._now: dict[str, int] = dict(self.names)
        self._open: dict[int, int | str] = {}
        self._tell = os.lseek

    def before(self, call: Call) -> int:
        """Everything happens."""
        if call.name == "close":
            self._open.pop(call.arguments[0], None)
        return 0

    def after(self, call: Call, result: Any) -> None:
        """Takes a call down."""
        path = self._short(call.path)
        match call.name:
            case "create":
                self._set({path: self._next})
                self._next += 1
                self._open[result] = self._now[path]
            case "open":
                found = self._now.get(path, FOLDER)
                self._open[result] = path if found == FOLDER else found
            case "write" | "ftruncate" | "fsync" | "fdatasync":
                self._done_to(self._open[call.arguments[0]], call, result)
            case "mkdir":
                self._set({path: FOLDER})
            case "unlink" | "remove":
                self._set({path: None})
            case "rename" | "replace" | "link" | "exchange":
                other = self._short(os.fspath(call.arguments[0]))
                left = {"link": self._now[path], "exchange": self._now.get(other)}.get(call.name)
                self._set({path: left, other: self._now[path]})

    def failed(self, call: Call) -> None:
        """Nothing was done."""

    def _done_to(self, target: int | str, call: Call, result: Any) -> None:
        if call.name in SYNCS:
            self.steps.append(Synced(target))
            return
        assert isinstance(target, int)
        if call.name == "ftruncate":
            self.steps.append(Bytes(target, call.arguments[1], None))
        else:
            offset = self._tell(call.arguments[0], 0, os.SEEK_CUR) - result
            self.steps.append(Bytes(target, offset, bytes(call.arguments[1])[:result]))

    def told(self, *line: object) -> None:
        """Something was acknowledged here."""
        self.steps.append(Told(line))

    def _set(self, names: dict[str, int | None]) -> None:
        [folder] = {
            name.rpartition("/")[0] for name in names
        }  # a step over two folders is never made
        self.steps.append(Named(folder, tuple(names.items())))
        for name, file in names.items():
            if file is None:
                self._now.pop(name, None)
            else:
                self._now[name] = file

    def _short(self, path: str) -> str:
        return os.path.relpath(path, self._root) if path != self._root else ""


def recorded(journey: Journey, tree: Tree, root: Path) -> Record:
    """Lets a journey happen and takes down what it did to the disk."""
    tree.laid(root)
    kept = root.with_name("steps")

    def work(_: object) -> None:
        recorder = Recorder(root, tree)
        Shim(root, recorder).install()
        journey.run(root, recorder.told)
        kept.write_bytes(
            pickle.dumps(Record(recorder.names, recorder.contents, tuple(recorder.steps)))
        )

    ended = in_child(work)
    assert ended.how == "done", ended
    record: Record = pickle.loads(kept.read_bytes())
    kept.unlink()
    return record
