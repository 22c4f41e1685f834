"""`pipimem forget`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call, snapshot


def everything(bot: Path) -> str:
    """All bytes below the channels, as text."""
    return "".join(
        p.read_bytes().decode("utf-8", "replace")
        for p in (bot / "channels").rglob("*")
        if p.is_file()
    )


def test_forget_removes_a_text_from_every_place(call: Call, bot: Path, conversation: Path) -> None:
    """Files, past texts, changes and transcript; the counts say from where."""
    call("replay", "room", str(conversation))
    call("remember", "room", "林晓说上线窗口定在周四晚上九点")
    told = call("forget", "room", "上线窗口定在周四晚上九点", "--yes", "--json")
    assert told.code == 0
    assert (told.object["messages"], told.object["entries"] >= 1) == (1, True)  # type: ignore[operator]
    assert "This would go:" in told.err
    assert "上线窗口定在周四晚上九点" not in everything(bot)


def test_a_request_alone_is_no_forgetting(call: Call, bot: Path, tmp_path: Path) -> None:
    """The message blanked would be the request: the shell refuses as `Channel.forget` does."""
    said = "I have haemophilia"
    asked = "Forget what I said about my blood."
    talk = tmp_path / "talk.jsonl"
    lines = [{"role": "user", "speaker": "Tom", "content": text} for text in (said, asked)]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call("replay", "room", str(talk))
    before = everything(bot)
    for words in (("forget", "room", "my blood", "--yes"), ("forget", "room", "my blood")):
        told = call(*words, typed="y\n")
        assert (told.code, "stands only in the request itself" in told.err) == (1, True)
    told = call("chat", "room", typed="/forget my blood\n/quit\n")
    assert (told.code, "stands only in the request itself" in told.err) == (0, True)
    assert asked in everything(bot)
    assert everything(bot) == before


def test_forget_asks_and_takes_no_for_an_answer(call: Call, bot: Path) -> None:
    """It shows what would go; without a yes nothing goes, and silence is no yes."""
    call("remember", "room", "The port is 8080")
    before = everything(bot)
    for answer in ("n\n", ""):
        told = call("forget", "room", "8080", typed=answer)
        assert (told.code, "- MEMORY.md · Facts: The port is 8080" in told.err) == (1, True)
        assert "nothing was forgotten" in told.err
    assert everything(bot) == before
    assert call("forget", "room", "8080", typed="y\n").code == 0
    assert "8080" not in (bot / "channels/room/MEMORY.md").read_text()


def test_forget_can_spare_the_transcript(call: Call, bot: Path, conversation: Path) -> None:
    """`--keep-transcript` leaves log.jsonl as it was."""
    call("replay", "room", str(conversation))
    log = bot / "channels/room/log.jsonl"
    before = log.read_bytes()
    call("remember", "room", "the release of the lantern service")
    assert (
        call(
            "forget", "room", "the release of the lantern service", "--yes", "--keep-transcript"
        ).code
        == 0
    )
    assert log.read_bytes() == before


def test_an_entry_goes_by_its_id_as_recall_tells_it(call: Call, bot: Path) -> None:
    """`memory:abcd2345` and `abcd2345` both name it."""
    call("remember", "room", "The lantern port is 8080")
    (found,) = call("recall", "room", "lantern port", "--json").object["candidates"]  # type: ignore[misc]
    told = call("forget", "room", found["id"], "--yes")
    assert (told.code, "8080" in (bot / "channels/room/MEMORY.md").read_text()) == (0, False)


def test_what_nothing_holds_is_told(call: Call) -> None:
    """Exit 1, so that a script sees it."""
    call("remember", "room", "The port is 8080")
    told = call("forget", "room", "9090", "--yes")
    assert (told.code, "nothing in room holds '9090'" in told.err) == (1, True)
    assert call("forget", "room", " ", "--yes").code == 1


def test_what_stands_nowhere_is_told_before_what_would_end(call: Call) -> None:
    """A slip of the finger must not read as if everything would end."""
    call("remember", "room", "The port is 8080")
    told = call("forget", "room", "9090", typed="y\n")
    assert told.err.startswith("Nothing that would be shown holds it.")
    assert "cannot be taken back" not in told.err


def test_a_spared_transcript_that_holds_the_text_is_told(call: Call, conversation: Path) -> None:
    """Nothing was forgotten, and yet it is not true that nothing holds it."""
    call("replay", "room", str(conversation))
    said = str(json.loads(conversation.read_text().splitlines()[0])["content"])
    told = call("forget", "room", said, "--yes", "--keep-transcript")
    assert (told.code, "of log.jsonl in room hold" in told.err) == (1, True), told.err


def test_what_would_go_is_shown_whole(call: Call, bot: Path) -> None:
    """An entry goes as a whole, so all of it is shown before anybody says yes."""
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(
        memory.read_text() + f"- {'a long story ' * 12}about 9090\n  and its second line\n- 别的\n"
    )
    told = call("forget", "room", "9090", typed="y\n")
    assert f"{'a long story ' * 12}about 9090\n    and its second line\n" in told.err
    assert memory.read_text() == "# Memory\n\n## Facts\n\n- The port is 8080\n- 别的\n"


def test_forget_by_query_lets_a_person_choose(call: Call, bot: Path) -> None:
    """Recall finds, numbers choose; silence and wrong numbers forget nothing."""
    for text in ("The lantern port is 8080", "The lantern colour is red", "Bob likes tea"):
        call("remember", "room", text)
    memory = bot / "channels/room/MEMORY.md"
    for answer in ("", "\n", "9\n", "1\nn\n"):
        assert call("forget", "room", "--query", "lantern port", typed=answer).code == 1
    assert "8080" in memory.read_text()
    told = call("forget", "room", "--query", "lantern port", typed="1\ny\n")
    assert (told.code, "8080" in memory.read_text(), "Bob" in memory.read_text()) == (
        0,
        False,
        True,
    )
    assert call("forget", "room", "--query", "zeppelin", "--yes").code == 1
    assert call("forget", "room", "--query", "lantern colour", "--yes").code == 0
    assert "red" not in memory.read_text()


def test_the_receipt_says_what_went_where(call: Call, bot: Path, conversation: Path) -> None:
    """Each file with a count, and what is out of reach; the usage ledger of 0.2 quotes no more."""
    call("replay", "room", str(conversation))
    call("remember", "room", "上线窗口定在周四晚上九点")
    usage = bot / ".pipimem/usage-2026-03.jsonl"
    line = {
        "time": "2026-03-02T09:00:00+08:00",
        "channel": "room",
        "task": "tidy",
        "reason": "上线窗口定在周四晚上九点?",
    }
    usage.write_text(json.dumps(line, ensure_ascii=False) + "\n")
    told = call("forget", "room", "上线窗口定在周四晚上九点", "--yes", "--json")
    places = told.object["places"]
    assert isinstance(places, dict)
    assert {"MEMORY.md", "log.jsonl", ".pipimem/state.db"} <= set(places)
    assert "backups" in told.err
    verified = call("forget", "room", "--verify", "上线窗口定在周四晚上九点")
    assert (verified.code, "nothing is left of it" in verified.out) == (0, True)


def test_verify_names_every_place_and_changes_nothing(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Exit 1 with file and line; a person's own file of the workspace is told beside it."""
    call("replay", "room", str(conversation))
    (bot / "MEMORY.md").write_text("# Shared\n\n- The LANTERN release is on Thursday\n")
    (bot / "channels/room/notes.txt").write_text("x\n\nlantern\n  release is on\tThursday")
    before = snapshot(bot)
    told = call("forget", "room", "--verify", "lantern release is on Thursday", "--json")
    places = [(Path(str(one["path"])).name, one["line"]) for one in told.object["places"]]  # type: ignore[attr-defined]
    assert told.code == 1
    assert ("notes.txt", 0) in places
    assert ("log.jsonl", 3) in places
    assert told.object["peoples"] == ["MEMORY.md, line 3"]
    assert snapshot(bot) == before
    assert call("forget", "room", "--verify", " ").code == 1
    assert call("forget", "room", "x", "--verify", "x").code == 2
    assert call("forget", "room").code == 2


