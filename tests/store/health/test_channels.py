"""All checks of a channel: what each finds, and that what is well has nothing to say."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from pipimem.errors import PipimemError, UnreadableNote
from pipimem.notes.kinds import etag
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision, Hole
from pipimem.settings import Settings
from pipimem.state.channel_state import ChannelState
from pipimem.state.texts import ETAG_LENGTH
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import TEMPORARY, temporary_for
from pipimem.store.health import texts
from pipimem.store.health.channels import channel_findings
from pipimem.store.health.finding import Finding
from pipimem.store.health.texts import text_findings
from pipimem.text.markdown.parser import Document, parsed

from tests.store.conftest import NOW

STATE = ".pipimem/state.db"


@pytest.fixture
def well(channel: ChannelStore, now: datetime, add: Callable[..., Decision]) -> ChannelStore:
    """A channel with a message and two entries."""
    channel.append([Message.user("I like tea", id="m1", speaker="alice")])
    channel.commit(add("alice likes tea", "上线窗口是 2026-03-05 晚上九点", cursor=1), now)
    return channel


def found(channel: ChannelStore) -> list[Finding]:
    """What all checks say."""
    return list(channel_findings(channel.workspace, channel.folder, NOW, Settings()))


def told(channel: ChannelStore) -> list[tuple[bool, str, str]]:
    """The same, with places as a person in the channel's folder would say them."""
    return [
        (one.wrong, one.where.replace(f"{channel.folder}", "."), one.what) for one in found(channel)
    ]


def write(channel: ChannelStore, text: str) -> None:
    """A person saves MEMORY.md."""
    (channel.folder / "MEMORY.md").write_text(text)


def test_a_healthy_channel_has_nothing_to_say(well: ChannelStore) -> None:
    """No finding, and looking writes nothing."""
    before = {path: path.stat().st_mtime_ns for path in well.folder.rglob("*")}
    assert found(well) == []
    assert {path: path.stat().st_mtime_ns for path in well.folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("text", "line", "words", "is_wrong"),
    [
        ("- a\n- we meet tomorrow at nine\n", 2, "a relative date", True),
        ("- 下周四上线\n", 1, "as of 2026-03-02 it means: “2026-03-12", True),
        ("- bob likes tea\n- a\n- bob likes tea\n", 3, "says the same as line 1", False),
        (f"- {'word ' * 200}\n", 1, "an entry of 999 characters", False),
        ("- a\n\n```\n- b\n- c\n", 3, "2 bullets below it are no entries", True),
        ("- a\n<!-- later\n- b\n", 2, "1 bullets below it are no entries", True),
        ("- a\n<<<<<<< HEAD\n- b\n", 2, "a merge left its marks", True),
        ("- key: sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\n", 1, "a secret stands here", True),
    ],
)
def test_entries_are_looked_at(
    channel: ChannelStore, text: str, line: int, words: str, is_wrong: bool
) -> None:
    """Relative dates, twins, long ones, hidden ones, marks of a merge, secrets."""
    write(channel, text)
    ((wrong, where, what),) = told(channel)
    assert (wrong, where, words in what, "sk-proj" in what) == (
        is_wrong,
        f"./MEMORY.md, line {line}",
        True,
        False,
    )


def test_what_only_looks_like_trouble_is_none(channel: ChannelStore) -> None:
    """Dates that recur, closed code, other halls, entries that share a few words."""
    write(
        channel,
        "- 周五不许发布\n- every Monday we meet\n- stand-up is daily at 9\n\n```\n- b\n```\n\n"
        "- bob likes tea in the morning\n- carol likes cake in the evening\n<!-- closed -->\n",
    )
    assert told(channel) == []


def test_an_unfinished_commit_is_finished(well: ChannelStore, now: datetime) -> None:
    """The text that a killed process had prepared is swept or put in place; then all is well."""
    target = well.folder / "MEMORY.md"
    mark = etag("x")[:ETAG_LENGTH]
    temporary_for(target, mark).write_text("x")
    (finding,) = found(well)
    assert (finding.wrong, "1 unfinished files" in finding.what) == (False, True)
    assert finding.mend is not None
    assert finding.mend(now) == "what was cut off was finished, the rest swept"
    assert found(well) == []
    assert "alice likes tea" in target.read_text()


