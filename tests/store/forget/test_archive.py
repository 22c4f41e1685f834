"""The archive is cleaned beside people who save it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from pipimem.errors import StoreError
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import TEMPORARY
from pipimem.store.forget import archive
from pipimem.store.forget.traces import traces
from pipimem.store.history.edit_notices import edit_notices

Add = Callable[..., Decision]
BEFORE = "## March\n\n- tea is green\n- the code is 555 0199\n- milk is white\n"
AFTER = "## March\n\n- tea is green\n- milk is white\n"


@pytest.fixture
def archived(channel: ChannelStore, now: datetime, add: Add) -> ChannelStore:
    """A channel whose archive holds what is to be forgotten."""
    channel.commit(add("bob likes cake", "his code is 555 0199"), now)
    (channel.folder / File.ARCHIVE).write_text(BEFORE)
    return channel


def forgets(channel: ChannelStore, now: datetime) -> None:
    """Forgets the code."""
    channel.forget("555 0199", keep_transcript=False, now=now)


def is_left(channel: ChannelStore) -> bool:
    """Whether it still stands anywhere, or a file of ours lies beside the archive."""
    return any(traces([channel.folder], "555 0199")) or any(channel.folder.glob(f".*{TEMPORARY}"))


def save_before_exchange(
    monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], object], *, kill: bool = False
) -> None:
    """Lets a person save right before the next exchange of the archive; `kill` ends the process
    after it.
    """
    real, done = archive.displace, []

    def displace(prepared: Path, target: Path) -> Path | None:
        if not done:
            done.append(save(target))
        answer = real(prepared, target)
        if kill:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(archive, "displace", displace)


def typed(path: Path) -> None:
    """A line at the end, in place."""
    with path.open("a") as file:
        file.write("- typed just now\n")


def renamed_over(path: Path) -> None:
    """The same as `sed -i` does it."""
    other = path.with_name("sed123")
    other.write_text(path.read_text() + "- typed just now\n")
    other.replace(path)


def deleted(path: Path) -> None:
    """A line taken out, another added."""
    path.write_text(path.read_text().replace("- tea is green\n", "") + "- typed just now\n")


@pytest.mark.parametrize("kill", [False, True])
@pytest.mark.parametrize("save", [typed, renamed_over, deleted])
def test_a_save_right_before_the_exchange_is_merged(
    archived: ChannelStore,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path], None],
    kill: bool,
) -> None:
    """Also when the process is killed before it looks: what was displaced is not removed unread."""
    with monkeypatch.context() as patched:
        save_before_exchange(patched, save, kill=kill)
        if kill:
            with pytest.raises(KeyboardInterrupt):
                forgets(archived, now)
        else:
            forgets(archived, now)
    again = ChannelStore.open(archived.workspace, "team", create=False)
    again.record_edits(now)
    whole = AFTER.replace("- tea is green\n", "") if save is deleted else AFTER
    assert again.archive().text == whole + "- typed just now\n"
    assert not is_left(again)


def test_what_is_archived_after_a_kill_stays(
    archived: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive went on beside the displaced text of a forgetting that was killed."""
    with monkeypatch.context() as patched:
        save_before_exchange(patched, typed, kill=True)
        with pytest.raises(KeyboardInterrupt):
            forgets(archived, now)
    with (archived.folder / File.ARCHIVE).open("a") as archive:
        archive.write("## April\n\n- rain\n")
    again = ChannelStore.open(archived.workspace, "team", create=False)
    again.record_edits(now)
    text = again.archive().text
    assert [text.count(line) for line in ("tea", "milk", "April", "rain", "typed just now")] == [
        1
    ] * 5
    assert not is_left(again)


