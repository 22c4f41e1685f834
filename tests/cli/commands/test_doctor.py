"""`pipimem doctor`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pipimem.clock import Clock
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Invalidate, Trust
from pipimem.runtime import embeddings
from pipimem.state.schedule import ScheduledVisit
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import Schedule
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call, snapshot


def wrongs(call: Call) -> list[tuple[str, str]]:
    """Where something is wrong, and what."""
    return [
        (one["where"], one["what"])
        for one in call("doctor", "--json").object["findings"]
        if one["wrong"]
    ]  # type: ignore[attr-defined]


def test_a_healthy_workspace_is_well(call: Call, bot: Path, conversation: Path) -> None:
    """Exit 0, and nothing was touched."""
    call("replay", "room", str(conversation))
    before = snapshot(bot)
    told = call("doctor")
    assert (told.code, told.out.splitlines()[-1]) == (0, "No problems.")
    assert snapshot(bot) == before


def test_a_prompt_without_a_version_is_reported(call: Call, bot: Path) -> None:
    """It is not used, and the finding says what to do."""
    (bot / "prompts").mkdir()
    path = bot / "prompts" / "tidy.md"
    path.write_text("Tidy {{memory}}.\n---user---\n", "utf-8")
    [(where, what)] = wrongs(call)
    assert where.endswith("tidy.md")
    assert "write <!-- version: 2 --> into the first line" in what
    path.write_text("<!-- version: 2 -->\nTidy {{memory}}.\n---user---\n", "utf-8")
    assert wrongs(call) == []
    path.write_bytes(b"\xff\xfe")
    assert "make it UTF-8 text" in wrongs(call)[0][1]


def test_a_missing_embedder_is_recommended_first_and_once(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrong without it; where the settings name one, doctor says what that lacks."""
    monkeypatch.setattr(embeddings, "_is_installed", lambda _: False)
    first = call("doctor", "--json").object["findings"][0]  # type: ignore[index]
    assert (first["wrong"], first["what"].startswith("recommended: an embedder")) == (False, True)
    told = call("doctor")
    assert told.out.count("pip install 'pipimem[embeddings]'") == 1
    (bot / "pipimem.toml").write_text('[embedder]\nname = "local"\n')
    named = call("doctor")
    assert "recommended" not in named.out
    assert named.out.count("pip install 'pipimem[embeddings]'") == 1


def test_a_secret_in_a_file_is_told_by_line_and_never_printed(call: Call, bot: Path) -> None:
    """File and line, not the secret."""
    (bot / "channels" / "room").mkdir()
    memory = bot / "channels" / "room" / "MEMORY.md"
    memory.write_text("# Memory\n\n- key: sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\n")
    told = call("doctor", "--json")
    assert (told.code, "sk-proj" in told.out + told.err) == (1, False)
    assert [where for where, _ in wrongs(call)] == [f"{memory}, line 3"]


def test_secrets_in_a_transcript_are_told_by_kind_and_count(call: Call, bot: Path) -> None:
    """In text and in JSON, never the secret; where there is none, neither field stands."""
    call("remember", "room", "alice likes tea")
    key = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    lines = [f'{{"id": "x{n}", "n": {n}, "role": "user", "content": "{key}"}}\n' for n in (7, 8)]
    log = bot / "channels/room/log.jsonl"
    log.write_text("".join(lines))
    told = call("doctor", "--json")
    findings = told.object["findings"]
    assert isinstance(findings, list)
    (one,) = [finding for finding in findings if finding["wrong"]]
    assert (one["where"], one["kind"], one["count"]) == (str(log), "openai-key", 2)
    assert all("kind" not in other for other in findings if other is not one)
    text = call("doctor")
    assert "2 secrets of one kind stand here (openai-key), message x7, message x8" in text.out
    assert (told.code, text.code, key in told.out + text.out) == (1, 1, False)


