"""Failures of background jobs, one file each, so that other processes can show them."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from pipimem.store.disk.json_folder import JsonFolder


class Problem(Struct, frozen=True):
    """A background job that fails: `times` in a row, `first` and `last` (ISO 8601).

    `channel` is the name of its folder, empty for a job of the whole workspace. `what` never quotes
    a text of the channel: a forgetting does not look here.
    """

    job: str
    channel: str
    what: str
    first: str
    last: str
    times: int = 1

    def sentence(self, channel: str) -> str:
        """The failure in a sentence; `channel` is the id to show."""
        name = f"{channel}: {self.job}" if channel else self.job
        often = f", {self.times} times since {self.first}" if self.times > 1 else ""
        return (
            f"{name} failed at {self.last}{often}: {self.what}; the log has the details. "
            "It is tried again."
        )


class Problems:
    """The folder `.pipimem/problems/`; it may be deleted. The methods raise `StoreError`."""

    def __init__(self, folder: Path) -> None:
        self._files = JsonFolder(folder, Problem)

    def keep(self, problem: Problem) -> None:
        """Writes a problem in the place of the former one of its job."""
        self._files.put(_name(problem.job, problem.channel), problem)

    def remove(self, job: str, channel: str) -> None:
        """Removes the problem of a job, where there is one."""
        self._files.remove(_name(job, channel))

    def all(self) -> list[Problem]:
        """The problems, the newest first."""
        return sorted(self._files.all().values(), key=lambda problem: problem.last, reverse=True)


def _name(job: str, channel: str) -> str:
    return blake2b(f"{job}\n{channel}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