def test_an_editor_halfway_through_the_archive_stops_it(
    archived: ChannelStore, now: datetime, impatient: None
) -> None:
    """Nothing is forgotten, and that is said; done once the editor is."""
    path = archived.folder / File.ARCHIVE
    with path.open("w") as editor:
        editor.write(BEFORE[:40])
        editor.flush()
        with pytest.raises(StoreError, match="Nothing was forgotten"):
            forgets(archived, now)
        editor.write(BEFORE[40:] + "- typed\n")
    assert "555 0199" in (archived.folder / File.MEMORY).read_text()
    forgets(archived, now)
    assert path.read_text() == AFTER + "- typed\n"
    assert not is_left(archived)


def test_an_editor_who_ends_within_two_seconds_is_waited_for(
    archived: ChannelStore, now: datetime
) -> None:
    """Like one who saves a note."""
    path = archived.folder / File.ARCHIVE
    with path.open("w") as editor:
        editor.write(BEFORE[:40])
        editor.flush()
        rest = threading.Timer(
            0.2, lambda: (editor.write(BEFORE[40:] + "- typed\n"), editor.close())
        )
        rest.start()
        forgets(archived, now)
        rest.join()
    assert path.read_text() == AFTER + "- typed\n"
    assert not is_left(archived)


def test_an_editor_who_goes_on_writing_to_the_displaced_archive_loses_nothing(
    archived: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    """For longer than anybody waits: the forgetting stays under way, and ends with a later
    writing.
    """
    editors = []
    with monkeypatch.context() as patched:
        save_before_exchange(patched, lambda path: editors.append(path.open("a")))
        with pytest.raises(StoreError, match="goes with whatever is written next"):
            forgets(archived, now)
    with editors[0] as editor:
        editor.write("- typed slowly\n")
    archived.record_edits(now)
    assert archived.archive().text == AFTER + "- typed slowly\n"
    assert not is_left(archived)


def test_a_script_that_saves_without_pause_is_no_silent_end(
    archived: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    """The words are back each time: it says that they are not gone, and the next writing takes
    them out.
    """
    real = archive.displace

    def displace(prepared: Path, target: Path) -> Path | None:
        answer = real(prepared, target)
        target.write_text(BEFORE)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(archive, "displace", displace)
        with pytest.raises(StoreError, match="goes with whatever is written next"):
            forgets(archived, now)
    archived.record_edits(now)
    assert not is_left(archived)


def test_an_older_buffer_of_the_archive_does_not_bring_it_back(
    archived: ChannelStore, now: datetime, add: Add
) -> None:
    """What else it changed stays, and it is told; also after a second forgetting, by another
    process.
    """
    forgets(archived, now)
    path = archived.folder / File.ARCHIVE
    path.write_text(path.read_text() + "## April\n\n- the lamp is 777\n- rain\n")
    archived.forget("777", keep_transcript=False, now=now)
    again = ChannelStore.open(archived.workspace, "team", create=False)
    path.write_text(BEFORE + "- typed\n")
    again.commit(add("dave likes pie"), now)
    assert path.read_text() == AFTER + "- typed\n"
    (told,) = edit_notices("team", again.past(), now).brought_back
    assert "HISTORY.archive.md was saved from a text of before a forgetting" in told
    assert not is_left(again)


def test_what_is_archived_anew_stays(archived: ChannelStore, now: datetime, add: Add) -> None:
    """It was learnt again after the forgetting, and then archived; typed by hand it goes."""
    forgets(archived, now)
    archived.commit(add("the lamp is blue"), now)
    archived.append([Message.user("his code is 555 0199", id="m9")])
    archived.commit(replace(add("his code is 555 0199", cursor=1), author=Author.PERSON), now)
    path = archived.folder / File.ARCHIVE
    for process in (archived, ChannelStore.open(archived.workspace, "team", create=False)):
        path.write_text(path.read_text() + "## May\n\n- his code is 555 0199\n")
        process.commit(add("dave likes pie"), now)
    assert path.read_text() == AFTER + "## May\n\n- his code is 555 0199\n" * 2
    path.write_text(path.read_text() + "- the code is 555 0199\n")
    archived.commit(add("erin likes pie"), now)
    assert path.read_text() == AFTER + "## May\n\n- his code is 555 0199\n" * 2
