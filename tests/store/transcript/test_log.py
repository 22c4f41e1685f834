"""The transcript: appended once, read from anywhere."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.disk import appended_files, syscalls
from pipimem.store.disk.appended_files import set_aside
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.transcript import log as transcript
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed


@pytest.fixture
def log(tmp_path: Path) -> Transcript:
    """An empty transcript."""
    return opened(tmp_path)


def opened(folder: Path) -> Transcript:
    """A transcript as another process would open it."""
    return Transcript(folder, FolderLock(folder / "lock"))


def said(count: int, start: int = 1) -> list[Message]:
    """Numbered messages of one user."""
    return [
        Message.user(f"text {number}", id=f"id{number}") for number in range(start, start + count)
    ]


def test_messages_are_numbered_and_come_back(log: Transcript, now: datetime) -> None:
    """What `append` answers is what reading gives, also in another process."""
    stored = log.append(
        [Message.user("你好", id="a", time=now, speaker="alice"), Message.assistant("hi", time=now)]
    )
    assert [(message.id, message.number) for message in stored] == [("a", 1), ("m2", 2)]
    assert tuple(opened(log.folder).messages()) == stored


def test_a_line_is_what_people_grep(log: Transcript, now: datetime) -> None:
    """Keys in a fixed order, Chinese as it is, time with its offset."""
    log.append([Message("user", "上线窗口", "a", now, "林晓", session="s1")])
    assert log.path.read_text() == (
        '{"id": "a", "n": 1, "ts": "2026-03-02T09:10:00+08:00", "role": "user", "name": "林晓", '
        '"content": "上线窗口", "session": "s1"}\n'
    )
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_message_delivered_twice_is_kept_once(log: Transcript) -> None:
    """Also within one delivery, after a restart, and in a rotated part."""
    assert len(log.append([*said(3), *said(2)])) == 3
    assert log.append(said(3)) == ()
    assert [message.id for message in opened(log.folder).append(said(4))] == ["id4"]


def test_an_id_of_ours_never_meets_a_platforms(log: Transcript) -> None:
    """A platform may number its messages m2, too."""
    log.append([Message.user("a", id="m2")])
    assert [message.id for message in log.append([Message.user("b"), Message.user("c")])] == [
        "m2+",
        "m3",
    ]


@given(
    st.lists(
        st.builds(
            Message,
            role=st.sampled_from(["user", "assistant", "tool", "system"]),
            content=st.text(st.characters(exclude_categories=())),
            id=st.text(min_size=1),
            speaker=st.text(),
            session=st.text(),
            number=st.integers(1, 10**9),
            time=st.none() | st.just(datetime.fromisoformat("2026-03-02T09:10:00+08:00")),
        ),
        max_size=5,
    )
)
def test_any_message_survives_its_line(messages: list[Message]) -> None:
    """Line ends, quotes, NULs and halves of surrogate pairs included, each on one line."""
    for message in messages:
        data = line(message)
        assert data.count(b"\n") == 1
        # A high and a low half side by side are one character to every reader of JSON.
        whole = json.loads(json.dumps([message.content]))[0]
        assert parsed(data) == replace(message, content=whole)


def test_a_window_is_what_lies_between(log: Transcript) -> None:
    """After the cursor, up to a number."""
    log.append(said(10))
    assert [message.number for message in log.window(7)] == [8, 9, 10]
    assert [message.number for message in log.window(2, 4)] == [3, 4]
    assert list(log.window(10)) == []


def test_a_window_is_found_in_a_large_log(log: Transcript) -> None:
    """From any place, over lines of very different length."""
    log.append(
        [
            Message.user("x" * (n % 700) ** 2 if n % 97 == 0 else "短", id=str(n))
            for n in range(1, 3001)
        ]
    )
    for after in (0, 1, 96, 97, 1500, 2998, 2999, 3000):
        assert [m.number for m in log.window(after, after + 3)] == [
            number for number in range(after + 1, after + 4) if number <= 3000
        ]


def test_a_full_log_is_set_aside_and_still_read(
    log: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers and known ids go on over the parts."""
    monkeypatch.setattr(transcript, "_ROTATE_AT", 500)
    for start in range(1, 41, 4):
        log.append(said(4, start))
    assert [part.name for part in log.parts()][:2] == ["log-0001.jsonl", "log-0002.jsonl"]
    again = opened(log.folder)
    assert again.last_number == 40
    assert again.append(said(2, 3)) == ()
    assert [message.number for message in again.messages()] == list(range(1, 41))
    for after in range(41):
        assert [message.number for message in again.window(after)] == list(range(after + 1, 41))


