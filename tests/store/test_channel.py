"""A channel's folder: opened, committed to, edited by hand, and closed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from pipimem.errors import ChannelError, LockTimeout, StoreError
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Outcome
from pipimem.notes.operations import (
    AddBlock,
    Author,
    Bullet,
    Decision,
    FoldBlocks,
    Invalidate,
    SetSection,
    Target,
    Trust,
)
from pipimem.state.channel_state import ChannelState
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import publish, working_copy
from pipimem.store.commit.manual_edits import View
from pipimem.store.disk import exchange
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.workspace import WorkspaceStore

Add = Callable[..., Decision]


def again(channel: ChannelStore) -> ChannelStore:
    """The channel as another process opens it."""
    return ChannelStore.open(channel.workspace, channel.channel_id, create=False)


def everything(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by their path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# ── opening
# ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_channel_keeps_who_it_is(workspace: WorkspaceStore) -> None:
    """Id, kind, title and key come back, whatever the id looks like."""
    made = ChannelStore.open(
        workspace, "cid6KeBBLoveM/AZ==", create=True, kind="group", title="发布群"
    )
    found = ChannelStore.open(workspace, "cid6KeBBLoveM/AZ==", create=False)
    assert (
        found.channel_id,
        found.channel_folder.identity.kind,
        found.channel_folder.identity.title,
    ) == (
        "cid6KeBBLoveM/AZ==",
        "group",
        "发布群",
    )
    assert found.key == made.key
    assert [(info.id, info.title) for info in workspace.channels()] == [
        ("cid6KeBBLoveM/AZ==", "发布群")
    ]


def test_folders_are_the_owners_alone(channel: ChannelStore) -> None:
    """Nobody else on the machine reads along."""
    assert channel.folder.stat().st_mode & 0o777 == 0o700
    assert (channel.folder / ".pipimem" / "channel.json").stat().st_mode & 0o777 == 0o600


def test_an_unknown_channel_is_not_made_by_reading(
    workspace: WorkspaceStore, channel: ChannelStore
) -> None:
    """The sentence says which there are, with their titles: nobody knows a platform's ids."""
    ChannelStore.open(workspace, "cid6K", kind="group", create=True, title="car pool").close()
    with pytest.raises(
        ChannelError, match=r"no channel 'tema'.*There are: cid6K \(car pool\), team \(The team\)\."
    ):
        ChannelStore.open(workspace, "tema", create=False)
    assert not (workspace.root / "channels" / "tema").exists()


def test_a_folder_of_another_channel_is_refused(
    workspace: WorkspaceStore, channel: ChannelStore
) -> None:
    """Somebody copied a folder: two channels never write to one."""
    shutil.copytree(channel.folder, workspace.root / "channels" / "copy")
    with pytest.raises(ChannelError, match="belongs to the channel 'team'"):
        ChannelStore.open(workspace, "copy", create=True)


def test_a_folder_made_by_hand_is_read_without_a_trace(workspace: WorkspaceStore) -> None:
    """Markdown alone is a channel; reading it writes nothing, and its ids are the same each
    time.
    """
    folder = workspace.root / "channels" / "dm_n50"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n\n## Facts\n\n- by hand\n")
    before = everything(workspace.root)
    notes = [ChannelStore.open(workspace, "dm_n50", create=False).notes() for _ in range(2)]
    assert [entry.text for entry in notes[0].memory.entries] == ["by hand"]
    assert notes[0].memory.entries == notes[1].memory.entries
    assert everything(workspace.root) == before
    assert not (folder / ".pipimem").exists()


def test_an_adopted_folder_keeps_the_ids_it_was_read_with(
    workspace: WorkspaceStore, now: datetime
) -> None:
    """A decision made on a reading finds its targets when the first commit makes the folder
    ours.
    """
    folder = workspace.root / "channels" / "mine"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n\n## Facts\n\n- by hand\n")
    channel = ChannelStore.open(workspace, "mine", create=False)
    entry = channel.notes().memory.entries[0]
    gone = Invalidate(Target(File.MEMORY, entry.section, entry.id), "asked")
    channel.commit(Decision("forget", Author.PERSON, (gone,)), now)
    assert "by hand" not in (folder / "MEMORY.md").read_text()
    assert again(channel).key == channel.key