def test_nothing_brings_back_what_was_forgotten(call: Call, bot: Path, conversation: Path) -> None:
    """Neither a second replay of the same talk nor undo or restore; told anew it is remembered."""
    call("replay", "room", str(conversation))
    assert "2026-03-12" in (bot / "channels/room/MEMORY.md").read_text()
    assert call("forget", "room", "2026-03-12", "--yes").code == 0
    call("replay", "room", str(conversation))
    call("maintain", "room")
    call("undo", "room")
    call("restore", "room", "--to", "0", "--yes")
    call("undo", "room")
    assert call("forget", "room", "--verify", "2026-03-12").code == 0
    call("remember", "room", "The lantern release is on Thursday 2026-03-12")
    assert "2026-03-12" in (bot / "channels/room/MEMORY.md").read_text()


def test_the_question_says_how_much_would_go(call: Call, conversation: Path) -> None:
    """The list of a short text is longer than a screen; a few things are not counted."""
    call("replay", "room", str(conversation))
    for number in range(11):
        call("remember", "room", f"Port {number} is taken by the quokka number {number * 7}")
    told = call("forget", "room", "quokka", typed="n\n")
    assert (told.code, "Forget 11 entries and 0 messages for good?" in told.err) == (1, True)
    assert "Forget this for good?" in call("forget", "room", "number 77", typed="n\n").err


