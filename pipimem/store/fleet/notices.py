"""Notices between hosts: who wrote, or waits, in which channel; no text of memory."""

from __future__ import annotations

from dataclasses import dataclass

# An older name for a job, kept: the lock and its fence lie in folders that hosts share and in the
# database, and a host that called them otherwise would not exclude one that did not.
JOB_LOCK = "thought.lock"
"""The lock under which one host at a time does the jobs of a channel, a model's among them."""


@dataclass(frozen=True, slots=True)
class Notice:
    """`owner` wrote under the lock named `lock`; its newest record is `record`, 0 for unknown.

    Where `lock` is a `JOB_LOCK`, `owner` waits for it.
    """

    owner: str
    lock: str
    record: int

    @classmethod
    def read(cls, payload: str) -> Notice | None:
        """The notice that a payload says; `None` for one of another version."""
        record, _, rest = payload.partition(" ")
        owner, _, lock = rest.partition(" ")
        return cls(owner, lock, int(record)) if record.isdecimal() and lock else None

    @property
    def written(self) -> str:
        """The name of the channel's folder in which there is news; empty for another notice."""
        return self._folder("lock")

    @property
    def wanted(self) -> str:
        """The name of the channel's folder whose job lock `owner` waits for; or empty."""
        return self._folder(JOB_LOCK)

    def _folder(self, lock: str) -> str:
        _, _, path = self.lock.partition("/")
        folder, _, name = path.rpartition("/")
        return folder if name == lock else ""

    @property
    def payload(self) -> str:
        """The notice as it is sent."""
        return f"{self.record} {self.owner} {self.lock}"


def listeners_of(lock: str) -> str:
    """The name under which the hosts listen in whose workspace a lock is."""
    return f"pipimem_{lock.partition('/')[0]}"
