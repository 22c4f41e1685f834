"""Messages kept on the disk until all are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.runtime.transfer.gathering import Spool, SpoolFile


def test_sessions_come_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    """Each whole, its messages as they were found."""

    def at(hour: int) -> datetime:
        return datetime(2026, 3, 2, hour, tzinfo=UTC)

    with SpoolFile(tmp_path / "spool") as file:
        spool, other = Spool(file), Spool(file)
        for name, session, hour in (("a", "late", 9), ("b", "early", 7), ("c", "late", 8),
                                    ("d", "early", 12)):  # fmt: skip
            spool.add(Message("user", "半 \ud800", name, at(hour), "Ann", session))
            other.add(Message("user", name, name, at(hour)))
        found = list(spool.messages())
        assert [one.content for one in other.messages()] == ["a", "b", "c", "d"]
        assert [one.id for one in found] == ["b", "d", "a", "c"]
        assert (found[0].content, found[0].speaker, found[0].number) == ("半 \ud800", "Ann", 0)