def test_what_a_crash_tore_is_cut_back(log: Transcript) -> None:
    """The next append starts on a clean line and takes the number of the torn one."""
    log.append(said(2))
    with log.path.open("ab") as file:
        file.write(b'{"id": "id3", "n": 3, "ts": "", "ro')
    again = opened(log.folder)
    assert again.last_number == 2
    assert [message.number for message in again.append(said(1, 3))] == [3]
    assert [message.id for message in again.messages()] == ["id1", "id2", "id3"]


def test_a_last_line_without_an_end_is_kept(log: Transcript) -> None:
    """A whole message that only lacks its line end was acknowledged by somebody."""
    log.append(said(2))
    log.path.write_bytes(log.path.read_bytes()[:-1])
    again = opened(log.folder)
    again.append(said(1, 3))
    assert [message.number for message in again.messages()] == [1, 2, 3]


def test_broken_lines_are_passed_over_and_counted(log: Transcript) -> None:
    """A hand in the file costs that line, not the rest."""
    log.append(said(2))
    with log.path.open("ab") as file:
        file.write(b'\xff\xfe garbage\n{"id": 7}\n\n[[[[\n' + b"[" * 100_000 + b"\n")
    again = opened(log.folder)
    assert again.last_number == 2
    again.append(said(1, 3))
    assert [message.number for message in again.messages()] == [1, 2, 3]
    assert again.damaged() == 4


def test_a_log_of_empty_lines_is_opened_once_to_find_the_newest_number(
    log: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each of them: 200,000 took 26 s."""
    log.append(said(1))
    with log.path.open("ab") as file:
        file.write(b"\n" * 1_000)
    opened_files: list[Path] = []

    def counted(path: Path) -> object:
        opened_files.append(path)
        return syscalls.reading(path)

    for module in (transcript, appended_files):
        monkeypatch.setattr(module, "reading", counted)
    assert opened(log.folder).last_number == 1
    assert len(opened_files) < 10


def test_two_writers_see_each_other(log: Transcript) -> None:
    """Another process's messages are neither overwritten nor stored twice."""
    other = opened(log.folder)
    log.append(said(2))
    other.append(said(2, 2))
    log.append(said(3, 3))
    assert [(m.number, m.id) for m in log.messages()] == [(n, f"id{n}") for n in range(1, 6)]
    assert other.last_number == log.last_number == 5


def test_a_log_written_anew_is_read_anew(log: Transcript) -> None:
    """A forgetting shortens lines; that the file is as long again, under the same inode, proves
    nothing.
    """
    log.append([*said(3), Message.user("long " * 50, id="long")])
    with log.path.open("r+b") as file:
        kept = [line(message) for message in log.messages()][:3]
        file.truncate(0)
        file.write(b"".join(kept))
        for number in range(4, 9):
            file.write(line(replace(Message.user("x" * 60, id=f"b{number}"), number=number)))
    stored = log.append([Message.user("again", id="b5"), Message.user("new", id="new")])
    assert [(message.id, message.number) for message in stored] == [("new", 9)]


def overwritten(path: Path, data: bytes) -> None:
    """Other bytes in a file under the same inode, with the times it had."""
    before = path.stat()
    time.sleep(0.02)  # a clock of files may stand still for so long
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def numbered(ids: list[str], start: int = 1) -> bytes:
    """Lines of messages that are all of the same length."""
    return b"".join(
        line(replace(Message.user("x" * 9, id=name), number=number))
        for number, name in enumerate(ids, start)
    )


@pytest.mark.parametrize("ending", [b"\n", b"}\n"])
def test_only_the_bytes_say_that_a_log_has_grown(log: Transcript, ending: bytes) -> None:
    """Neither the size nor an empty last line: what stood before it may be another's talk."""
    log.path.write_bytes(numbered(["a1", "a2"]) + ending)
    assert log.append([Message.user("x" * 9, id="a1")]) == ()
    log.path.write_bytes(numbered(["b1", "b2"]) + ending + numbered(["b3"], start=3))
    assert log.append([Message.user("x" * 9, id="b1")]) == ()


def test_another_log_of_the_same_size_and_times_is_read_anew(log: Transcript) -> None:
    """Under the same inode too: a message that it has is not stored twice, one that it lacks is
    stored.
    """
    log.append([Message.user("x" * 9, id=name) for name in ("a1", "a2", "zz")])
    before = log.path.stat()
    overwritten(log.path, numbered(["b1", "b2", "zz"]))
    after = log.path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )
    stored = log.append([Message.user("x" * 9, id=name) for name in ("b1", "a1")])
    assert [message.id for message in stored] == ["a1"]


