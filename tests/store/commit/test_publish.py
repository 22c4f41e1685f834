"""A person saves at the worst instant, and nothing of either side is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author, Decision, Progress
from pipimem.state.channel_state import ChannelState
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import publish
from pipimem.store.disk import exchange
from pipimem.store.disk.files import TEMPORARY
from pipimem.store.history.undo import undo

Add = Callable[..., Decision]


def again(channel: ChannelStore) -> ChannelStore:
    """The channel as another process opens it."""
    return ChannelStore.open(channel.workspace, channel.channel_id, create=False)


def texts(channel: ChannelStore) -> list[str]:
    """The entries of MEMORY.md."""
    return [entry.text for entry in channel.notes().memory.entries]


def save_before_exchange(
    monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path], object],
    *,
    look: Callable[[Path], object] = lambda _: None,
    kill: bool = False,
) -> None:
    """Lets a person save right before the next exchange of MEMORY.md, and look right after it;
    `kill` ends the process then.
    """
    real, done = publish.displace, []

    def displace(prepared: Path, target: Path) -> Path | None:
        if target.name == File.MEMORY and not done:
            done.append(save(target))
            answer = real(prepared, target)
            look(target)
            if kill:
                raise KeyboardInterrupt
            return answer
        return real(prepared, target)

    monkeypatch.setattr(publish, "displace", displace)


def typed(path: Path) -> None:
    """A line at the end, in place."""
    with path.open("a") as file:
        file.write("- typed just now\n")


def renamed_over(path: Path) -> None:
    """The same as `sed -i` does it."""
    other = path.with_name("sed123")
    other.write_text(path.read_text() + "- typed just now\n")
    other.replace(path)


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("kill", [False, True])
@pytest.mark.parametrize("save", [typed, renamed_over])
def test_a_save_right_before_the_exchange_is_merged(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path], None], kill: bool, exchanges: bool,
) -> None:  # fmt: skip
    """Their line and ours, each once; also when the process is killed before it looks, also
    without exchange.
    """
    channel.commit(add("alice likes tea"), now)
    save_before_exchange(monkeypatch, save, kill=kill)
    if not exchanges:
        monkeypatch.setattr(exchange, "_renamed", lambda *_: 38)
    if kill:
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    else:
        channel.commit(add("bob likes tea"), now)
    second = again(channel)
    second.commit(add("carol likes tea"), now)
    assert sorted(texts(second)) == [
        "alice likes tea",
        "bob likes tea",
        "carol likes tea",
        "typed just now",
    ]
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))
    assert (channel.folder / "MEMORY.md").read_text() == second.notes().memory.text


def test_a_save_just_merged_stays_where_its_editor_goes_on_from_the_text_without_it(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They read the file between the exchange and the merge, then save three times: two lines
    more, one of them half like the first and elsewhere, then one less.
    """
    channel.commit(add("alice likes tea", "bob"), now)
    read: list[str] = []
    path = channel.folder / File.MEMORY
    save_before_exchange(
        monkeypatch,
        lambda file: file.write_text(file.read_text() + "- dave lives in Paris\n"),
        look=lambda file: read.append(file.read_text()),
    )
    channel.commit(add("the port is 8080"), now)
    assert "dave lives in Paris" in texts(channel)
    (text,) = read
    for old, new in (
        ("- alice", "- erin lives near Paris\n- alice"),
        ("- alice", "- heidi\n- alice"),
        ("- bob\n", ""),
    ):
        text = text.replace(old, new)
        path.write_text(text)
        assert "dave lives in Paris" in texts(channel)
    channel.commit(add("we ship on Friday"), now)
    assert sorted(texts(channel)) == [
        "alice likes tea",
        "dave lives in Paris",
        "erin lives near Paris",
        "heidi",
        "the port is 8080",
        "we ship on Friday",
    ]


def test_a_deletion_right_before_the_exchange_holds(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not learnt again from older talk."""
    channel.commit(add("alice likes tea", "the port is 8080", cursor=1), now)
    save_before_exchange(
        monkeypatch,
        lambda path: path.write_text(path.read_text().replace("- alice likes tea\n", "")),
    )
    channel.commit(add("bob likes cake"), now)
    assert texts(channel) == ["the port is 8080", "bob likes cake"]
    channel.commit(add("alice likes tea"), now)
    assert texts(again(channel)) == ["the port is 8080", "bob likes cake"]


def test_a_file_that_has_the_waiting_text_already_waits_no_more(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup brought it, after a kill before the exchange: two equal texts do not trade places
    with each commit.
    """
    channel.commit(add("alice likes tea"), now)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    (waiting,) = channel.folder.glob(f".*{TEMPORARY}")
    (channel.folder / File.MEMORY).write_bytes(waiting.read_bytes())
    second = again(channel)
    second.record_edits(now)
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))
    assert texts(second) == ["alice likes tea", "bob likes tea"]
    assert [record.task for record in second.changes()] == ["consolidate", "consolidate"]


