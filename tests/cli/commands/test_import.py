"""`pipimem import`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_an_archive_comes_in_and_is_taken_back(call: Call, bot: Path, tmp_path: Path) -> None:
    """In another workspace; a dry run only says so."""
    other = tmp_path / "other"
    call("init", str(other))
    call("remember", "room", "The port is 8080")
    call("export", "x.zip")
    told = call("import", "x.zip", "--dry-run", workspace=other)
    assert told.out == "1 channel would come in, 0 stood there already\n"
    assert not (other / "channels" / "room").exists()
    told = call("import", "x.zip", workspace=other)
    assert told.out == "1 channel came in, 0 stood there already\n"
    assert "`pipimem import --undo 1` takes it back" in told.err
    assert "8080" in call("recall", "room", "which port", workspace=other).out
    told = call("import", "--undo", "--yes", workspace=other)
    assert told.out == "import 1 was taken back:\n  1 channel removed\n"
    assert not (other / "channels" / "room").exists()
    assert (bot / "channels" / "room" / "MEMORY.md").exists()


def test_memory_answers_the_same_in_the_other_workspace(
    call: Call, conversation: Path, tmp_path: Path
) -> None:
    """Recall, search, blame and log, to the ids and scores; also after a further entry."""
    other = tmp_path / "other"
    call("init", str(other))
    call("replay", "room", str(conversation), "--kind", "group")
    call("remember", "room", "The port is 8080")
    call("export", "x.zip")
    call("import", "x.zip", workspace=other)
    for asked in (
        ("recall", "room", "when is the lantern release", "--json"),
        ("search", "room", "上线窗口", "--json"),
        ("blame", "room", "--json"),
        ("log", "room", "--json"),
        ("list", "room", "--json"),
    ):
        assert call(*asked, workspace=other).lines == call(*asked).lines
    assert call("undo", "room", "--yes", workspace=other).code == 0
    assert "8080" not in (other / "channels/room/MEMORY.md").read_text()


def test_what_cannot_be_taken_in_is_told_in_a_sentence(call: Call, tmp_path: Path) -> None:
    """No archive, no file, no source, no import to undo."""
    (tmp_path / "x.zip").write_text("PK, but not really")
    told = call("import", "x.zip")
    assert (told.code, told.err.startswith("pipimem: x.zip is damaged or cut short")) == (1, True)
    assert call("import", "nowhere.zip").err == "pipimem: nowhere.zip: No such file or directory\n"
    assert call("import").code == 2
    assert call("import", "--undo", "x").code == 2
    told = call("import", "--undo", "--yes")
    assert told.err == "pipimem: no import of this workspace is left to be taken back\n"


def test_a_log_comes_in_after_a_dry_run_that_counts(call: Call, bot: Path, tmp_path: Path) -> None:
    """What is new, hidden and left out, with the reason and its first place."""
    rows = [
        '{"role": "user", "name": "Ann", "content": "mine <private>x</private> is fine"}',
        '{"role": "ghost", "content": "boo"}',
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(rows))
    told = call("import", "talk.jsonl", "--channel", "room", "--dry-run")
    assert told.out.splitlines() == [
        "a log of messages as JSON Lines, JSON or CSV: a dry run, nothing is written",
        "  room: 0 entries, 0 days, 1 message",
        "taken in: 0 entries, 0 days, 1 message",
        "stood there already: 0",
        "0 secrets masked, 1 private stretch left out",
        "left out: 1 × a row of the role 'ghost' (as talk.jsonl:2)",
    ]
    assert list((bot / "channels").iterdir()) == []
    done = call("import", "talk.jsonl", "--channel", "room", "--json").object
    assert (done["from"], done["messages"], done["number"], done["private"]) == ("log", 1, 1, 1)
    assert done["left_out"] == {"a row of the role 'ghost'": 1}
    assert list(done["channels"]) == ["room"]  # type: ignore[call-overload]
    assert call("status", "--json").object["channels"][0]["backlog"] == 0  # type: ignore[index]
    assert call("import", "--undo", "--json", "--yes").object["removed"] == ["room"]


def test_talk_is_learnt_from_where_it_is_asked_for(
    call: Call, conversation: Path, bot: Path
) -> None:
    """And what was learnt goes with the import."""
    told = call(
        "import", str(conversation), "--channel", "room", "--kind", "group", "--consolidate"
    )
    assert told.code == 0
    assert "lantern release is on Thursday" in (bot / "channels/room/MEMORY.md").read_text()
    assert "bob (2026-03-02)" in call("blame", "room", "memory").out
    assert call("import", "--undo", "--yes").out.endswith("  1 channel removed\n")


def test_talk_that_a_cut_off_import_left_is_named(
    call: Call, conversation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing new comes in the second time, so nothing is consolidated; it says what is to do."""
    words = ("import", str(conversation), "--channel", "room", "--consolidate")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as crash:
        crash.setattr("pipimem.cli.running.learnt", killed)
        assert call(*words).code == 1
    waits = "room: 6 messages still to be consolidated; `pipimem consolidate room` goes on"
    assert waits in call(*words).err
    assert call("consolidate", "room").code == 0
    assert "consolidated" not in call(*words).err


def test_what_is_not_known_is_named_by_hand(call: Call, tmp_path: Path) -> None:
    """The sentence says the names; an archive's channels keep theirs."""
    (tmp_path / "a.txt").write_text("hello")
    told = call("import", "a.txt")
    assert (told.code, "Say with --from what it is: chatgpt, claude" in told.err) == (1, True)
    call("remember", "room", "The port is 8080")
    call("export", "x.zip")
    assert call("import", "x.zip", "--channel", "other").code == 2