def test_a_channel_folder_may_not_lead_out(workspace: WorkspaceStore, tmp_path: Path) -> None:
    """A link to somebody else's folder is refused before anything is read."""
    (tmp_path / "elsewhere").mkdir()
    (workspace.root / "channels" / "team").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="out of the workspace"):
        ChannelStore.open(workspace, "team", create=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_newer_format_is_not_touched(channel: ChannelStore) -> None:
    """An old pipimem says so instead of guessing."""
    path = channel.folder / ".pipimem" / "channel.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 4}))
    with pytest.raises(ChannelError, match="newer pipimem"):
        again(channel)


@pytest.mark.parametrize("damage", [b"", b"{", b"\0\0", b"[]", b'{"format": 1, "id": "x"}'])
def test_a_damaged_identity_says_what_removing_it_costs(
    channel: ChannelStore, damage: bytes
) -> None:
    """The key is in no other file: a backup is the better way."""
    path = channel.folder / ".pipimem" / "channel.json"
    path.write_bytes(damage)
    with pytest.raises(ChannelError, match=r"Put it back from a backup.*may be learnt again"):
        again(channel)
    assert path.read_bytes() == damage


def test_a_key_with_one_wrong_digit_is_damage_and_another_title_is_none(
    channel: ChannelStore,
) -> None:
    """Under another key every entry has another id, and what was forgotten is not known. People
    may mend the rest.
    """
    path = channel.folder / ".pipimem" / "channel.json"
    data = json.loads(path.read_text())
    digit = "0" if data["key"][0] != "0" else "1"
    path.write_text(json.dumps({**data, "key": digit + data["key"][1:]}))
    with pytest.raises(ChannelError, match="Put it back from a backup"):
        again(channel)
    path.write_text(json.dumps({**data, "title": "Another title", "kind": "dm"}))
    assert (again(channel).key, again(channel).channel_folder.identity.kind) == (channel.key, "dm")


# ── committing
# ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_commit_is_there_for_everybody(channel: ChannelStore, now: datetime, add: Add) -> None:
    """In the file, in the journal, in the ledger, here and in another process."""
    done = channel.commit(add("alice likes tea", cursor=4), now, "offline")
    assert done.sequence == 1
    assert (
        channel.folder / "MEMORY.md"
    ).read_text() == "# Memory\n\n## Facts\n\n- alice likes tea\n"
    for store in (channel, again(channel)):
        notes = store.notes()
        assert notes.ledger.cursor == 4
        assert notes.ledger.records[notes.memory.entries[0].id].trust is Trust.INFERRED
    record = channel.changes()[0]
    assert (record.task, record.author, record.actor) == ("consolidate", Author.MODEL, "offline")
    assert [change.after for change in record.changes] == ["alice likes tea"]


def test_all_files_go_together(channel: ChannelStore, now: datetime, add: Add) -> None:
    """MEMORY, SESSION, HISTORY, cursor and journal are one commit.

    A fold puts its originals into the archive.
    """
    block = AddBlock(now, now + timedelta(hours=1), "tea", (Bullet("they spoke of tea", ("m1",)),))
    decision = add("alice likes tea", cursor=4)
    decision = replace(
        decision, operations=(*decision.operations, SetSection("Next Steps", ("buy tea",)), block)
    )
    channel.commit(decision, now)
    heading = channel.notes().history.document.sections[-1].title
    fold = FoldBlocks("2026-03", "tea", (Bullet("tea, mostly"),), (heading,))
    channel.commit(Decision("fold", Author.MODEL, (fold,)), now)
    assert "- buy tea" in (channel.folder / "SESSION.md").read_text()
    assert "- tea, mostly" in (channel.folder / "HISTORY.md").read_text()
    assert channel.archive().text == f"## {heading}\n\n- they spoke of tea\n"
    assert [record.sequence for record in channel.changes()] == [1, 2]


def test_nothing_to_do_writes_nothing(channel: ChannelStore, now: datetime, add: Add) -> None:
    """Replaying a decision, or one that is refused, leaves every file as it was."""
    channel.commit(add("alice likes tea", cursor=4), now)
    before = everything(channel.folder)
    assert channel.commit(add("alice likes tea", cursor=4), now).sequence == 1
    gone = Invalidate(Target(File.MEMORY, "Facts", "nowhere1"), "asked")
    refused = channel.commit(Decision("forget", Author.PERSON, (gone,)), now)
    assert len(refused.outcome.refused) == 1
    assert everything(channel.folder) == before


def test_a_decision_on_an_old_cursor_does_nothing(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Two thoughts about one window: the second to arrive is refused whole."""
    channel.commit(add("alice likes tea", cursor=4, expect_cursor=0), now)
    late = channel.commit(add("bob likes tea", cursor=4, expect_cursor=0), now)
    assert "cursor moved" in late.outcome.refused[0].reason
    assert len(channel.notes().memory.entries) == 1


def test_the_same_notes_are_the_same_object(channel: ChannelStore, now: datetime, add: Add) -> None:
    """Whoever built an index on them need not look again."""
    channel.commit(add("alice likes tea"), now)
    notes = channel.notes()
    assert channel.notes() is notes
    channel.commit(add("bob likes tea"), now)
    assert channel.notes() is not notes
    assert channel.notes().session is notes.session


def test_half_of_a_character_does_not_spoil_the_file(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """A model's escape can hold half of a surrogate pair; the file stays UTF-8."""
    channel.commit(add("tea \ud83d now"), now)
    assert "tea \ufffd now" in (channel.folder / "MEMORY.md").read_text()
    assert "tea \ufffd now" in again(channel).notes().memory.text


def test_windows_line_ends_stay(channel: ChannelStore, now: datetime, add: Add) -> None:
    """A commit writes as the file is written, and touches only its own lines."""
    path = channel.folder / "MEMORY.md"
    path.write_bytes(b"\xef\xbb\xbf# Memory\r\n\r\n## Facts\r\n\r\n- by hand\r\n")
    channel.commit(add("alice likes tea"), now)
    assert path.read_bytes() == (
        b"\xef\xbb\xbf# Memory\r\n\r\n## Facts\r\n\r\n- by hand\r\n- alice likes tea\r\n"
    )


def test_a_linked_file_stays_a_link(channel: ChannelStore, now: datetime, add: Add) -> None:
    """The file it leads to, inside the workspace, is what is replaced."""
    kept = channel.workspace.root / "kept.md"
    kept.write_text("# Memory\n")
    (channel.folder / "MEMORY.md").symlink_to(kept)
    channel.commit(add("alice likes tea"), now)
    assert (channel.folder / "MEMORY.md").is_symlink()
    assert "- alice likes tea" in kept.read_text()


def test_jobs_and_recalls_are_kept(channel: ChannelStore, now: datetime, add: Add) -> None:
    """A recall is counted at once in memory and written when the channel closes; it ends
    probation.
    """
    decision = add("alice likes tea")
    decision = replace(
        decision,
        operations=(replace(decision.operations[0], probation_until=now + timedelta(days=30)),),  # type: ignore[type-var]
    )
    channel.commit(decision, now)
    name = channel.notes().memory.entries[0].id
    assert channel.ledger.records[name].probation_until != ""
    channel.touch_recalls([name, "nowhere1"], now)
    channel.touch_recalls([name], now + timedelta(hours=1))
    channel.close()
    record = again(channel).ledger.records[name]
    assert (record.recalls, record.recalled, record.probation_until) == (
        2,
        "2026-03-02T10:10:00+08:00",
        "",
    )


# ── people
# ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_edit_shows_at_the_next_reading(channel: ChannelStore, now: datetime, add: Add) -> None:
    """And reading writes nothing: the ledger is reconciled in memory."""
    channel.commit(add("alice likes tea", "bob likes tea"), now)
    path = channel.folder / "MEMORY.md"
    path.write_text(path.read_text().replace("alice likes tea", "alice likes green tea"))
    before = everything(channel.folder)
    for store in (channel, again(channel)):
        notes = store.notes()
        assert [entry.text for entry in notes.memory.entries] == [
            "alice likes green tea",
            "bob likes tea",
        ]
        record = notes.ledger.records[notes.memory.entries[0].id]
        assert (record.trust, record.sources) == (Trust.HUMAN, ("m1",))
    assert everything(channel.folder) == before


def test_an_edit_is_recorded_before_a_commit(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Who changed what can be told later; a person's words are kept before the file is replaced."""
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    path.write_text(path.read_text() + "- 手写的一条\n")
    done = channel.commit(add("bob likes tea"), now)
    assert [entry.text for entry in channel.notes().memory.entries] == [
        "alice likes tea",
        "手写的一条",
        "bob likes tea",
    ]
    edit = channel.changes()[1]
    assert (edit.sequence, edit.author, done.sequence) == (2, Author.EDITOR, 3)
    after = channel.text_of(edit.files[File.MEMORY].after)
    assert after == "# Memory\n\n## Facts\n\n- alice likes tea\n- 手写的一条\n"


def test_an_edit_made_while_nobody_ran_is_seen(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The last known text is among the versions, or follows from one through the journal."""
    channel.commit(add("alice likes tea", "bob likes tea"), now)
    channel.close()
    path = channel.folder / "MEMORY.md"
    path.write_text("# Memory\n\n## Facts\n\n- bob likes tea\n")
    second = again(channel)
    tombstones = second.notes().ledger.tombstones
    assert [tombstone.reason for tombstone in tombstones.values()] == ["deleted by hand"]
    second.commit(add("carol likes tea"), now)
    path.write_text("# Memory\n\n## Facts\n\n- carol likes tea\n")
    assert len(again(channel).notes().ledger.tombstones) == 2


def test_a_bullet_deleted_by_hand_stays_deleted(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Also when the file is then just what it was before the commit, and the process was killed."""
    channel.commit(add("alice likes tea", cursor=4), now)
    path = channel.folder / "MEMORY.md"
    before = path.read_text()
    channel.commit(add("bob likes tea"), now)
    path.write_text(before)
    second = again(channel)
    assert [entry.text for entry in second.notes().memory.entries] == ["alice likes tea"]
    second.commit(add("carol likes tea"), now)
    assert "bob" not in path.read_text()


def test_a_save_between_reading_and_commit_survives(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit starts again on the text that is there then."""
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    saved = []

    def save(target: Path, data: Path, *rest: object, **options: object) -> object:
        if not saved:
            saved.append(path.write_text(path.read_text() + "- typed just now\n"))
        return real(target, data, *rest, **options)  # type: ignore[arg-type]

    real = publish.prepare
    monkeypatch.setattr(publish, "prepare", save)
    channel.commit(add("bob likes tea"), now)
    assert [entry.text for entry in again(channel).notes().memory.entries] == [
        "alice likes tea",
        "typed just now",
        "bob likes tea",
    ]


@pytest.mark.parametrize("killed", [False, True])
def test_a_save_right_before_the_rename_survives(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """The commit is acknowledged by then.

    Both texts are brought together, each line once, also after a crash.
    """
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    real = ChannelState.append

    def append(*args: object) -> object:
        done = real(*args)  # type: ignore[arg-type]
        if "typed" not in path.read_text():
            path.write_text(path.read_text() + "- typed just now\n")
        elif killed:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(ChannelState, "append", append)
    if killed:
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("bob likes tea"), now)
    else:
        channel.commit(add("bob likes tea"), now)
    monkeypatch.undo()
    second = again(channel)
    texts = ["alice likes tea", "typed just now", "bob likes tea"]
    assert [entry.text for entry in second.notes().memory.entries] == texts
    second.commit(add("carol likes tea"), now)
    assert [entry.text for entry in second.notes().memory.entries] == [*texts, "carol likes tea"]
    assert second.notes().ledger.records[second.notes().memory.entries[1].id].trust is Trust.HUMAN


@pytest.mark.parametrize("text", ["", None, "# Memory\n\n## Fa"])
def test_an_editor_at_work_is_waited_for(
    channel: ChannelStore, now: datetime, add: Add, text: str | None
) -> None:
    """Emptied, gone or cut: recall goes on with what was known, a commit waits until the editor
    is done.
    """
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    whole = path.read_text()
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    assert channel.notes().memory.text == whole
    timer = threading.Timer(0.2, path.write_text, [whole + "- typed\n"])
    timer.start()
    channel.commit(add("bob likes tea"), now)
    timer.join()
    texts = [entry.text for entry in channel.notes().memory.entries]
    assert texts == ["alice likes tea", "typed", "bob likes tea"]
    assert channel.notes().ledger.tombstones == {}


def test_a_file_that_stays_empty_was_meant(channel: ChannelStore, now: datetime, add: Add) -> None:
    """After two seconds nobody is saving any more: what was deleted is deleted."""
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    path.write_text("")
    old = path.stat().st_mtime - 5
    os.utime(path, (old, old))
    assert channel.notes().memory.text == ""
    channel.commit(add("bob likes tea"), now)
    assert [entry.text for entry in channel.notes().memory.entries] == ["bob likes tea"]
    assert [stone.reason for stone in channel.notes().ledger.tombstones.values()] == [
        "deleted by hand"
    ]


@pytest.mark.parametrize("data", [b"\x89PNG\0", "caf\u00e9".encode("latin-1")])
def test_what_is_no_text_keeps_the_channel_at_work(
    channel: ChannelStore, now: datetime, add: Add, data: bytes
) -> None:
    """The last good text serves, and what is remembered meanwhile waits for the file."""
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea"), now)
    path.write_bytes(data)
    channel.commit(add("bob likes tea", cursor=4), now)
    for store in (channel, again(channel)):
        texts = [entry.text for entry in store.notes().memory.entries]
        assert texts == ["alice likes tea", "bob likes tea"]
        assert store.ledger.cursor == 4
    assert path.read_bytes() == data
    assert list(channel.unreadable()) == [File.MEMORY]
    path.write_text("# Memory\n\n## Facts\n\n- alice likes tea\n- typed\n")
    channel.commit(add("carol likes tea"), now)
    texts = [entry.text for entry in again(channel).notes().memory.entries]
    assert sorted(texts) == ["alice likes tea", "bob likes tea", "carol likes tea", "typed"]
    assert channel.unreadable() == {}


def test_a_buffer_from_before_the_first_commit_takes_nothing_out(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """An editor was opened on a file that was not there, and saves after the bot wrote it."""
    channel.commit(add("alice likes tea"), now)
    channel.commit(add("bob likes tea"), now)
    (channel.folder / "MEMORY.md").write_text("- typed\n")
    channel.commit(add("carol likes tea"), now)
    texts = [entry.text for entry in again(channel).notes().memory.entries]
    assert sorted(texts) == ["alice likes tea", "bob likes tea", "carol likes tea", "typed"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_text_that_waited_gets_the_mode_that_its_file_has_by_then(
    channel: ChannelStore, now: datetime, add: Add, *, is_folder: bool
) -> None:
    """Not that of what stood there when it was prepared, which others may read."""
    path = channel.folder / "MEMORY.md"
    channel.commit(add("alice likes tea"), now)
    text = path.read_text()
    path.unlink()
    if is_folder:
        path.mkdir(mode=0o755)
    else:
        path.write_bytes(b"caf\xe9")
        path.chmod(0o644)
    channel.commit(add("bob likes tea"), now)
    if is_folder:
        path.rmdir()
    path.write_text(text)
    path.chmod(0o600)
    channel.commit(add("carol likes tea"), now)
    assert "bob likes tea" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_that_leads_back_to_itself_silences_no_channel(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The newest text that is known serves, as for whatever else is no text."""
    channel.commit(add("alice likes tea"), now)
    path = channel.folder / "MEMORY.md"
    path.unlink()
    path.symlink_to(path)
    assert [entry.text for entry in channel.notes().memory.entries] == ["alice likes tea"]
    assert "leads back to itself" in channel.unreadable()[File.MEMORY].problem


# ── what can be rebuilt
# ───────────────────────────────────────────────────────────────────────────────────


def test_the_next_start_has_the_same_ledger(channel: ChannelStore, now: datetime, add: Add) -> None:
    """With all changes, in one process or in another."""
    for number in range(23):
        channel.commit(add(f"fact number {number}", cursor=number), now)
    assert again(channel).ledger == channel.ledger
    assert again(channel).notes().memory == channel.notes().memory
    assert [record.sequence for record in again(channel).changes()] == list(range(1, 24))


def test_without_our_own_state_no_memory_is_lost(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """`.pipimem` can be deleted: the Markdown is the memory, and no older talk is learnt again."""
    times = [now + timedelta(minutes=10 * number) for number in range(6)]
    channel.append([Message.user(f"text {number}", time=time) for number, time in enumerate(times)])
    block = AddBlock(times[0], times[3], "tea", (Bullet("they spoke of tea", ("m1",)),))
    decision = add("alice likes tea", cursor=4)
    channel.commit(replace(decision, operations=(*decision.operations, block)), now)
    texts = {file: (channel.folder / file).read_bytes() for file in (File.MEMORY, File.HISTORY)}
    channel.close()
    shutil.rmtree(channel.folder / ".pipimem")
    second = again(channel)
    assert second.notes().ledger.cursor == 6
    assert [entry.text for entry in second.notes().memory.entries] == ["alice likes tea"]
    second.append([Message.user("more", time=times[5] + timedelta(minutes=1))])
    second.commit(add("bob likes tea"), now)
    assert again(second).ledger.cursor == 6
    assert (channel.folder / File.HISTORY).read_bytes() == texts[File.HISTORY]


def test_a_lost_state_is_made_anew_with_the_cursor(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """`channel.json` has how far the talk was consolidated, and what is not learnt again."""
    channel.commit(add("alice likes tea", "bob likes tea", cursor=4), now)
    path = channel.folder / "MEMORY.md"
    path.write_text(path.read_text().replace("- bob likes tea\n", ""))
    channel.record_edits(now)
    stones = channel.ledger.tombstones.keys()
    (channel.folder / ".pipimem" / "state.db").unlink()
    for store in (channel, again(channel)):
        assert [entry.text for entry in store.notes().memory.entries] == ["alice likes tea"]
        assert store.ledger.cursor == 4
        assert store.ledger.tombstones.keys() == stones
    channel.commit(add("carol likes tea"), now)
    assert [record.sequence for record in again(channel).changes()] == [1]


def test_a_damaged_state_is_set_aside(channel: ChannelStore, now: datetime, add: Add) -> None:
    """With the next change, by name; the notes count as they stand."""
    channel.commit(add("alice likes tea", cursor=4), now)
    path = channel.folder / ".pipimem" / "state.db"
    path.write_bytes(b"no database" * 100)
    second = again(channel)
    second.commit(add("bob likes tea"), now)
    assert [entry.text for entry in again(channel).notes().memory.entries] == [
        "alice likes tea",
        "bob likes tea",
    ]
    assert again(channel).ledger.cursor == 4
    assert path.with_name("state.db.damaged").read_bytes() == b"no database" * 100


# ── a disk that refuses
# ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_that_refuses_leaves_everything(
    channel: ChannelStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    number: int,
) -> None:
    """One sentence, every file as it was, and the same decision goes through once there is room."""
    channel.commit(add("alice likes tea"), now)
    before = everything(channel.folder)

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(StoreError, match="disk is"):
            channel.commit(add("bob likes tea", cursor=7), now)
    after = everything(channel.folder)
    assert after == before
    assert channel.ledger.cursor == 0
    channel.commit(add("bob likes tea", cursor=7), now)
    assert again(channel).ledger.cursor == 7


def test_a_rename_that_fails_is_done_later(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state has it: it is acknowledged, shown at once, and in the file as soon as the disk
    lets it.
    """
    channel.commit(add("alice likes tea"), now)

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(exchange, "_exchanged", refuse)
    channel.commit(add("bob likes tea"), now)
    monkeypatch.undo()
    assert "bob" not in (channel.folder / "MEMORY.md").read_text()
    for store in (channel, again(channel)):
        assert [entry.text for entry in store.notes().memory.entries] == [
            "alice likes tea",
            "bob likes tea",
        ]
    channel.commit(add("carol likes tea"), now)
    assert (channel.folder / "MEMORY.md").read_text().count("bob likes tea") == 1


def test_what_a_commit_left_is_read_without_the_lock(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text of 1 MB is read for seconds: others need not wait for that before they write."""
    channel.commit(add("first"), now)
    texts = list[str]()
    read = working_copy.Note.read

    def noted(file: File, text: str, key: bytes) -> Note:
        with FolderLock(channel.folder / ".pipimem" / "lock").held(timeout=0.0):
            texts.append(text)
        return read(file, text, key)

    monkeypatch.setattr(working_copy.Note, "read", noted)
    channel.commit(add("second"), now)
    assert [("first" in text, "second" in text) for text in texts] == [(True, True)]
    assert channel.notes(refresh=False).memory.text == texts[0]


def test_edits_that_a_turn_saw_wait_for_no_other_writer(
    channel: ChannelStore, add: Add, now: datetime
) -> None:
    """They stay as they are, for the next turn."""
    channel.commit(add("The gate opens at six."), now)
    with (channel.folder / File.MEMORY).open("a") as memory:
        memory.write("- The gate closes at ten.\n")
    channel.notes()
    before = channel.ledger.sequence
    other = again(channel)
    with other.channel_folder.lock.held(), pytest.raises(LockTimeout):
        channel.record_edits(now, only_seen=True)
    assert channel.ledger.sequence == before
    channel.record_edits(now, only_seen=True)
    assert channel.ledger.sequence == before + 1


# ── talk beside commits
# ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def beside_commit(channel: ChannelStore, add: Add, now: datetime) -> Iterator[list[str]]:
    """A commit of another thread stands still, with all locks held, until the test is over."""
    began, may_end, done = threading.Event(), threading.Event(), list[str]()
    decision = add("alice likes tea", cursor=7)

    def carry_out(_: object, view: View) -> Outcome:
        began.set()
        may_end.wait()
        return applied(view.current, decision, now)

    def commit() -> None:
        try:
            channel.commit(decision, now, carry_out=carry_out)
            done.append("committed")
        finally:
            began.set()  # also where it failed: the test then says so instead of waiting

    thread = threading.Thread(target=commit)
    thread.start()
    began.wait()
    try:
        yield done
    finally:
        may_end.set()
        thread.join()
    assert done == ["committed"]
    assert channel.ledger.cursor == 7


def test_an_append_waits_for_no_commit(channel: ChannelStore, beside_commit: list[str]) -> None:
    """Neither of its own process, nor of another one, which opens the channel meanwhile."""
    channel.append([Message.user("one", id="a1")])
    named = ChannelStore.open(channel.workspace, channel.channel_id, create=True, title="Renamed")
    for store in (channel, again(channel), named):
        store.append([Message.user("two", id="a2"), Message.user("one", id="a1")])
    channel.touch_recalls(["e1"], datetime.now().astimezone())
    assert [(one.id, one.number) for one in channel.transcript.messages()] == [("a1", 1), ("a2", 2)]
    assert beside_commit == []


def test_a_title_that_came_during_a_commit_is_written_later(
    channel: ChannelStore, add: Add, now: datetime
) -> None:
    """With the next commit at the latest."""
    with channel.channel_folder.lock.held():
        named = ChannelStore.open(channel.workspace, "team", create=True, title="Renamed")
        named.append([Message.user("one", id="a1")])
    named.commit(add("alice likes tea"), now)
    assert again(channel).channel_folder.identity.title == "Renamed"


def test_a_number_given_during_a_commit_is_behind_what_was_consolidated(
    channel: ChannelStore, add: Add, now: datetime
) -> None:
    """Where the transcript lost its end: else the message would never be learnt from."""
    channel.append([Message.user("one", id="a1"), Message.user("two", id="a2")])
    channel.commit(add("alice likes tea", cursor=2), now)
    (channel.folder / "log.jsonl").unlink()
    other = again(channel)
    holding = threading.Event()

    def hold() -> None:
        with other._opened.mutex:
            holding.set()
            may_end.wait()

    may_end = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    try:
        (message,) = other.append([Message.user("three", id="a3")])
    finally:
        may_end.set()
        thread.join()
    assert message.number == 3


def test_recalls_noted_during_a_commit_are_written_by_the_next(
    channel: ChannelStore, add: Add, now: datetime
) -> None:
    """The commit under way clears what it has written, and no more."""
    channel.commit(add("alice likes tea"), now)
    entry = channel.notes().memory.entries[0].id

    def carry_out(_: object, view: View) -> Outcome:
        channel.touch_recalls([entry], now)
        return applied(view.current, add("bob likes tea"), now)

    channel.commit(add("bob likes tea"), now, carry_out=carry_out)
    assert channel.ledger.records[entry].recalls == 0
    assert channel.with_pending_recalls(channel.notes()).ledger.records[entry].recalls == 1
    channel.commit(add("carol likes tea"), now)
    assert channel.ledger.records[entry].recalls == 1
