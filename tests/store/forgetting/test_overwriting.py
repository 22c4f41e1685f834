"""Quoted words blanked in place in the usage ledger."""

from __future__ import annotations

from datetime import datetime

from pipimem.notes.usage import Usage
from pipimem.store.forgetting.needles import Needles
from pipimem.store.forgetting.overwriting import overwrite, quotes
from pipimem.store.forgetting.traces import traces
from pipimem.store.workspace import WorkspaceStore


def usage(now: datetime, reason: str) -> Usage:
    """A refused call."""
    return Usage(
        now.isoformat(), "room", "tidy", "a model", 10, 2, 0, None, 0.5, "refused", "c1", reason
    )


def test_a_reason_is_blanked_and_the_sums_stay(workspace: WorkspaceStore, now: datetime) -> None:
    """The file keeps its length, so that whoever appends is not disturbed; every call still counts."""
    for reason in ('unknown id in “她的电话是 555 0199”, "x"\n', "cut off", ""):
        workspace.books.append(usage(now, reason))
    path = workspace.root / ".pipimem" / "usage-2026-03.jsonl"
    size = path.stat().st_size
    (found,) = quotes(path.parent, Needles.of(["555  0199"])).items()
    assert (found[0], len(found[1])) == (path, 1)
    overwrite(*found)
    assert path.stat().st_size == size
    assert list(traces([path.parent], "555 0199")) == []
    assert [(one.reason.strip(), one.tokens_in) for one in workspace.usages()] == [
        ("", 10),
        ("cut off", 10),
        ("", 10),
    ]
    assert quotes(path.parent, Needles.of(["555  0199"])) == {}
