"""Failures of background jobs: one file for each job that fails, so that other processes can show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import make_folder, read_whole, told
from pipimem.store.disk.files import put_whole

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Problem:
    """A background job that fails: `times` in a row, `first` and `last` (ISO 8601).

    `channel` is the name of its folder, empty for a job of the whole workspace. `due` is when the
    job is tried again. `what` never quotes a text of the channel: a forgetting does not look here.
    """

    job: str
    channel: str
    what: str
    first: str
    last: str
    due: str
    times: int = 1

    def told(self) -> str:
        """It in a sentence."""
        name = f"{self.channel}: {self.job}" if self.channel else self.job
        often = f", {self.times} times since {self.first}" if self.times > 1 else ""
        return f"{name} failed at {self.last}{often}: {self.what}; the log has the details. Tried again at {self.due}."


@dataclass(frozen=True, slots=True)
class Problems:
    """The folder `.pipimem/problems/`; it may be deleted."""

    folder: Path

    def keep(self, problem: Problem) -> None:
        """Writes a problem in the place of the former one of its job. Raises `StoreError`."""
        make_folder(self.folder)
        path = self._path(problem.job, problem.channel)
        put_whole(path, jsonlines.line(encoded(problem)), synced=False)

    def remove(self, job: str, channel: str) -> None:
        """Removes the problem of a job, where there is one. Raises `StoreError`."""
        path = self._path(job, channel)
        with told("remove", path):
            path.unlink(missing_ok=True)

    def all(self) -> tuple[Problem, ...]:
        """The problems, the newest first; a file that is none is passed over. Raises `StoreError`."""
        found = sorted(self._read(), key=lambda problem: problem.last, reverse=True)
        return tuple(found)

    def _read(self) -> Iterator[Problem]:
        with told("read", self.folder):
            try:
                paths = [path for path in self.folder.iterdir() if path.suffix == _SUFFIX]
            except FileNotFoundError:
                return
        for path in paths:
            try:
                yield decoded(Problem, jsonlines.value(read_whole(path)))
            except (FileNotFoundError, CodecError):  # solved meanwhile; not written by us
                continue

    def _path(self, job: str, channel: str) -> Path:
        name = f"{job}\n{channel}".encode("utf-8", "surrogatepass")
        return self.folder / (blake2b(name, digest_size=8).hexdigest() + _SUFFIX)