def spoilt_by_a_bit(path: Path) -> None:
    """Still a text, and not the one that was written."""
    path.write_bytes(path.read_bytes().replace(b"alice", b"alicg"))


def spoilt_by_zeros(path: Path) -> None:
    """No text any more."""
    path.write_bytes(path.read_bytes()[:10] + bytes(20))


def spoilt_by_a_cut(path: Path) -> None:
    """Nothing is left of it."""
    path.write_bytes(b"")


def spoilt_by_a_pipe(path: Path) -> None:
    """TextFile it would wait for ever."""
    path.unlink()
    os.mkfifo(path)


def spoilt_by_a_link(path: Path) -> None:
    """It leads to itself."""
    path.unlink()
    path.symlink_to(path)


SPOILT = [spoilt_by_a_bit, spoilt_by_zeros, spoilt_by_a_cut, spoilt_by_a_pipe, spoilt_by_a_link]


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_waiting_text_that_was_damaged_is_written_again_from_the_journal(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch,
    spoilt: Callable[[Path], None],
) -> None:  # fmt: skip
    """A kill before the exchange, then a bit: the file was not exchanged yet, so what waits is
    no save of anybody's.
    """
    channel.commit(add("alice likes tea"), now)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    (waiting,) = channel.folder.glob(f".*{TEMPORARY}")
    spoilt(waiting)
    assert texts(again(channel)) == ["alice likes tea", "bob likes tea"]
    second = again(channel)
    second.commit(add("carol likes tea"), now)
    assert texts(second) == ["alice likes tea", "bob likes tea", "carol likes tea"]
    assert (channel.folder / File.MEMORY).read_text() == second.notes().memory.text
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))
    assert [record.task for record in second.changes()] == ["consolidate"] * 3