def test_unreadable_files_and_damaged_records_are_told(
    call: Call, bot: Path, conversation: Path
) -> None:
    """A binary file, a state that is no database, a transcript with a broken one, a folder of
    another channel.
    """
    call("replay", "room", str(conversation))
    for text in ("The door code changes on Mondays", "The port is 9090"):
        call("remember", "room", text)
    call("remember", "hall", "The port is 8080")
    room, hall = bot / "channels/room", bot / "channels/hall"
    (hall / "MEMORY.md").write_bytes(b"\xff\xfe caf\xe9")
    state = room / ".pipimem/state.db"
    state.write_bytes(b"no database " * 1_000)
    told = dict(wrongs(call))
    assert "not UTF-8" in told[str(hall / "MEMORY.md")]
    assert "notes and talk are whole" in told[str(state)]


def test_broken_lines_and_foreign_folders_are_told(
    call: Call, bot: Path, conversation: Path
) -> None:
    """What reading passes over, a person should know of."""
    call("replay", "room", str(conversation))
    log = bot / "channels/room/log.jsonl"
    log.write_text(log.read_text().replace('"role": "assistant"', '"role": "ghost"', 1))
    [(where, what)] = wrongs(call)
    assert (where, what.partition(";")[0]) == (str(log), "1 line that is no message")
    (bot / "channels/room").rename(bot / "channels/lounge")
    assert wrongs(call)[0][1] == "belongs to the channel 'room'; rename the folder to room"


def test_settings_that_are_not_understood_are_told(call: Call, bot: Path) -> None:
    """The sentence is the one every command ends with."""
    (bot / "pipimem.toml").write_text("[recal]\ninject = 3\n")
    assert wrongs(call) == [
        ("pipimem.toml", "pipimem.toml: unknown section 'recal'; did you mean 'recall'?")
    ]