def test_it_says_before_it_asks_that_undo_ends(call: Call) -> None:
    """And afterwards undo, diff, restore and blame say why they reach no further."""
    call("remember", "room", "The port is 8080")
    call("remember", "room", "Bob likes tea")
    told = call("forget", "room", "8080", typed="n\n")
    assert (
        "Undo, diff and restore end here, and the log begins anew"
        in told.err.split("Forget this for good?")[0]
    )
    assert call("undo", "room").code == 0
    assert call("forget", "room", "8080", "--yes").code == 0
    for command in (
        ("undo", "room", "1"),
        ("diff", "room", "--since", "1"),
        ("restore", "room", "--to", "1", "--yes"),
    ):
        ended = call(*command)
        assert (
            ended.code,
            "is a forgetting: what came before it cannot be looked back at" in ended.err,
        ) == (1, True)
    assert "nothing changed" in call("diff", "room").err
    call("remember", "room", "Carol likes tea")
    assert "+- Carol likes tea" in call("diff", "room").out
    assert [line["text"] for line in call("blame", "room", "--json").lines] == ["Carol likes tea"]


def test_blame_says_what_the_ledger_knows_of_what_stood_before(call: Call) -> None:
    """Who and when; by which change, a forgetting has ended."""
    call("remember", "room", "The port is 8080")
    call("remember", "room", "Bob likes tea")
    call("forget", "room", "8080", "--yes")
    told = call("blame", "room")
    assert "before the forgetting of" in told.err
    (line,) = call("blame", "room", "--json").lines
    assert (line["text"], line["trust"], line["seq"]) == ("Bob likes tea", "explicit", None)
    assert line["when"]


def test_what_an_older_editor_buffer_would_bring_back_is_told(call: Call, bot: Path) -> None:
    """`status` and `doctor` say that it was taken out, and not what; `--verify` finds nothing."""
    for fact in ("Tea is green", "The door sign is zebra7", "Milk is white"):
        call("remember", "room", fact)
    memory = bot / "channels/room/MEMORY.md"
    loaded = memory.read_text()
    assert call("forget", "room", "zebra7", "--yes").code == 0
    memory.write_text(loaded.replace("Tea is green", "Tea is green and hot"))
    call("remember", "room", "The lamp is blue")
    assert "zebra7" not in everything(bot)
    assert "Tea is green and hot" in memory.read_text()
    for told in (call("status").err, call("doctor").out):
        assert "MEMORY.md was saved from a text of before a forgetting" in told
    assert call("forget", "room", "--verify", "zebra7").code == 0


def test_a_word_inside_another_stays_unless_asked_for(call: Call, bot: Path) -> None:
    """`tomorrow` holds no Tom: it is listed apart, and goes after a yes of its own, or with
    `--inside-words`.
    """
    memory = bot / "channels/room/MEMORY.md"
    for text in ("Tom likes tea", "The party is tomorrow"):
        call("remember", "room", text)
    told = call("forget", "room", "Tom", typed="n\n")
    goes, stays = told.err.split("Only inside another word it stands here:")
    assert ("Tom likes tea" in goes, "tomorrow" in goes, "The party is tomorrow" in stays) == (
        True,
        False,
        True,
    )
    assert call("forget", "room", "Tom", "--yes").code == 0
    assert memory.read_text().endswith("- The party is tomorrow\n")
    assert call("forget", "room", "--verify", "Tom").code == 0
    assert call("forget", "room", "--verify", "Tom", "--inside-words").code == 1
    told = call("forget", "room", "Tom", "--yes")
    assert (told.code, "only inside other words; --inside-words" in told.err) == (1, True)
    assert "tomorrow" in memory.read_text()
    assert call("forget", "room", "Tom", typed="y\n").code == 0
    assert "tomorrow" not in memory.read_text()


def test_both_questions_may_be_answered(call: Call, bot: Path) -> None:
    """The second is about what holds it inside another word; Chinese has no such lines."""
    memory = bot / "channels/room/MEMORY.md"
    for text in ("Tom likes tea", "The party is tomorrow", "下周五发布"):
        call("remember", "room", text)
    assert call("forget", "room", "Tom", typed="y\ny\n").code == 0
    assert [line for line in memory.read_text().splitlines() if line.startswith("- ")] == [
        "- 下周五发布"
    ]
    assert "Only inside" not in call("forget", "room", "周五", "--yes").err
    assert "周五" not in memory.read_text()
    call("remember", "room", "The party is tomorrow")
    assert call("forget", "room", "Tom", "--yes", "--inside-words").code == 0
    assert "tomorrow" not in memory.read_text()


