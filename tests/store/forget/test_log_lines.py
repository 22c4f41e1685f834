"""Files of ours without forgotten words: quoted words blanked in place in the usage ledger."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.usage import Usage
from pipimem.store.forget import log_lines
from pipimem.store.forget.log_lines import blank_quotes, quotes
from pipimem.store.forget.targets import ForgetTargets
from pipimem.store.forget.traces import traces
from pipimem.store.workspace import WorkspaceStore


def usage(now: datetime, reason: str) -> Usage:
    """A refused call."""
    return Usage(
        now.isoformat(), "room", "tidy", "a model", 10, 2, 0, None, 0.5, "refused", "c1", reason
    )


def test_a_reason_is_blanked_and_the_sums_stay(workspace: WorkspaceStore, now: datetime) -> None:
    """The file keeps its length, so that whoever appends is not disturbed; every call still
    counts.
    """
    for reason in ('unknown id in “她的电话是 555 0199”, "x"\n', "cut off", ""):
        workspace.usage_store.append(usage(now, reason))
    path = workspace.root / ".pipimem" / "usage-2026-03.jsonl"
    size = path.stat().st_size
    (found,) = quotes(path.parent, ForgetTargets.of(["555  0199"])).items()
    assert (found[0], len(found[1])) == (path, 1)
    blank_quotes(path.parent, ForgetTargets.of(["555  0199"]))
    assert path.stat().st_size == size
    assert list(traces([path.parent], "555 0199")) == []
    assert [(one.reason.strip(), one.tokens_in) for one in workspace.usages()] == [
        ("", 10),
        ("cut off", 10),
        ("", 10),
    ]
    assert quotes(path.parent, ForgetTargets.of(["555  0199"])) == {}


@pytest.mark.parametrize("is_new_file", [False, True], ids=["in place", "another file"])
def test_a_ledger_rewritten_between_look_and_blank_loses_nothing_else(
    workspace: WorkspaceStore, now: datetime, monkeypatch: pytest.MonkeyPatch, is_new_file: bool
) -> None:
    """What stands at the offset now is another call's: the places are looked for again."""
    for reason in ("unknown id in “555 0199”", "cut off"):
        workspace.usage_store.append(usage(now, reason))
    path = workspace.root / ".pipimem" / "usage-2026-03.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    real, rewritten = log_lines.opened, []

    def opened(file: Path, flags: int) -> int:
        if not rewritten:
            rewritten.append(True)
            if is_new_file:
                path.unlink()
            path.write_bytes(second + first)
        return real(file, flags)

    monkeypatch.setattr(log_lines, "opened", opened)
    blank_quotes(path.parent, ForgetTargets.of(["555 0199"]))
    assert [one.reason.strip() for one in workspace.usages()] == ["cut off", ""]
    assert path.read_bytes().startswith(second)
