"""Killed at any instant: files are whole, a commit is all or nothing, acknowledged means
durable.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest
from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import (
    AddBlock,
    Author,
    Bullet,
    Decision,
    FoldBlocks,
    Invalidate,
    SetSection,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import exchange
from pipimem.store.workspace import WorkspaceStore

CALLS = ("write", "fsync", "fdatasync", "replace", "unlink", "ftruncate", "rename")
Facts = tuple[str, str, str, str, int, int]


def facts(root: Path) -> Facts:
    """What a reader sees after a restart: three texts, the archive, cursor and sequence."""
    channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
    notes = channel.notes()
    return (
        notes.memory.text, notes.session.text, notes.history.text, channel.archive().text,
        notes.ledger.cursor, notes.ledger.sequence,
    )  # fmt: skip


def on_disk(root: Path) -> tuple[str, ...]:
    """The same three texts, once the next commit has put the folder in order."""
    folder = root / "channels" / "team"
    return tuple((folder / file).read_text() for file in (File.MEMORY, File.SESSION, File.HISTORY))


def prepared(root: Path, now: datetime, add: Callable[..., Decision]) -> Decision:
    """A channel with one block of history; the answer is a decision that touches every file."""
    (root / "channels").mkdir(parents=True)
    channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
    block = AddBlock(now, now + timedelta(hours=1), "tea", (Bullet("they spoke of tea"),))
    first = add("alice likes tea")
    channel.commit(
        replace(first, operations=(*first.operations, block, SetSection("Next Steps", ("one",)))),
        now,
    )
    heading = channel.notes().history.document.sections[-1].title
    fold = FoldBlocks("2026-03", "tea", (Bullet("tea, mostly"),), (heading,))
    decision = add("bob likes tea", cursor=7)
    return replace(
        decision, operations=(*decision.operations, SetSection("Next Steps", ("two",)), fold)
    )


def killing(at: int, *, torn: bool) -> None:
    """Lets the process die at its `at`-th call that changes the disk; `torn` writes half of it
    first.
    """
    count = 0

    def deadly(module: ModuleType, name: str) -> None:
        real = getattr(module, name)

        def call(*args: object, **options: object) -> object:
            nonlocal count
            count += 1
            if count == at:
                if torn and name == "write":
                    descriptor, data = args
                    real(descriptor, bytes(data)[: len(bytes(data)) // 2])  # type: ignore[arg-type]
                os._exit(9)
            return real(*args, **options)

        setattr(module, name, call)

    for name in CALLS:
        deadly(os, name)
    deadly(exchange, "_renamed")


def in_child(work: Callable[[], None]) -> bool:
    """Runs `work` in a process of its own; whether it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - nothing of the child may run on in the parent's tests
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 0


@pytest.mark.parametrize("torn", [False, True])
def test_a_commit_killed_anywhere_is_all_or_nothing(
    tmp_path: Path, now: datetime, add: Callable[..., Decision], torn: bool
) -> None:
    """At each write, sync, rename and unlink in turn; the next start sees the old facts or the
    new ones.
    """
    seen = set()
    for at in range(1, 200):
        root = tmp_path / f"{torn}-{at}"
        decision = prepared(root, now, add)
        before = facts(root)

        listen, ready = os.pipe()

        def work(
            root: Path = root, decision: Decision = decision, at: int = at, ready: int = ready
        ) -> None:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            killing(at, torn=torn)
            channel.commit(decision, now)
            os.write(ready, b"x")

        finished = in_child(work)
        os.close(ready)
        acknowledged = os.read(listen, 1) == b"x"
        os.close(listen)
        after = facts(root)
        assert after[5] in (1, 2)
        is_done = after[5] == 2
        assert is_done or after == before
        if is_done:
            assert "- bob likes tea" in after[0]
            assert "- two" in after[1]
            assert "- tea, mostly" in after[2]
            assert after[4] == 7
        assert is_done or not acknowledged
        # The next commit heals the files themselves, and nothing stands twice.
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        channel.commit(decision, now)
        channel.commit(add("carol likes tea"), now)
        memory, session, history = on_disk(root)
        assert memory.count("- bob likes tea") == memory.count("- carol likes tea") == 1
        assert session.count("- two") == history.count("- tea, mostly") == 1
        assert channel.archive().text.count("they spoke of tea") == 1
        assert not list(channel.folder.glob(".*tmp*"))
        seen.add(is_done)
        if finished:
            break
    assert finished
    assert seen == {False, True}