def test_a_waiting_text_does_not_replace_a_file_that_was_made_read_only(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever took the right to write away since the kill meant it; the text goes on waiting."""
    channel.commit(add("alice likes tea"), now)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    path = channel.folder / File.MEMORY
    path.chmod(0o400)
    before = path.read_text()
    again(channel).commit(Decision("watch", Author.RULE, (), Progress(cursor=4)), now)
    assert path.read_text() == before
    assert texts(again(channel)) == ["alice likes tea", "bob likes tea"]
    path.chmod(0o600)
    again(channel).record_edits(now)
    assert "bob likes tea" in path.read_text()


def test_a_damaged_text_beside_a_file_that_was_edited_takes_no_line_away(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell whether a person saved it: all lines of either stay."""
    channel.commit(add("alice likes tea"), now)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    (waiting,) = channel.folder.glob(f".*{TEMPORARY}")
    spoilt_by_a_bit(waiting)
    typed(channel.folder / File.MEMORY)
    second = again(channel)
    second.commit(add("carol likes tea"), now)
    wanted = {"alice likes tea", "bob likes tea", "carol likes tea", "typed just now"}
    assert wanted <= set(texts(second))
    assert (channel.folder / File.MEMORY).read_text() == second.notes().memory.text


def test_the_newest_line_deleted_after_a_kill_stays_deleted(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kill came after the exchange, so what was displaced lies there and is no damaged text."""
    channel.commit(add("alice likes tea"), now)
    old = (channel.folder / File.MEMORY).read_text()
    save_before_exchange(monkeypatch, lambda path: None, kill=True)
    with pytest.raises(KeyboardInterrupt):
        channel.commit(add("bob likes tea"), now)
    (channel.folder / File.MEMORY).write_text(old)
    second = again(channel)
    second.commit(add("carol likes tea"), now)
    assert texts(second) == ["alice likes tea", "carol likes tea"]


def test_what_is_no_text_beside_a_file_that_was_edited_takes_no_place(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell whether it was displaced: the person's file stays, and writing says what
    lies in the way.
    """
    channel.commit(add("alice likes tea"), now)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    (waiting,) = channel.folder.glob(f".*{TEMPORARY}")
    waiting.write_bytes(bytes(20))
    typed(channel.folder / File.MEMORY)
    edited = (channel.folder / File.MEMORY).read_bytes()
    second = again(channel)
    assert sorted(texts(second)) == ["alice likes tea", "bob likes tea", "typed just now"]
    for _ in range(2):
        with pytest.raises(UnreadableNote, match="NUL bytes"):
            second.commit(add("carol likes tea"), now)
        assert (channel.folder / File.MEMORY).read_bytes() == edited
    waiting.unlink()
    second.commit(add("carol likes tea"), now)
    assert sorted(texts(again(channel))) == [
        "alice likes tea",
        "bob likes tea",
        "carol likes tea",
        "typed just now",
    ]


@pytest.mark.parametrize(
    "left", ["", "# Memory\n\n## Fa", "# Memory\n\n## Facts\n\n- typed just now\n- ali"]
)
def test_half_of_a_save_deletes_nothing(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """A text that was cut in the exchange may be half of one: its new lines are kept, nothing is
    taken for deleted.
    """
    channel.commit(add("alice likes tea", "the port is 8080", "we ship on Thursday"), now)
    save_before_exchange(monkeypatch, lambda path: (path.read_text(), path.write_text(left)))
    channel.commit(add("bob likes cake"), now)
    found = {"alice likes tea", "the port is 8080", "we ship on Thursday", "bob likes cake"}
    assert set(texts(again(channel))) == found | ({"typed just now"} if "typed" in left else set())


def test_an_older_buffer_is_merged_from_where_it_began(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Loaded three commits ago, changed, and saved over all of them: what they added stays, what
    it deleted goes.
    """
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea", "the port is 8080"), now)
    buffer = path.read_text()
    for name in ("one", "two", "three"):
        channel.commit(add(f"number {name}"), now)
    path.write_text(buffer.replace("- the port is 8080\n", "- typed\n"))
    whole = ["alice likes tea", "typed", "number one", "number two", "number three"]
    for store in (channel, again(channel)):
        assert texts(store) == whole
    channel.commit(add("number four"), now)
    assert path.read_text() == channel.notes().memory.text
    assert texts(again(channel)) == [*whole, "number four"]
    channel.close()
    assert texts(again(channel)) == [*whole, "number four"]


def test_the_newest_bullet_replaced_by_another(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The same bytes come from an older buffer that got a line: it is kept, and deleting it once
    more, alone, holds.
    """
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea"), now)
    channel.commit(add("the port is 8080"), now)
    path.write_text(path.read_text().replace("the port is 8080", "something else entirely"))
    channel.commit(add("bob likes cake"), now)
    kept = ["alice likes tea", "something else entirely", "the port is 8080", "bob likes cake"]
    assert texts(again(channel)) == kept
    path.write_text(path.read_text().replace("- the port is 8080\n", ""))
    channel.commit(add("carol likes milk"), now)
    kept.remove("the port is 8080")
    assert texts(again(channel)) == [*kept, "carol likes milk"]


def test_a_text_seen_but_not_merged_is_no_ancestor(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Shown is not recorded: what a person typed first is still theirs when they save again."""
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea", "nobody likes this"), now)
    buffer = path.read_text()
    channel.commit(add("the port is 8080"), now)
    path.write_text(buffer + "- typed first\n")
    assert "typed first" in texts(channel)
    path.write_text(buffer.replace("- nobody likes this\n", "") + "- typed first\n- typed then\n")
    channel.commit(add("bob likes cake"), now)
    found = ["alice likes tea", "bob likes cake", "the port is 8080", "typed first", "typed then"]
    assert sorted(texts(again(channel))) == found


def test_a_text_is_known_as_soon_as_it_is_recorded(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process killed right then leaves nothing else of it; what is typed on top of it deletes
    nothing of ours.
    """
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea"), now)
    buffer = path.read_text()
    channel.commit(add("the port is 8080"), now)
    path.write_text(buffer + "- typed first\n")
    real = ChannelState.append

    def append(state: ChannelState, *args: Any) -> None:
        real(state, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ChannelState, "append", append)
        with pytest.raises(KeyboardInterrupt):
            channel.record_edits(now)
    path.write_text(buffer + "- typed first\n- typed then\n")
    again(channel).commit(add("bob likes cake"), now)
    found = ["alice likes tea", "bob likes cake", "the port is 8080", "typed first", "typed then"]
    assert sorted(texts(again(channel))) == found


def test_a_text_that_never_reached_the_file_is_no_ancestor(
    channel: ChannelStore, now: datetime, add: Add, impatient: None
) -> None:
    """While somebody keeps the file open, our texts wait; a line that resembles one of them is
    no rewording.
    """
    channel.commit(add("the port is 8080"), now)
    with (channel.folder / "MEMORY.md").open("a") as editor:
        channel.commit(add("alice likes green tea"), now)
        channel.commit(add("we ship on Thursday"), now)
        editor.write("- alina likes green tea\n")
    channel.commit(add("bob likes cake"), now)
    assert sorted(texts(again(channel))) == [
        "alice likes green tea", "alina likes green tea", "bob likes cake", "the port is 8080", "we ship on Thursday",
    ]  # fmt: skip


def test_a_file_somebody_keeps_open_is_left_alone(
    channel: ChannelStore, now: datetime, add: Add, impatient: None
) -> None:
    """The commit is acknowledged and shown; the file follows when the writer is done."""
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    with path.open("a") as editor:
        channel.commit(add("bob likes tea"), now)
        channel.commit(add("carol likes tea"), now)
        assert path.read_text() == "# Memory\n\n## Facts\n\n- alice likes tea\n"
        everybody = ["alice likes tea", "bob likes tea", "carol likes tea"]
        assert texts(channel) == texts(again(channel)) == everybody
        editor.write("- typed at last\n")
    assert sorted(texts(again(channel))) == [*everybody, "typed at last"]
    channel.commit(add("dave likes tea"), now)
    assert sorted(texts(again(channel))) == [*everybody, "dave likes tea", "typed at last"]
    assert path.read_text() == channel.notes().memory.text
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))


def test_a_slow_save_into_the_displaced_file_is_waited_for(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor opened the file right before the exchange, and goes on writing to what is no
    longer there.
    """
    channel.commit(add("alice likes tea", "the port is 8080"), now)
    threads: list[threading.Thread] = []

    def slowly(path: Path) -> None:
        text, is_open = path.read_text(), threading.Event()

        def save() -> None:
            with path.open("w") as file:
                is_open.set()
                for line in (text + "- typed slowly\n").splitlines(keepends=True):
                    file.write(line)
                    file.flush()
                    threading.Event().wait(0.02)

        threads.append(threading.Thread(target=save))
        threads[0].start()
        is_open.wait(60)

    save_before_exchange(monkeypatch, slowly)
    channel.commit(add("bob likes cake"), now)
    threads[0].join()
    assert sorted(texts(again(channel))) == [
        "alice likes tea",
        "bob likes cake",
        "the port is 8080",
        "typed slowly",
    ]


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_displaced_file_that_is_still_open_keeps_its_name_to_itself(
    channel: ChannelStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    exchanges: bool,
    impatient: None,
) -> None:
    """The text that displaced it is put in place once more, by an undo: what is typed at last is
    not lost.
    """
    if not exchanges:
        monkeypatch.setattr(exchange, "_renamed", lambda *_: 38)
    channel.commit(add("alice likes tea"), now)
    editors = []
    with monkeypatch.context() as patched:
        save_before_exchange(patched, lambda path: editors.append(path.open("a")))
        channel.commit(add("bob likes cake"), now)
    channel.commit(add("carol likes milk"), now)
    undo(channel, None, now)
    channel.commit(add("dave likes pie"), now)
    with editors[0] as editor:
        editor.write("- typed slowly\n")
    channel.record_edits(now)
    assert sorted(texts(again(channel))) == [
        "alice likes tea",
        "bob likes cake",
        "dave likes pie",
        "typed slowly",
    ]
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))


def test_a_shrink_by_hand_is_told(channel: ChannelStore, now: datetime, add: Add) -> None:
    """It is done, its change says so, and it can be undone."""
    channel.commit(add("alice likes tea", "the port is 8080", "we ship on Thursday"), now)
    path = channel.folder / "MEMORY.md"
    whole = path.read_text()
    path.write_text("# Memory\n")
    channel.commit(add("bob likes cake"), now)
    edit = next(record for record in channel.changes() if record.author is Author.EDITOR)
    assert "MEMORY.md lost more than half of its text by hand" in edit.notes[0]
    assert channel.text_of(edit.files[File.MEMORY].before) == whole


@pytest.mark.parametrize("learnt", [False, True])
def test_an_editor_who_takes_long_between_two_halves_of_a_save_loses_nothing(
    channel: ChannelStore, now: datetime, add: Add, learnt: bool
) -> None:
    """The file is gone for longer than anybody waits; then it comes back as the editor had it."""
    channel.commit(add("alice likes tea", "the port is 8080", "we ship on Thursday"), now)
    path = channel.folder / "MEMORY.md"
    buffer = path.read_text()
    path.unlink()
    os.utime(channel.folder, (1_700_000_000, 1_700_000_000))
    channel.record_edits(now)
    if learnt:
        channel.commit(add("bob likes cake"), now)
    path.write_text(buffer + "- typed\n")
    channel.commit(add("carol likes milk"), now)
    found = {
        "alice likes tea",
        "the port is 8080",
        "we ship on Thursday",
        "typed",
        "carol likes milk",
    }
    assert set(texts(again(channel))) == found | ({"bob likes cake"} if learnt else set())


def test_a_tiny_file_that_was_emptied_stays_so(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Its heading too, and an older text was tinier still: nothing comes back with the next
    commits.
    """
    path = channel.folder / "MEMORY.md"
    with path.open("a") as file:
        file.write("- typed first\n")
    channel.commit(add("alice likes tea"), now)
    other = path.with_name("sed123")
    other.write_text("")
    other.replace(path)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert texts(channel) == texts(again(channel)) == []
    for name in ("bob likes cake", "carol likes milk"):
        channel.commit(add(name), now)
    assert texts(again(channel)) == ["bob likes cake", "carol likes milk"]