def test_a_message_goes_by_its_id(call: Call, bot: Path, conversation: Path) -> None:
    """As `search` gives it, with or without `--message`; `detail` says that it was forgotten."""
    call("replay", "room", str(conversation))
    for way, gone in ((["r4"], ["r4"]), (["--message", "r3"], ["r3"])):
        told = call("forget", "room", *way, "--yes")
        assert told.code == 0, told.err
        for name in gone:
            assert call("detail", "room", name).out.rstrip().endswith("(forgotten)")


def test_all_that_a_speaker_said_goes(call: Call, bot: Path, conversation: Path) -> None:
    """And a name that nobody has is told."""
    call("replay", "room", str(conversation))
    assert call("forget", "room", "--speaker", "林晓", "--yes").code == 0
    assert "上线窗口定在周四" not in (bot / "channels/room/log.jsonl").read_text("utf-8")
    told = call("forget", "room", "--speaker", "Zed", "--yes")
    assert (told.code, "Nobody called 'Zed'" in told.err) == (1, True)


def test_a_forget_that_found_nothing_is_no_change(call: Call) -> None:
    """The log has no line of it; what went is told by the files that held it."""
    call("remember", "room", "The port is 8080")
    call("forget", "room", "9090", "--yes")
    assert [line["task"] for line in call("log", "room", "--json").lines] == ["remember"]
    call("forget", "room", "8080", "--yes")
    (only,) = call("log", "room", "--json").lines
    assert [change["file"] for change in only["changes"]] == ["MEMORY.md"]  # type: ignore[attr-defined]


def test_what_a_bot_of_0_2_left_is_forgotten_with_the_rest(call: Call, bot: Path) -> None:
    """Its first messages were acknowledged and are in no transcript: it would store them later."""
    path = bot / ".pipimem" / "dingtalk-arrivals.jsonl"
    path.parent.mkdir(exist_ok=True)
    shutil.copy(Path(__file__).parents[2] / "fixtures" / "dingtalk-arrivals-0.2.jsonl", path)
    told = call("forget", "new/one", "555 0199", "--yes", "--json")
    assert (told.code, told.object["messages"]) == (0, 1)
    assert not path.exists()
    assert "0199" not in everything(bot)
    assert call("forget", "new/one", "--verify", "555 0199").code == 0
    assert "nobody" in call("forget", "nobody", "555 0199").err
    assert "new/one" in [one["id"] for one in call("channels", "--json").lines]


def test_what_would_go_from_the_archive_with_a_message_is_shown(call: Call, bot: Path) -> None:
    """What was learnt from it and stands no more in the notes, as the receipt counts it."""
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=True)
    store.append([Message.user("my number is 555 0199", id="m1", speaker="alice")])
    store.close()
    archive = bot / "channels/room/HISTORY.archive.md"
    archive.write_text("# History\n\n- alice (2026-03-01): my number is 555 0199\n- tea\n")
    told = call("forget", "room", "--message", "m1", typed="n\n")
    assert "- HISTORY.archive.md · History: alice (2026-03-01): my number is 555 0199" in told.err
    assert ("tea" in told.err, "Forget this for good?" in told.err) == (False, True)
    done = call("forget", "room", "--message", "m1", "--yes", "--json")
    assert (done.object["archive"], archive.read_text()) == (1, "# History\n\n- tea\n")


def test_lines_that_are_no_entries_are_shown_as_well(call: Call, bot: Path) -> None:
    """A heading, a row of a table, and an entry for the comment in it: all of them would go."""
    memory = bot / "channels/room/MEMORY.md"
    call("remember", "room", "tea at four")
    memory.write_text(
        "# Memory\n\n## Zurich\n\n- trams <!-- of Zurich -->\n- tea at four\n\n"
        "| town | trams |\n|---|---|\n| Bonn | 6 |\n| Zurich | 14 |\n"
    )
    told = call("forget", "room", "Zurich", typed="y\n")
    shown = [line for line in told.err.splitlines() if line.startswith("- ")]
    assert shown == [
        "- MEMORY.md · Zurich: ## Zurich",
        "- MEMORY.md · Zurich: trams",
        "- MEMORY.md · Zurich: | Zurich | 14 |",
    ]
    assert memory.read_text() == (
        "# Memory\n\n## …\n\n- tea at four\n\n| town | trams |\n|---|---|\n| Bonn | 6 |\n"
    )


def test_names_that_would_go_from_messages_are_shown(call: Call, conversation: Path) -> None:
    """What alice said stays; who said it does not, and the receipt counts it."""
    call("replay", "room", str(conversation))
    told = call("forget", "room", "alice", typed="n\n")
    assert "- log.jsonl: the name alice from 1 message" in told.err
    done = call("forget", "room", "alice", "--yes", "--json")
    assert done.object["messages"] == 1