def test_an_expiry_killed_anywhere_is_in_the_archive_once_or_still_in_memory(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """The archive is whole before MEMORY.md goes in, though HISTORY.md is not touched at all."""
    for at in range(1, 200):
        root = tmp_path / str(at)
        (root / "channels").mkdir(parents=True)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
        channel.commit(add("alice likes tea"), now)
        [entry] = channel.notes().memory.entries
        over = Decision(
            "expire",
            Author.RULE,
            (Invalidate(entry.target, "stale", still_so=True, archived=True),),
        )

        def work(root: Path = root, over: Decision = over, at: int = at) -> None:
            mine = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            killing(at, torn=False)
            mine.commit(over, now)

        finished = in_child(work)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        channel.commit(add("carol likes tea"), now)
        in_memory = (channel.folder / File.MEMORY).read_text().count("- alice likes tea")
        assert (in_memory, channel.archive().text.count("- alice likes tea")) in ((1, 0), (0, 1))
        if finished:
            break
    assert finished


def test_a_checkpoint_killed_anywhere_changes_nothing(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """Closing is housekeeping: what is known before and after is the same."""
    for at in range(1, 100):
        root = tmp_path / str(at)
        prepared(root, now, add)
        before = facts(root)

        def work(root: Path = root, at: int = at) -> None:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            channel.notes()
            killing(at, torn=True)
            channel.checkpoint()

        finished = in_child(work)
        assert facts(root) == before
        if finished:
            break
    assert finished


def test_a_transcript_killed_anywhere_keeps_what_was_there(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """Half a turn is cut; the same turn again is whole and once."""
    for at in range(1, 30):
        root = tmp_path / str(at)
        prepared(root, now, add)
        turn = [Message.user("hello", id="a"), Message.assistant("hi", id="b")]

        def work(root: Path = root, at: int = at, turn: list[Message] = turn) -> None:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            killing(at, torn=True)
            channel.append(turn)

        finished = in_child(work)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        channel.append(turn)
        assert [(message.id, message.number) for message in channel.transcript.messages()] == [
            ("a", 1),
            ("b", 2),
        ]
        if finished:
            break
    assert finished


def test_a_forgetting_killed_anywhere_is_finished(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """Begun means done: the next holder of the channel takes it to its end."""
    for at in range(1, 200):
        root = tmp_path / str(at)
        decision = prepared(root, now, add)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        channel.append([Message.user("bob likes tea, he says"), Message.user("and cake")])
        channel.commit(decision, now)
        channel.close()

        def work(root: Path = root, at: int = at) -> None:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            channel.notes()
            killing(at, torn=True)
            channel.forget("Bob likes  tea", keep_transcript=False, now=now)

        finished = in_child(work)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        begun = finished or (channel.folder / ".pipimem" / "forget.json").exists()
        channel.commit(add("carol likes tea"), now)
        left = [
            path
            for path in channel.folder.rglob("*")
            if path.is_file() and b"bob likes tea" in path.read_bytes()
        ]
        if begun:
            assert left == []
        elif not left:  # killed between the last step and the removal of the plan
            assert at > 1
        assert not (channel.folder / ".pipimem" / "forget.json").exists()
        assert "- alice likes tea" in channel.notes().memory.text
        assert [message.number for message in channel.transcript.messages()] == [1, 2]
        if finished:
            break
    assert finished


def test_a_disk_full_at_any_step_is_all_or_nothing(
    tmp_path: Path, now: datetime, add: Callable[..., Decision], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raised: nothing of it is there. Returned: all of it is."""
    for at in range(1, 200):
        root = tmp_path / str(at)
        decision = prepared(root, now, add)
        before = facts(root)
        channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        count = 0

        def filling(name: str, at: int = at) -> Callable[..., object]:
            real = getattr(os, name)

            def call(*args: object, **options: object) -> object:
                nonlocal count
                count += 1
                if count >= at:
                    raise OSError(28, "No space left on device")
                return real(*args, **options)

            return call

        for name in ("write", "fsync", "fdatasync", "replace"):
            monkeypatch.setattr(os, name, filling(name))
        try:
            channel.commit(decision, now)
            done = True
        except StoreError:
            done = False
        monkeypatch.undo()
        assert facts(root)[5] == (2 if done else 1)
        assert done or facts(root) == before
        channel.commit(decision, now)
        assert channel.notes().ledger.sequence == 2
        assert on_disk(root)[0].count("- bob likes tea") == 1
        if count < at:
            break
    assert count < at


def test_two_processes_commit_at_once_and_lose_nothing(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """Three processes, sixty facts and sixty turns, and a hand in the file in between."""
    root = tmp_path / "bot"
    prepared(root, now, add)
    path = root / "channels" / "team" / "MEMORY.md"
    children = []
    # To fork a large process takes longer than twenty commits: all wait here until the last is
    # there.
    gate, opener = os.pipe()
    for part in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(opener)
                os.read(gate, 1)
                channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
                for number in range(20):
                    channel.commit(add(f"fact {part} {number} {'abc'[part] * 9}"), now)
                    channel.append([Message.user("x", id=f"{part}-{number}")])
                channel.close()
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(opener)
    os.close(gate)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
    texts = [entry.text for entry in channel.notes().memory.entries]
    assert len(texts) == len(set(texts)) == 61
    assert [record.sequence for record in channel.journal_records()] == list(range(1, 62))
    assert channel.transcript.last_number == 60
    assert path.read_text() == channel.notes().memory.text
    (channel.folder / ".pipimem" / "ledger.json").unlink()
    rebuilt: Ledger = ChannelStore.open(WorkspaceStore.open(root), "team", create=False).ledger
    assert rebuilt == channel.ledger
    assert Author.EDITOR not in {record.author for record in channel.journal_records()}


def test_a_reader_beside_a_writer_sees_whole_commits(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """A commit in another process never looks like a person's edit, at whatever instant it is
    read.
    """
    root = tmp_path / "bot"
    prepared(root, now, add)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            for number in range(60):
                channel.commit(add(f"fact {number}", cursor=number + 10), now)
            code = 0
        finally:
            os._exit(code)
    reader, seen = ChannelStore.open(WorkspaceStore.open(root), "team", create=False), set()
    while not seen or os.waitpid(child, os.WNOHANG) == (0, 0):
        notes = reader.notes()
        ledger = notes.ledger
        assert not ledger.tombstones
        assert Trust.HUMAN not in {record.trust for record in ledger.records.values()}
        # Text and ledger are of one commit.
        assert len(notes.memory.entries) == sum(
            record.kind == "fact" for record in ledger.records.values()
        )
        seen.add(ledger.cursor)
    assert len(seen) > 3
    assert reader.notes().ledger.cursor == 69
