"""Which entries were recalled, gathered until the next commit carries them to the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.notes.ledger import Asked, Delta, Ledger, Record


@dataclass(slots=True)
class Recalls:
    """How often entries were recalled since the last commit, when last, and what was asked."""

    counts: dict[str, int] = field(default_factory=dict)
    when: str = ""
    # With the record that was the newest then: what was asked before a forgetting may quote what is
    # forgotten.
    asked: list[tuple[int, Asked]] = field(default_factory=list)
    # No commit will follow: they are a change of their own now.
    are_due: bool = False

    def note(self, ids: Iterable[str], when: datetime) -> None:
        """Counts one recall of each."""
        for name in ids:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.when = when.isoformat(timespec="seconds")

    def clear(self) -> None:
        """Starts again, once they are written."""
        self.counts.clear()
        self.asked.clear()
        self.are_due = False

    def folded(self, ledger: Ledger, delta: Delta) -> Delta:
        """Returns `delta` with the recalls of entries that have a record.

        A recall ends probation: what was asked for has proved useful.
        """
        records: dict[str, Record | None] = dict(delta.records)
        for name, count in self.counts.items():
            record = records.get(name, ledger.records.get(name))
            if record is not None:
                records[name] = replace(
                    record, recalls=record.recalls + count, recalled=self.when, probation_until=""
                )
        kept = tuple(asked for known, asked in self.asked if known >= ledger.forgotten)
        return replace(delta, records=records, asked=kept)
