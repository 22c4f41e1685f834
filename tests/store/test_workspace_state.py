"""What versions before 0.3 kept in files is taken over once, whatever is killed in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace
from pipimem.notes.usage import Reservation, Usage
from pipimem.store import workspace_state
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState, older_files

CALL = Usage(
    "2026-03-02T09:00:00+08:00", "团队", "refresh", "openai/m", 10, 5, 2, 0.25, 1.5, "ok", "c1"
)
HOLD = Reservation(
    "2026-03-02T09:00:00+08:00", "2026-03-02T09:02:00+08:00", "团队", "refresh", "openai/m", 900, 4000, None, "c1", "ab"
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> UsageStore:
    return UsageStore(WorkspaceState(tmp_path))


def lines(*calls: Usage) -> bytes:
    return b"".join(json.dumps(structs.asdict(call)).encode() + b"\n" for call in calls)


def write_older(folder: Path) -> list[Usage]:
    """Write what a workspace of 0.2 has; return its calls."""
    february = replace(CALL, time="2026-02-28T09:00:00+08:00", reason="it quotes 5550199")
    (folder / "usage-2026-02.jsonl").write_bytes(lines(february))
    (folder / "usage-2026-03.jsonl").write_bytes(lines(CALL, CALL))
    for name in ("holds", "problems"):
        (folder / name).mkdir()
        (folder / name / "1-ab.json").write_bytes(json.dumps(structs.asdict(HOLD)).encode())
    (folder / "holds" / "2-cd.json").write_bytes(b"{")
    for name in ("idle.jsonl", "usage.lock", "usage.lock.turnstile"):
        (folder / name).write_bytes(b"")
    return [replace(february, reason=""), CALL, CALL]


def test_the_first_reader_takes_over_what_an_older_version_left(
    ledger: UsageStore, tmp_path: Path
) -> None:
    """Calls without their reasons, which may quote, and reservations; the rest is removed."""
    calls = write_older(tmp_path)
    assert ledger.usages() == calls
    assert ledger.held() == {"1-ab": HOLD}
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["lock", "lock.turnstile", "state.db"]


@pytest.mark.parametrize("step", ["in the transaction", "before the files are removed"])
def test_nothing_counts_twice_after_a_kill(
    ledger: UsageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A call of each file is there once, and the files go with the next writer."""
    calls = write_older(tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(
            workspace_state, "_import" if step == "in the transaction" else "_remove", killed
        )
        with pytest.raises(KeyboardInterrupt):
            ledger.state.take_over()
    assert (tmp_path / "usage-2026-03.jsonl").exists()
    assert ledger.usages() == calls
    assert list(ledger.held()) == ["1-ab"]
    assert older_files(tmp_path) == []


def test_what_an_older_program_appends_later_is_taken_over_too(
    ledger: UsageStore, tmp_path: Path
) -> None:
    """It makes its file anew."""
    write_older(tmp_path)
    ledger.state.take_over()
    late = replace(CALL, correlation="c2")
    (tmp_path / "usage-2026-03.jsonl").write_bytes(lines(late))
    assert ledger.usages()[-1] == late


@pytest.mark.parametrize(
    "damage",
    [
        b"{", b"[]", b"\xff\xfe", b'{"time": "2026-03-02T09:00:00+08:00"}',
        *(json.dumps({**structs.asdict(CALL), **change}, ensure_ascii=False).encode() for change in (
            {"tokens_in": -1}, {"tokens_in": "many"}, {"tokens_out": 1.5}, {"tokens_in": True}, {"tokens_in": 10**13},
            {"cost": float("nan")}, {"cost": -1}, {"cost": float("inf")}, {"time": "yesterday"}, {"channel": 3},
            {"estimated_in": -5}, {"estimated_cost": "free"}, {"latency": None},
        )),
    ],
)  # fmt: skip
def test_a_damaged_line_stays_in_a_file(ledger: UsageStore, tmp_path: Path, damage: bytes) -> None:
    """No number that a sum could not take, and none that would give budget back.

    It stays without its reason.
    """
    path = tmp_path / "usage-2026-03.jsonl"
    path.write_bytes(lines(CALL) + damage + b"\n" + lines(CALL))
    assert ledger.usages() == [CALL, CALL]
    (kept,) = tmp_path.glob("usage-2026-03.*.damaged")
    assert kept.read_bytes() == damage.replace(b', "reason": ""', b"") + b"\n"
    assert not path.exists()


def test_lines_of_earlier_versions_are_read(ledger: UsageStore, tmp_path: Path) -> None:
    """Fields that they lack have their defaults."""
    old = {
        name: value
        for name, value in structs.asdict(CALL).items()
        if not name.startswith(("estimated", "prompt", "reason"))
    }
    (tmp_path / "usage-2026-03.jsonl").write_text(json.dumps(old), encoding="utf-8")
    assert ledger.usages() == [CALL]


def test_a_host_of_a_fleet_takes_over_its_own_files(tmp_path: Path) -> None:
    """The others' stay for them."""
    for name in ("usage-2026-03~one.jsonl", "usage-2026-03~two.jsonl", "usage-2026-03.jsonl"):
        (tmp_path / name).write_bytes(lines(CALL))
    assert UsageStore(WorkspaceState(tmp_path, "one")).usages() == [CALL]
    assert [path.name for path in sorted(tmp_path.glob("usage-*"))] == [
        "usage-2026-03.jsonl",
        "usage-2026-03~two.jsonl",
    ]


def test_a_place_that_may_only_be_read_is_read(
    ledger: UsageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what is still in files."""
    ledger.append(CALL)
    write_older(tmp_path)

    def refuse(*_: object) -> None:
        raise workspace_state.StoreError("read-only")

    monkeypatch.setattr(workspace_state, "_import", refuse)
    assert ledger.usages() == [CALL]