def test_what_is_no_text_under_the_name_of_a_displaced_one_is_told(well: ChannelStore) -> None:
    """Writing refuses it, so it needs a hand."""
    lying = temporary_for(well.folder / "MEMORY.md", etag("something else")[:ETAG_LENGTH])
    lying.write_bytes(bytes(20))
    (finding,) = [one for one in found(well) if one.wrong]
    assert finding.where == str(lying)
    assert "Writing is refused while it lies there" in finding.what
    with pytest.raises(UnreadableNote):
        well.record_edits(NOW)


def test_a_forgetting_that_was_cut_off_is_finished(
    well: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is wrong until then."""

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ChannelState, "end_forgetting", killed)
        with pytest.raises(KeyboardInterrupt):
            well.forget("alice likes tea", keep_transcript=False, now=now)
    (finding,) = found(ChannelStore.open(well.workspace, "team", create=False))
    assert (finding.wrong, "a forgetting was cut off" in finding.what, finding.mend is None) == (
        True,
        True,
        False,
    )
    assert finding.mend is not None
    finding.mend(now)
    assert found(well) == []
    assert "alice" not in (well.folder / "MEMORY.md").read_text()


def test_missing_messages_and_holes_are_told(well: ChannelStore, now: datetime) -> None:
    """What was set aside needs a hand; a transcript that is gone too."""
    decision = Decision("consolidate", Author.RULE)
    well.commit(
        replace(decision, progress=replace(decision.progress, holes=(Hole(1, 1, "cut off"),))), now
    )
    assert [what for _, _, what in told(well)] == [
        "messages 1–1 were set aside (cut off); `pipimem consolidate --holes 'team'` tries them again"
    ]
    (well.folder / "log.jsonl").unlink()
    again = ChannelStore.open(well.workspace, "team", create=False)
    words = " ".join(what for _, _, what in told(again))
    assert "the transcript ends before what was consolidated" in words
    assert "entries rest on 1 messages that the transcript does not have" in words


def test_modes_links_and_copies_are_told(well: ChannelStore, now: datetime, tmp_path: Path) -> None:
    """Ours are closed by the mending; notes are people's; where nobody else gets in, nothing is
    said.
    """
    (well.folder / "log.jsonl").chmod(0o644)
    (well.folder / "MEMORY.md").chmod(0o640)
    assert [one for one in found(well) if "other users" in one.what] == []
    for folder in (well.workspace.root, well.folder.parent, well.folder):
        folder.chmod(0o755)
    (tmp_path / "outside.md").write_text("- theirs\n")
    (well.folder / "HISTORY.md").symlink_to(tmp_path / "outside.md")
    (well.folder / ".MEMORY.md.swp").write_text("")
    (well.folder / "MEMORY (conflicted copy 2026-03-02).md").write_text("- a\n")
    findings = found(well)
    words = [one.what for one in findings]
    assert sum("a copy beside a note" in what for what in words) == 2
    assert any(one.wrong and "leads out of the workspace" in one.what for one in findings)
    assert any("chmod 600" in what and "MEMORY.md" in what for what in words)
    (closing,) = [one for one in findings if one.mend is not None]
    assert closing.mend is not None
    assert closing.mend(now) == "1 modes set to 0600 and 0700"
    assert (well.folder / "log.jsonl").stat().st_mode & 0o777 == 0o600
    assert (well.folder / "MEMORY.md").stat().st_mode & 0o777 == 0o640


def test_a_state_of_another_channel_is_told(
    well: ChannelStore, now: datetime, add: Callable[..., Decision]
) -> None:
    """Copied over, it would be believed; the mending sets it aside, and takes the notes as they
    stand.
    """
    other = ChannelStore.open(well.workspace, "Other/Room", create=True)
    other.commit(add("bob likes cake"), now)
    shutil.copy(other.folder / STATE, well.folder / STATE)
    (finding,) = [
        one for one in found(ChannelStore.open(well.workspace, "team", create=False)) if one.wrong
    ]
    assert finding.where == str(well.folder / STATE)
    assert "belongs to another channel" in finding.what
    assert finding.mend is not None
    finding.mend(now)
    again = ChannelStore.open(well.workspace, "team", create=False)
    assert "cake" not in "".join(entry.text for entry in again.notes().memory.entries)
    assert [(one.wrong, Path(one.where).name) for one in found(again)] == [
        (False, "team"),  # whose entries nobody is known to have said
        (False, "state.db.damaged"),
    ]


def damaged_page(path: Path) -> None:
    """Something wrote into the middle of the file."""
    data = bytearray(path.read_bytes())
    for offset in range(2_048, len(data), 1_024):
        data[offset : offset + 64] = b"\xff" * 64
    path.write_bytes(data)


def cut(path: Path) -> None:
    """The file lost its end."""
    path.write_bytes(path.read_bytes()[:5_000])


def no_database(path: Path) -> None:
    """Something else took the place of the file."""
    path.write_bytes(b"no database " * 1_000)


@pytest.mark.parametrize("damage", [damaged_page, cut, no_database])
def test_a_damaged_state_is_told_and_set_aside(
    well: ChannelStore,
    now: datetime,
    add: Callable[..., Decision],
    damage: Callable[[Path], None],
) -> None:
    """With what is whole; `--fix` takes the files as they stand, and loses none."""
    path = well.folder / STATE
    damage(path)
    bytes_then = path.read_bytes()
    memory = (well.folder / "MEMORY.md").read_text()
    again = ChannelStore.open(well.workspace, "team", create=False)
    (finding,) = [one for one in found(again) if one.wrong]
    assert finding.where == str(path)
    assert "notes and talk are whole" in finding.what
    assert finding.mend is not None
    finding.mend(now)
    again = ChannelStore.open(well.workspace, "team", create=False)
    assert [(one.wrong, Path(one.where).name) for one in found(again)] == [
        (False, "team"),  # whose entries nobody is known to have said
        (False, "state.db.damaged"),
    ]
    assert path.with_name("state.db.damaged").read_bytes() == bytes_then
    assert (well.folder / "MEMORY.md").read_text() == memory
    again.commit(add("dave likes water"), now)
    assert "dave likes water" in (well.folder / "MEMORY.md").read_text()


def test_what_a_lost_state_costs_is_told(well: ChannelStore) -> None:
    """The notes stand as they are, and how far the talk was consolidated is known."""
    (well.folder / STATE).unlink()
    again = ChannelStore.open(well.workspace, "team", create=False)
    (finding,) = found(again)
    assert not finding.wrong
    assert "nobody knows who said 2 entries" in finding.what
    assert again.ledger.cursor == 1


UNREADABLE = {
    "latin-1": "- caf\u00e9\n".encode("latin-1"),
    "NUL": b"- tea\0\n",
    "UTF-16": "- tea\n".encode("utf-16"),
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=list(UNREADABLE))
def test_the_last_good_text_of_an_unreadable_note_is_put_to_work(
    well: ChannelStore, now: datetime, add: Callable[..., Decision], data: bytes
) -> None:
    """With what was learnt meanwhile; what stood in the file is kept beside it, and told."""
    path = well.folder / "MEMORY.md"
    path.write_bytes(data)
    for fact in ("bob likes cake", "carol likes milk"):
        well.commit(add(fact), now)
    (finding,) = found(well)
    assert (finding.wrong, finding.where) == (True, str(path))
    assert "2 changes wait for the file" in finding.what
    assert "MEMORY.md.unreadable" in finding.what
    assert finding.mend is not None
    assert path.read_bytes() == data
    assert finding.mend(now).endswith("MEMORY.md.unreadable")
    again = ChannelStore.open(well.workspace, "team", create=False)
    texts = [entry.text for entry in again.notes().memory.entries]
    assert texts[0] == "alice likes tea"
    assert texts[2:] == ["bob likes cake", "carol likes milk"]
    assert path.read_text() == again.notes().memory.text
    assert path.with_name("MEMORY.md.unreadable").read_bytes() == data
    assert not list(well.folder.glob(f".*{TEMPORARY}"))
    assert [(one.wrong, Path(one.where).name) for one in found(again)] == [
        (False, "MEMORY.md.unreadable")
    ]
    assert again.changes()[-1].task == "consolidate"


def test_a_second_unreadable_note_takes_no_name_away(well: ChannelStore, now: datetime) -> None:
    """Both are kept, with nothing waiting for them."""
    path = well.folder / "MEMORY.md"
    whole = path.read_text()
    for data in (b"\xff", b"\xfe"):
        path.write_bytes(data)
        finding = found(ChannelStore.open(well.workspace, "team", create=False))[0]
        assert "what is remembered waits for the file" in finding.what
        assert finding.mend is not None
        finding.mend(now)
        assert path.read_text() == whole
    assert path.with_name("MEMORY.md.unreadable").read_bytes() == b"\xff"
    assert path.with_name("MEMORY.md.unreadable1").read_bytes() == b"\xfe"


def test_a_note_that_became_a_text_meanwhile_stays(well: ChannelStore, now: datetime) -> None:
    """Between the check and the mending somebody saved it anew."""
    path = well.folder / "MEMORY.md"
    whole = path.read_text()
    path.write_bytes(b"\xff")
    (finding,) = found(well)
    path.write_text(whole + "- typed since\n")
    assert finding.mend is not None
    finding.mend(now)
    assert path.read_text() == whole + "- typed since\n"
    assert not path.with_name("MEMORY.md.unreadable").exists()
    assert found(well) == []


def test_a_conflict_of_git_is_left_to_people(
    well: ChannelStore, now: datetime, add: Callable[..., Decision]
) -> None:
    """Only they know which side is right: where its signs are, and what waits."""
    path = well.folder / "MEMORY.md"
    text = path.read_text()
    path.write_text(f"{text}<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n")
    well.commit(add("bob likes cake"), now)
    findings = found(well)
    assert all(one.wrong and one.mend is None for one in findings)
    (waits,) = [one for one in findings if one.where == str(path)]
    assert "settle the conflict" in waits.what
    assert "1 change waits for the file" in waits.what
    lines = [Path(one.where).name for one in findings if one is not waits]
    assert lines == ["MEMORY.md, line 7", "MEMORY.md, line 11"]


def test_a_note_that_never_was_a_text_is_told(channel: ChannelStore) -> None:
    """There is no text to put in its place."""
    (channel.folder / "MEMORY.md").write_bytes(b"\xff")
    (finding,) = found(channel)
    assert (finding.wrong, finding.mend) == (True, None)
    assert "it counts as empty" in finding.what


@pytest.mark.parametrize("kind", ["no text", "a link out"])
def test_a_file_that_cannot_be_read_is_told_once(
    well: ChannelStore, tmp_path: Path, kind: str
) -> None:
    """Not once for its text, once for its link and once for the state that cannot be compared
    with it.
    """
    path = well.folder / "HISTORY.md"
    if kind == "no text":
        path.write_bytes(b"\xff\xfe\x00")
    else:
        (tmp_path / "outside.md").write_text("- theirs\n")
        path.symlink_to(tmp_path / "outside.md")
    ((is_wrong, where, _),) = told(ChannelStore.open(well.workspace, "team", create=False))
    assert (is_wrong, where) == (True, "./HISTORY.md")


@pytest.mark.parametrize(
    "name", ["log.jsonl", "MEMORY.md", ".pipimem/vectors.bin", ".pipimem/spool"]
)
def test_a_link_to_itself_is_told(well: ChannelStore, name: str) -> None:
    """Whatever it stands in place of: all other checks go on, and none ends in an error of the
    system.
    """
    path = well.folder / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(path)
    (well.folder / ".MEMORY.md.swp").write_text("")
    findings = told(ChannelStore.open(well.workspace, "team", create=False))
    (what,) = [what for is_wrong, where, what in findings if is_wrong and where == f"./{name}"]
    assert what.startswith(f"{path} is a link that leads back to itself. Move it away.")
    assert any("a copy beside a note" in what for _, _, what in findings)


@pytest.mark.parametrize(
    "name", ["log.jsonl", ".pipimem/lock", ".pipimem/state.db", ".pipimem/vectors.bin"]
)
@pytest.mark.parametrize("target", ["nowhere", "moved"])
def test_a_link_in_the_place_of_a_file_of_ours_is_told(
    well: ChannelStore, name: str, target: str
) -> None:
    """Also one to nothing, and to the file itself under another name: writing refuses both."""
    path = well.folder / name
    path.touch()
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name(target))
    findings = told(ChannelStore.open(well.workspace, "team", create=False))
    what = "is a link, where a file of ours belongs. Move it away; a new file is made where needed"
    assert (True, f"./{name}", what) in findings


@pytest.mark.skipif(os.name != "posix", reason="no modes")
@pytest.mark.parametrize(
    "name",
    [".pipimem", ".pipimem/state.db", ".pipimem/channel.json", "log.jsonl"],
)
@pytest.mark.parametrize("mode", [0, 0o400, 0o500])
def test_a_file_or_folder_of_ours_that_we_may_not_use_is_told_and_opened(
    well: ChannelStore, now: datetime, name: str, mode: int
) -> None:
    """Somebody changed its mode: writing is refused until it is opened again."""
    (well.folder / name).chmod(mode)
    mends = [
        one.mend
        for one in found(well)
        if one.wrong and "may not be read and written by us" in one.what
    ]
    assert len(mends) == 1
    assert mends[0] is not None
    assert mends[0](now) == "1 modes set to 0600 and 0700"
    assert found(well) == []


@pytest.mark.parametrize("kind", ["a file", "a link to nothing", "a link to itself"])
def test_what_stands_in_the_place_of_a_channel_is_told(well: ChannelStore, kind: str) -> None:
    """No channel of that name can be opened; a file of a system beside the channels is nobody's
    business.
    """
    shutil.rmtree(well.folder)
    match kind:
        case "a file":
            well.folder.write_text("x")
        case "a link to nothing":
            well.folder.symlink_to("nowhere")
        case "a link to itself":
            well.folder.symlink_to(well.folder)
    (finding,) = found(well)
    assert (finding.wrong, finding.where) == (True, str(well.folder))
    assert "is no folder" in finding.what
    stray = well.folder.with_name("README.md")
    stray.write_text("x")
    assert list(channel_findings(well.workspace, stray, NOW, Settings())) == []


@pytest.mark.skipif(os.name != "posix", reason="no modes")
def test_a_channel_s_folder_that_we_may_not_write_is_told(well: ChannelStore) -> None:
    """Nothing is mended: the folder is people's."""
    well.folder.chmod(0o500)
    (finding,) = found(well)
    well.folder.chmod(0o700)
    assert (finding.wrong, finding.where, finding.mend) == (True, str(well.folder), None)
    assert "this channel has no memory" in finding.what


def test_a_channel_s_folder_that_is_a_link_to_itself_is_told(well: ChannelStore) -> None:
    """Opening it ends in an error of ours."""
    shutil.rmtree(well.folder)
    well.folder.symlink_to(well.folder)
    with pytest.raises(PipimemError, match="leads back to itself"):
        ChannelStore.open(well.workspace, "team", create=True)


def test_modes_of_what_was_swept_meanwhile_are_passed_over(
    well: ChannelStore, now: datetime
) -> None:
    """Mendings follow one another: finishing a commit removes what is in the way of another's
    list.
    """
    for folder in (well.workspace.root, well.folder.parent, well.folder):
        folder.chmod(0o755)
    (well.folder / "log.jsonl").chmod(0o644)
    swept = well.folder / ".pipimem" / "unread"
    swept.write_text("{}")
    swept.parent.chmod(0o755)
    swept.chmod(0o644)
    (closing,) = [one for one in found(well) if one.mend is not None]
    swept.unlink()
    assert closing.mend is not None
    closing.mend(now)
    assert (well.folder / "log.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_read_only_note_is_told(well: ChannelStore) -> None:
    """Commits are refused there."""
    (well.folder / "MEMORY.md").chmod(0o400)
    assert [(wrong, where) for wrong, where, _ in told(well)] == [(True, "./MEMORY.md")]


def test_a_held_lock_is_told_and_an_old_one_is_none(well: ChannelStore) -> None:
    """A lock file always lies there; only a living process holds it."""
    assert found(well) == []
    with well.channel_folder.lock.held():
        again = ChannelStore.open(well.workspace, "team", create=False)
        assert [what for _, _, what in told(again)] == [
            "another process is writing to this channel right now"
        ]


def test_a_line_that_stands_there_a_hundred_times_is_told_once_each(well: ChannelStore) -> None:
    """Not once for each pair of them, which would be 4,950."""
    write(well, "- bob likes tea\n" * 100)
    words = [what for _, _, what in told(well) if "says the same as" in what]
    assert len(words) == 99


def test_only_the_last_block_is_read_again_to_see_what_it_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a file ends in an open block does not need the file to be parsed twice."""
    path = tmp_path / "MEMORY.md"
    path.write_text("- a\n" * 1_000 + "\n```\n- b\n")
    read = list[int]()

    def counted(text: str) -> Document:
        read.append(len(text))
        return parsed(text)

    monkeypatch.setattr(texts, "parsed", counted)
    (one,) = text_findings(path, tmp_path, Settings())
    assert "1 bullets below it are no entries" in one.what
    assert sum(read) < 1.1 * path.stat().st_size


def test_a_quote_has_its_day_in_front(channel: ChannelStore) -> None:
    """Its relative days are settled; only a text without a day is asked about."""
    write(
        channel, "- Tom (2026-11-12): we meet tomorrow at nine\n- 林晓（2026-11-12）：下周四上线\n"
    )
    assert told(channel) == []
