"""The usage ledger on disk: what is appended comes back, also to those who only read on."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace
from pipimem.notes.usage import Usage
from pipimem.store import usage_ledger
from pipimem.store.usage_ledger import Tail, append_usage, usage_lines

MIDNIGHT = datetime.fromisoformat("2026-03-02T00:00:00+08:00")
CALL = Usage(
    "2026-03-02T09:00:00+08:00", "团队", "refresh", "openai/m", 10, 5, 2, 0.25, 1.5, "ok", "c1"
)


def at(hours: float, tokens: int = 1) -> Usage:
    return replace(
        CALL,
        time=(MIDNIGHT + timedelta(hours=hours)).isoformat(timespec="seconds"),
        tokens_in=tokens,
    )


def test_every_field_comes_back(tmp_path: Path) -> None:
    """What was estimated stays apart from what was told."""
    calls = [
        CALL,
        replace(CALL, cost=None, estimated_in=7, estimated_out=8, estimated_cost=0.5, prompt="ab"),
    ]
    for call in calls:
        append_usage(tmp_path, call)
    assert list(usage_lines(tmp_path)) == calls


@pytest.mark.parametrize(
    "damage",
    [
        b"{", b"[]", b"\xff\xfe", b'{"time": "2026-03-02T09:00:00+08:00"}',
        *(json.dumps({**structs.asdict(CALL), **change}).encode() for change in (
            {"tokens_in": -1}, {"tokens_in": "many"}, {"tokens_out": 1.5}, {"tokens_in": True}, {"tokens_in": 10**13},
            {"cost": float("nan")}, {"cost": -1}, {"cost": float("inf")}, {"time": "yesterday"}, {"channel": 3},
            {"estimated_in": -5}, {"estimated_cost": "free"}, {"latency": None},
        )),
    ],
)  # fmt: skip
def test_a_damaged_line_is_told_and_does_not_stop_the_others(tmp_path: Path, damage: bytes) -> None:
    """No number that a sum could not take, and none that would give budget back."""
    append_usage(tmp_path, CALL)
    with (tmp_path / "usage-2026-03.jsonl").open("ab") as file:
        file.write(damage + b"\n")
    append_usage(tmp_path, CALL)
    assert list(usage_lines(tmp_path)) == [CALL, None, CALL]
    assert Tail(tmp_path, MIDNIGHT).fresh() == [CALL, CALL]


def test_lines_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """What they did not know yet has its default."""
    old = {
        name: value
        for name, value in structs.asdict(CALL).items()
        if not name.startswith(("estimated", "prompt", "reason"))
    }
    (tmp_path / "usage-2026-03.jsonl").write_text(json.dumps(old) + "\n", encoding="utf-8")
    assert list(usage_lines(tmp_path)) == [CALL]


def test_a_tail_gives_today_once_and_then_what_is_new(tmp_path: Path) -> None:
    """By whomever it was written; a line without its end waits for it."""
    for hours in (-3, -0.5, 0, 9):
        append_usage(tmp_path, at(hours))
    tail = Tail(tmp_path, MIDNIGHT)
    assert tail.fresh() == [at(0), at(9)]
    assert tail.fresh() == []
    append_usage(tmp_path, at(10))
    path = tmp_path / "usage-2026-03.jsonl"
    line = json.dumps(structs.asdict(at(11))).encode()
    with path.open("ab") as file:
        file.write(line[:30])
    assert tail.fresh() == [at(10)]
    with path.open("ab") as file:
        file.write(line[30:] + b"\n")
    assert tail.fresh() == [at(11)]


def test_a_tail_sees_the_next_month(tmp_path: Path) -> None:
    """A bot that runs over the end of a month goes on counting."""
    tail = Tail(tmp_path, datetime.fromisoformat("2026-03-31T00:00:00+08:00"))
    append_usage(tmp_path, replace(CALL, time="2026-03-31T23:59:59+08:00"))
    append_usage(tmp_path, replace(CALL, time="2026-04-01T00:00:01+08:00"))
    assert len(tail.fresh()) == 2


def test_a_tail_says_that_what_it_read_stands_no_more(tmp_path: Path) -> None:
    """Deleted, shorter, or as long again: who goes on from its byte would pass over calls, or
    count half of one.
    """
    path = tmp_path / "usage-2026-03.jsonl"
    for damage in ("gone", "shorter", "as long", "longer"):
        path.unlink(missing_ok=True)
        for hours in (1, 2):
            append_usage(tmp_path, at(hours))
        tail = Tail(tmp_path, MIDNIGHT)
        assert tail.fresh() == [at(1), at(2)]
        assert not tail.rewritten
        append_usage(tmp_path, at(3))
        assert not tail.rewritten
        assert tail.fresh() == [at(3)]
        data = path.read_bytes()
        path.unlink()
        if damage != "gone":
            lines = data.splitlines(keepends=True)[: 1 if damage == "shorter" else 3]
            path.write_bytes(
                b"".join(lines).replace(b"c1", b"c2") * (2 if damage == "longer" else 1)
            )
        assert tail.rewritten, damage


@pytest.mark.parametrize("step", [200, 1000, 10**6])
def test_today_is_found_at_the_end_of_a_long_month(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """However the steps back fall on the lines, also where processes wrote a little out of
    order.
    """
    monkeypatch.setattr(usage_ledger, "_STEP", step)
    hours = [-5, -4, -3, -2, 0.2, -0.2, 0.1, 0.3, -0.1, 0.4]
    for number, hour in enumerate(hours):
        append_usage(tmp_path, at(hour, number))
    found = Tail(tmp_path, MIDNIGHT).fresh()
    assert [usage.tokens_in for usage in found] == [
        number for number, hour in enumerate(hours) if hour >= 0
    ]
