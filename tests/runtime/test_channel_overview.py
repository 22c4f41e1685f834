"""All channels by the page, as somebody who looks after a workspace wants them."""

from __future__ import annotations

import json
import os
from datetime import UTC
from pathlib import Path

import pytest
from pipimem import ArgumentError, Clock
from pipimem.notes.usage import Usage
from pipimem.runtime import channel_overview
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import workspace


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine has as much time for a page as it takes."""
    monkeypatch.setattr(channel_overview, "_PATIENCE", 60.0)
    monkeypatch.setattr(channel_overview, "_QUICK", 60.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = workspace(tmp_path)
    for number, name in enumerate(("alpha", "beta", "gamma")):
        folder = root / "channels" / name
        folder.mkdir()
        (folder / "MEMORY.md").write_text("- a fact\n" * number)
        (folder / "log.jsonl").write_text("")
        os.utime(folder / "log.jsonl", (1_700_000_000 + number, 1_700_000_000 + number))
    return root


def overview(root: Path) -> ChannelOverview:
    return ChannelOverview(WorkspaceStore.open(root), Clock())


def names(page: channel_overview.OverviewPage) -> list[str]:
    return [row.info.id for row in page.rows]


def test_the_newest_talk_comes_first(root: Path) -> None:
    """Or they stand by name; a channel without talk is the last."""
    (root / "channels" / "aaa").mkdir()
    all_of_them = overview(root)
    assert names(all_of_them.page()) == ["gamma", "beta", "alpha", "aaa"]
    assert names(all_of_them.page(order="name")) == ["aaa", "alpha", "beta", "gamma"]
    assert all_of_them.page().rows[-1].talked is None
    with pytest.raises(ArgumentError):
        all_of_them.page(order="size")  # type: ignore[arg-type]


def test_the_dearest_today_comes_first(root: Path) -> None:
    """Then by their talk, which is also the order of those to choose from."""
    call = Usage(
        time=Clock().wall().isoformat(),
        channel="alpha",
        task="consolidate",
        model="openai/tiny",
        tokens_in=9,
        tokens_out=1,
        tokens_cached=0,
        cost=0.25,
        latency=1.0,
        outcome="ok",
        correlation="call-1",
    )
    WorkspaceStore.open(root).usage_store.append(call)
    all_of_them = overview(root)
    assert names(all_of_them.page(order="cost")) == ["alpha", "gamma", "beta"]
    assert list(all_of_them.newest(2)) == ["gamma", "beta"]


def test_talk_is_as_new_as_its_newest_message(root: Path) -> None:
    """An import of old talk is no new talk; where no time is known, the time of writing counts."""
    said = {"id": "m1", "n": 1, "role": "user", "content": "hello", "name": "Dana"}
    times = {"beta": "2026-03-02T09:00:00+00:00", "gamma": "2025-01-01T09:00:00+00:00"}
    for name, time in times.items():
        line = json.dumps({**said, "ts": time})
        (root / "channels" / name / "log.jsonl").write_text(f"{line}\n")
    page = overview(root).page()
    assert names(page) == ["beta", "gamma", "alpha"]
    assert [str(row.talked and row.talked.astimezone(UTC)) for row in page.rows] == [
        "2026-03-02 09:00:00+00:00",
        "2025-01-01 09:00:00+00:00",
        "2023-11-14 22:13:20+00:00",
    ]


def test_the_newest_talk_is_told_in_its_own_zone(root: Path) -> None:
    """As the page of the talk tells it: 11:40 in Shanghai is not 3:40 there, wherever it runs."""
    line = '{"id": "m1", "n": 1, "role": "user", "content": "x", "ts": "2026-03-12T11:40:00+08:00"}'
    (root / "channels" / "beta" / "log.jsonl").write_text(f"{line}\n")
    assert str(overview(root).page("beta").rows[0].talked) == "2026-03-12 11:40:00+08:00"


def test_a_page_of_those_that_are_looked_for(root: Path) -> None:
    """By id or title, however it is written; the total is of all that were found."""
    all_of_them = overview(root)
    assert names(all_of_them.page("ALPH")) == ["alpha"]
    page = all_of_them.page("a", begin=1, count=1)
    assert (names(page), page.total) == (["beta"], 3)


def test_how_each_stands_is_read_again_where_it_changed(root: Path) -> None:
    """Entries, backlog, what is due; a file that was saved counts at once."""
    all_of_them = overview(root)
    row = all_of_them.page("gamma").rows[0]
    assert row.status is not None
    before = row.status
    assert all_of_them.page("gamma").rows[0].status is before
    (root / "channels" / "gamma" / "MEMORY.md").write_text("- one\n- two\n- three\n- four\n")
    row = all_of_them.page("gamma").rows[0]
    assert row.status is not None
    assert row.status.entries == 4


def test_a_new_channel_is_there_and_one_that_is_gone_is_not(root: Path) -> None:
    """Without a word to anybody."""
    all_of_them = overview(root)
    all_of_them.page()
    (root / "channels" / "delta").mkdir()
    (root / "channels" / "alpha").rename(root / "alpha")
    assert sorted(names(all_of_them.page())) == ["beta", "delta", "gamma"]


def test_what_takes_too_long_is_told_by_the_next_page(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page waits for no more than it has time for."""
    all_of_them = overview(root)
    monkeypatch.setattr(channel_overview, "_PATIENCE", -1.0)
    assert [row.status for row in all_of_them.page().rows] == [None] * 3
    monkeypatch.setattr(channel_overview, "_PATIENCE", 60.0)
    assert None not in [row.status for row in all_of_them.page().rows]


def test_thousands_are_looked_through_beside_the_page(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there is shown at once, and says that it is old."""
    monkeypatch.setattr(channel_overview, "_QUICK", -1.0)
    monkeypatch.setattr(channel_overview, "_FRESH", -1.0)
    all_of_them = overview(root)
    assert not all_of_them.page().is_old
    (root / "channels" / "delta").mkdir()
    page = all_of_them.page()
    assert page.is_old
    assert page.total == 3
    all_of_them.refresh()
    assert all_of_them.page().total == 4


def test_a_broken_channel_says_so(root: Path) -> None:
    """The others are shown as ever."""
    log = root / "channels" / "beta" / "log.jsonl"
    log.unlink()
    log.mkdir()
    page = overview(root).page()
    problems = {row.info.id: row.status and row.status.problem for row in page.rows}
    assert problems["beta"]
    assert problems["alpha"] == ""
