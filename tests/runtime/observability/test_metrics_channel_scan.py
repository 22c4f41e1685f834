"""What waits in channels, read again only where files changed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from pipimem import Message
from pipimem.notes.operations import Author, Decision, Hole, Job, Progress
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.metrics import ChannelScan
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")


@pytest.fixture
def store(tmp_path: Path) -> WorkspaceStore:
    WorkspaceStore.init(tmp_path)
    return WorkspaceStore.open(tmp_path)


def said(store: WorkspaceStore, channel: str, count: int) -> ChannelStore:
    opened = ChannelStore.open(store, channel, create=True)
    opened.append(
        [Message.user(f"message {n}", id=f"{channel}{n}", time=NOON) for n in range(count)]
    )
    return opened


def figures(scan: ChannelScan, now: float = 0.0) -> dict[str, float]:
    found = {metric.name: samples for metric, samples in scan.families(now)}
    return {name: samples[()] for name, samples in found.items() if () in samples}  # type: ignore[misc]


def test_backlog_holes_and_failures_are_added_up(store: WorkspaceStore) -> None:
    """One channel is behind, one is not, one has a hole and a job that failed."""
    said(store, "behind", 3)
    for name, progress, job in (
        ("fine", Progress(cursor=2), None),
        ("holed", Progress(cursor=2, holes=(Hole(1, 2, "refused"),)), Job(failures=2)),
    ):
        decision = Decision("consolidate", Author.RULE, progress=progress, job=job)
        said(store, name, 2).commit(decision, NOON)
    scan = ChannelScan(store)
    scan.advance(60)
    found = figures(scan)
    assert found[names.CHANNELS.name] == 3
    assert found[names.MESSAGES.name] == 7
    assert found[names.BACKLOG.name] == 3
    assert found[names.BACKLOG_CHANNELS.name] == 1
    assert found[names.SET_ASIDE.name] == 1
    assert dict(scan.families(0))[names.FAILING] == {("consolidate",): 1}


def test_a_channel_is_read_again_only_where_it_changed(
    store: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20,000 quiet channels cost their stamps."""
    first, _ = said(store, "a", 1), said(store, "b", 1)
    opened: list[str] = []
    open_channel = ChannelStore.open

    def counted(workspace: WorkspaceStore, name: str, **options: bool) -> ChannelStore:
        opened.append(name)
        return open_channel(workspace, name, **options)

    monkeypatch.setattr(ChannelStore, "open", counted)
    scan = ChannelScan(store)
    scan.advance(60)
    scan.advance(60)
    assert sorted(opened) == ["a", "b"]
    first.append([Message.user("more", time=NOON)])
    scan.advance(60)
    assert opened[2:] == ["a"]
    assert figures(scan)[names.BACKLOG.name] == 3


def test_what_there_was_no_time_for_is_told_and_read_next(store: WorkspaceStore) -> None:
    """A scrape never takes longer than it may; the figures say what they lack."""
    for name in ("a", "b", "c"):
        said(store, name, 1)
    scan = ChannelScan(store)
    scan.advance(0)
    assert (figures(scan)[names.UNREAD.name], figures(scan)[names.CHANNELS.name]) == (3, 0)
    scan.advance(60)
    assert (figures(scan)[names.UNREAD.name], figures(scan)[names.CHANNELS.name]) == (0, 3)


def test_how_long_the_quietest_has_been_quiet(store: WorkspaceStore) -> None:
    """Counted from its newest file, in real time: a replay's messages may be years old."""
    said(store, "a", 1)
    said(store, "b", 1)
    log = store.folder_of("a") / "log.jsonl"
    os.utime(log, (1_000, 1_000))
    for file in (store.folder_of("a") / ".pipimem").glob("*"):
        os.utime(file, (1_000, 1_000))
    scan = ChannelScan(store)
    scan.advance(60)
    assert figures(scan, 4_600.0)[names.BACKLOG_QUIET.name] == 3_600.0


def test_a_channel_that_is_gone_counts_no_more(store: WorkspaceStore) -> None:
    """Nor what waited in it."""
    said(store, "a", 1)
    scan = ChannelScan(store)
    scan.advance(60)
    store.remove(store.channels()[0])
    scan.advance(60)
    assert figures(scan)[names.BACKLOG.name] == 0


def test_a_channel_that_cannot_be_read_is_counted(store: WorkspaceStore) -> None:
    """The others are there all the same."""
    said(store, "a", 1)
    broken = said(store, "b", 1)
    broken.commit(Decision("refresh", Author.RULE, progress=Progress(cursor=1)), NOON)
    with closing(sqlite3.connect(broken.folder / ".pipimem" / "state.db")) as db:
        db.execute("pragma user_version = 99")
    scan = ChannelScan(store)
    scan.advance(60)
    found = figures(scan)
    assert (found[names.UNREADABLE.name], found[names.CHANNELS.name]) == (1, 2)


def test_channels_are_named_only_where_they_may_be(store: WorkspaceStore) -> None:
    """By default no label has the id of a conversation."""
    said(store, "cid Müller/7", 2)
    for channel_ids, expected in ((False, {}), (True, {("cid Müller/7",): 2})):
        scan = ChannelScan(store, channel_ids)
        scan.advance(60)
        assert dict(scan.families(0))[names.CHANNEL_BACKLOG] == expected