def test_the_last_line_alone_does_not_prove_what_lies_before_it(log: Transcript) -> None:
    """A log with the same last line at the same byte, and more behind it, may be another one."""
    log.append([Message.user("x" * 9, id=name) for name in ("a1", "a2", "zz")])
    log.path.write_bytes(numbered(["b1", "b2", "zz", "b4"]))
    stored = log.append([Message.user("x" * 9, id=name) for name in ("b1", "b4", "a1")])
    assert [(message.id, message.number) for message in stored] == [("a1", 5)]


def test_an_older_part_put_back_is_read(log: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its messages are known again, though `log.jsonl` is the same."""
    log.append(said(3))
    set_aside(log.path)
    log.append(said(1, start=4))
    part = log.parts()[0]
    aside = part.rename(log.folder / "aside")
    again = opened(log.folder)
    assert again.append(said(1, start=4)) == ()
    aside.rename(part)
    assert again.append(said(3)) == ()


def test_a_log_that_was_away_meanwhile_goes_on_behind_its_newest(log: Transcript) -> None:
    """The same bytes are back; what the other log's newest number was does not count."""
    log.append(said(3))
    data = log.path.read_bytes()
    log.path.write_bytes(numbered(["other"]))
    assert log.last_number == 1
    log.path.write_bytes(data)
    assert [message.number for message in log.append(said(1, start=4))] == [4]


def test_a_number_does_not_come_again(log: Transcript) -> None:
    """What is known to have been said has numbers, also where the log was cut or is gone."""
    log.append(said(3))
    log.path.unlink()
    assert [message.number for message in log.append(said(2), after=3)] == [4, 5]
    assert [message.number for message in log.append(said(3), after=3)] == [6]


def test_the_newest_number_is_known_right_after_a_rotation(log: Transcript) -> None:
    """A process that ended then left parts and no `log.jsonl`."""
    log.append(said(3))
    set_aside(log.path)
    assert opened(log.folder).last_number == 3
    assert [message.number for message in opened(log.folder).append(said(1, start=7))] == [4]


def test_two_processes_at_once_lose_nothing(log: Transcript) -> None:
    """Two hundred turns from four processes: each once, numbered without a gap."""
    children = []
    for part in range(4):
        child = os.fork()
        if child == 0:
            mine = opened(log.folder)
            for number in range(50):
                mine.append([Message.user("x", id=f"{part}-{number}")])
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    found = list(log.messages())
    assert [message.number for message in found] == list(range(1, 201))
    assert len({message.id for message in found}) == 200


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_failed_append_leaves_nothing(
    log: Transcript, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Half a turn is cut back; the same messages can be given again."""
    log.append(said(2))
    before = log.path.read_bytes()
    real = os.write

    def refuse(descriptor: int, data: bytes = b"") -> int:
        if call == "write":
            real(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(StoreError, match="disk is full"):
        log.append(said(2, 3))
    monkeypatch.undo()
    assert log.path.read_bytes() == before
    assert [message.number for message in log.append(said(2, 3))] == [3, 4]


def test_times_are_kept_to_the_second(log: Transcript, now: datetime) -> None:
    """What is answered is what will be read."""
    stored = log.append([Message.user("a", time=now + timedelta(microseconds=5))])
    assert stored[0].time == now


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00", "9999-12-31T23:59:00-12:00", "0001-01-01T00:00:00+14:00"]
)
def test_a_time_nobody_can_reckon_with_is_an_unknown_one(log: Transcript, time: str) -> None:
    """The message counts, its year 1 or 9999 is a broken clock."""
    log.append([Message.user("hello", time=datetime.fromisoformat(time))])
    assert [(message.content, message.time) for message in opened(log.folder).messages()] == [
        ("hello", None)
    ]


def test_a_time_without_offset_is_a_local_one(log: Transcript) -> None:
    """Lines that a hand or a script wrote can be compared with ours."""
    log.path.write_text(
        '{"id": "a", "n": 1, "ts": "2026-03-02", "role": "user", "content": "x"}\n',
        encoding="utf-8",
    )
    assert [message.time for message in log.messages()] == [datetime(2026, 3, 2).astimezone()]


def test_an_id_of_the_hosts_that_looks_like_ours_is_another_message(log: Transcript) -> None:
    """A host names its users' messages m1, m2 … and leaves the bot's without an id."""
    turns = []
    for number in range(1, 4):
        turns += [Message.user(f"question {number}", id=f"m{number}"), Message.assistant("yes")]
    for turn in zip(turns[::2], turns[1::2], strict=True):
        log.append(turn)
    stored = list(opened(log.folder).messages())
    assert [message.content for message in stored] == [message.content for message in turns]
    assert len({message.id for message in stored}) == len(stored)
    users = [message for message in turns if message.role == "user"]
    assert opened(log.folder).append(users) == ()