def test_only_whether_the_key_is_set_is_told(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the key itself, and no call is made."""
    told = call("doctor", "--json", model="openai/gpt-5-mini")
    assert (told.code, "OPENAI_API_KEY is not set" in told.out) == (1, True)
    monkeypatch.setenv("OPENAI_API_KEY", "abc123")
    told = call("doctor", "--json", model="openai/gpt-5-mini")
    assert (told.code, "OPENAI_API_KEY is set" in told.out, "abc123" in told.out) == (
        0,
        True,
        False,
    )


def test_fix_mends_what_loses_nothing_and_says_so(
    call: Call, bot: Path, conversation: Path
) -> None:
    """What needs a hand stays, and the exit code with it."""
    call("replay", "room", str(conversation))
    room = bot / "channels/room"
    (room / ".pipimem/.left.pipimem-tmp").write_text("x")
    (room / "HISTORY.md").write_text((room / "HISTORY.md").read_text() + "\n<<<<<<< mine\n")
    told = call("doctor", "--json")
    assert [one["fixable"] for one in told.object["findings"] if "unfinished" in one["what"]] == [
        True
    ]  # type: ignore[attr-defined]
    told = call("doctor", "--fix", "--json")
    assert told.object["fixed"] == [
        {"where": str(room), "done": "what was cut off was finished, the rest swept"}
    ]
    assert (told.code, [what for _, what in wrongs(call)]) == (
        1,
        ["a merge left its marks here; keep one side and take out the marks"],
    )
    again = call("doctor", "--fix")
    assert "fixed:" not in again.out


def test_models_that_took_out_half_are_told_with_the_way_back(call: Call, bot: Path) -> None:
    """Worth knowing, and no reason to end with 1."""
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=True)
    now = Clock().now()
    facts = tuple(
        Add(Kind.FACT, f"{word} stands in the hall", Trust.INFERRED) for word in ("oak", "elm")
    )
    store.commit(Decision("consolidate", Author.MODEL, facts), now)
    assert "half of what stood" not in call("doctor").out
    over = Invalidate(store.notes().memory.entries[0].target, "over")
    store.commit(Decision("tidy", Author.MODEL, (over,)), now)
    store.close()
    told = call("doctor")
    assert told.code == 0
    assert "models have taken out half of what stood within 30 days" in told.out
    assert "`pipimem undo CHANNEL --author model --since 30d`" in told.out


def test_what_of_words_txt_is_no_word_is_told(call: Call, bot: Path) -> None:
    """A pasted text, and a line of more words than stand for each other."""
    names = ", ".join(f"name{number}" for number in range(70))
    (bot / "words.txt").write_text(f"{'字' * 8_000}\n{names}\n")
    findings = call("doctor", "--json").object["findings"]
    assert isinstance(findings, list)
    told = [one["what"] for one in findings if one["where"] == str(bot / "words.txt")]
    assert [what.partition(";")[0] for what in told] == [
        "passed over, longer than 64 characters: 1",
        "passed over, beyond the first 64 of a line: 6",
    ]


@pytest.mark.parametrize("kind", ["a file", "a link to itself", "a link to nothing"])
def test_what_stands_in_the_place_of_all_channels_is_told(call: Call, bot: Path, kind: str) -> None:
    """One finding, no error of the system."""
    top = bot / "channels"
    shutil.rmtree(top)
    if kind == "a file":
        top.write_text("x")
    else:
        top.symlink_to(top if kind == "a link to itself" else "nowhere")
    assert [where for where, _ in wrongs(call)] == [str(top)]


def test_problems_are_counted_in_the_singular_too(call: Call, bot: Path) -> None:
    """One is a problem, two are problems."""
    (bot / "channels" / "room").write_text("")
    assert "1 problem to fix" in call("doctor").err
    (bot / "channels" / "other").write_text("")
    assert "2 problems to fix" in call("doctor").err


def test_a_file_is_named_once(call: Call, bot: Path) -> None:
    """Where it stands, and not again in the sentence about it."""
    words = bot / "words.txt"
    words.write_bytes(b"\xff\xfe")
    (line,) = [line for line in call("doctor").out.splitlines() if "words.txt" in line]
    assert line.split("\t")[:2] == ["wrong", str(words)]
    assert line.split("\t")[2].startswith("line 1: not UTF-8.")


def test_findings_that_are_alike_share_a_line(call: Call, bot: Path) -> None:
    """With their number and the first places; for scripts each stands alone."""
    (bot / "channels" / "room").mkdir()
    memory = bot / "channels" / "room" / "MEMORY.md"
    memory.write_text("# Memory\n\n" + "- tea is green\n" * 200 + "- \n" * 9)
    lines = [line for line in call("doctor").out.splitlines() if str(memory) in line]
    empty, twins = lines
    assert empty.endswith("a bullet without text; and 8 more like it, in lines 204, 205, 206, …")
    assert twins.startswith(f"note\t{memory}, line 4\tsays the same as line 3: ")
    assert twins.endswith("; and 198 more like it, in lines 5, 6, 7, …")
    findings = call("doctor", "--json").object["findings"]
    assert isinstance(findings, list)
    assert sum(str(memory) in one["where"] for one in findings) == 208


def test_what_is_alike_in_several_channels_shares_a_line(call: Call, bot: Path) -> None:
    """The files are named."""
    for name in ("hall", "room"):
        (bot / "channels" / name).mkdir()
        note = bot / "channels" / name / "MEMORY.md"
        note.write_text("- tea is green\n")
        note.chmod(0o644)
        for folder in (bot, bot / "channels", note.parent):
            folder.chmod(0o755)
    (line,) = [line for line in call("doctor").out.splitlines() if "may read it" in line]
    assert line.endswith(f"; and 1 more like it: {bot / 'channels/room/MEMORY.md'}")


def test_remarks_alone_are_no_problem(call: Call, bot: Path) -> None:
    """Exit 0 while a remark is left, 1 with a problem."""
    memory = bot / "channels" / "room" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_text("- tea is green\n- tea is green\n")
    told = call("doctor")
    assert (told.code, "says the same as line 1" in told.out) == (0, True)
    memory.write_text("- tea is green\n- we meet tomorrow\n")
    assert call("doctor").code == 1


def test_a_broken_line_of_the_transcript_is_set_aside(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Word for word, by the command that the finding names; the talk is found as before."""
    call("replay", "room", str(conversation))
    log, damaged = bot / "channels/room/log.jsonl", bot / "channels/room/log.jsonl.damaged"
    before = log.read_bytes()
    first, rest = before.split(b"\n", 1)
    log.write_bytes(first + b"\n\xff the zebra count is 4417\n" + rest + b"{torn")
    [(_, what)] = wrongs(call)
    assert "2 lines that are no message; passed over. `pipimem doctor --fix`" in what
    told = call("doctor", "--fix")
    assert (told.code, "2 lines moved into log.jsonl.damaged" in told.out) == (0, True)
    assert log.read_bytes() == before
    assert damaged.read_bytes() == b"\xff the zebra count is 4417\n{torn\n"
    assert damaged.stat().st_mode & 0o077 == 0
    assert "lines that were taken out of the transcript" in call("doctor").out
    call("forget", "room", "the zebra count is 4417", "--yes")
    assert b"4417" not in damaged.read_bytes()


def test_a_secret_in_a_line_that_was_set_aside_is_told(call: Call, bot: Path) -> None:
    """With the command that removes it."""
    call("remember", "room", "alice likes tea")
    damaged = bot / "channels/room/log.jsonl.damaged"
    damaged.write_text("sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\n")
    [(where, what)] = wrongs(call)
    assert (where, "`pipimem forget CHANNEL TEXT` removes it" in what) == (str(damaged), True)


def test_a_note_that_everybody_may_write_is_told_and_closed(call: Call, bot: Path) -> None:
    """A problem where folders let others in, else a remark; SOUL.md as well as notes."""
    soul, room = bot / "SOUL.md", bot / "channels" / "room"
    soul.write_text("Be kind.\n")
    soul.chmod(0o666)
    room.mkdir(mode=0o700)
    (room / "MEMORY.md").write_text("- tea is green\n")
    (room / "MEMORY.md").chmod(0o662)
    bot.chmod(0o755)
    [(where, what)] = wrongs(call)
    assert (where, what) == (
        str(soul),
        f"by its mode every user may write to it; chmod o-w '{soul}' keeps them out",
    )
    assert f"chmod o-w '{room / 'MEMORY.md'}'" in call("doctor").out
    assert call("doctor", "--fix").code == 0
    modes = [path.stat().st_mode & 0o777 for path in (soul, room / "MEMORY.md")]
    assert modes == [0o664, 0o660]


def test_a_memory_that_is_far_too_long_is_told(call: Call, bot: Path) -> None:
    """A hundred times what a turn may show, by the settings."""
    memory = bot / "channels" / "room" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_text("- tea is green\n" * 100)
    (bot / "pipimem.toml").write_text("[recall]\nmax_chars = 16\n")
    assert "far too long" not in call("doctor").out
    (bot / "pipimem.toml").write_text("[recall]\nmax_chars = 14\n")
    told = call("doctor")
    assert (
        "1,500 characters, of which a turn shows at most 14 (max_chars under [recall])" in told.out
    )
    assert told.code == 0


def test_a_damaged_database_is_set_aside(call: Call, bot: Path) -> None:
    """Until then it is a problem, behind it a remark: the budgets of today lack what it held."""
    call("remember", "room", "The port is 8080")
    state = WorkspaceStore.open(bot).state
    state.take_over()
    schedule = Schedule(state)
    for number in range(999):
        schedule.note(f"room-{number}", ScheduledVisit(None, "a"))
    schedule.write()
    data = bytearray(state.database.path.read_bytes())
    data[-3000:] = b"\xff" * 3000
    state.database.path.write_bytes(data)
    (found,) = wrongs(call)
    assert found[0] == str(state.database.path)
    assert "is damaged" in found[1]
    assert call("doctor", "--fix").code == 0
    assert wrongs(call) == []
    assert (bot / ".pipimem" / "state.db.damaged").read_bytes() == data
    assert "was set aside" in call("doctor").out


def test_entries_that_may_contradict_each_other_are_remarks(call: Call) -> None:
    """Until a person settles them; two of one form about two things are none."""
    for text in ("the gate opens at 8:00", "the gate opens at 9:00", "the yard opens at 9:00"):
        call("remember", "room", text)
    told = call("doctor")
    assert told.code == 0
    assert told.out.count("may contradict line") == 1
    (pair,) = call("conflicts", "room", "--json").lines
    call("conflicts", "room", "--both", pair["older"]["id"], pair["newer"]["id"])
    assert "may contradict" not in call("doctor").out
