"""`forget`: gone from every file, past text, change and transcript, and not learnt again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name
from threading import Timer

import pytest
from msgspec.structs import replace
from pipimem.errors import NothingFound, StoreError, UnreadableNote
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Asked
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Bullet, Decision, Invalidate, Progress, Target
from pipimem.state.channel_state import ChannelState
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import commit, publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import exchange
from pipimem.store.forget import forget, places
from pipimem.store.health.own_state import leftover_findings
from pipimem.store.history.edit_notices import edit_notices

from tests.cases import table

Add = Callable[..., Decision]


_KEY = re.compile(r"[0-9a-f]{8,}")


def holding(folder: Path, text: str) -> list[str]:
    """The files that still hold a text, case aside; random keys hold any four digits by chance."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and text.casefold() in _KEY.sub("", _content(path)).casefold()
    )


def _content(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


@pytest.fixture
def full(channel: ChannelStore, now: datetime, add: Add) -> ChannelStore:
    """A channel in which a phone number stands wherever one can stand."""
    channel.append(
        [
            Message.user("my number is 555 0199", id="m1", speaker="alice"),
            Message.user("lunch?", id="m2"),
        ]
    )
    decision = add("alice's number is 555 0199", "bob likes tea", cursor=2)
    pending = (Bullet("she gave 555 0199"), Bullet("lunch"))
    channel.commit(
        replace(
            decision, why="she said 555 0199", progress=replace(decision.progress, pending=pending)
        ),
        now,
    )
    for file in (File.SESSION, File.HISTORY, File.ARCHIVE):
        (channel.folder / file).write_text(
            "# 555 0199\n\n- call 555\n  0199 today\n- tea\n\n```\n555 0199\nkeep\n```\n"
        )
    channel.commit(add("carol likes tea"), now)
    return channel


def test_a_text_is_gone_from_everywhere(full: ChannelStore, now: datetime) -> None:
    """Also where it runs over two lines, in a heading, in code; what stood beside it stays."""
    counts = full.forget("555 0199", keep_transcript=False, now=now, actor="alice").counts
    assert holding(full.folder, "0199") == []
    assert counts["entries"] >= 3
    assert counts["messages"] == 1
    assert (full.folder / "HISTORY.md").read_text() == "# …\n\n- tea\n\n```\nkeep\n```\n"
    assert [entry.text for entry in full.notes().memory.entries] == [
        "bob likes tea",
        "carol likes tea",
    ]
    assert [bullet.text for bullet in full.ledger.pending] == ["lunch"]
    assert [message.content for message in full.transcript.messages()] == ["", "lunch?"]
    assert full.ledger.cursor == 2


def test_forgetting_twice_proves_it(full: ChannelStore, now: datetime) -> None:
    """Given the text again there is nothing left to take out."""
    full.forget("555 0199", keep_transcript=False, now=now)
    assert set(full.forget("555 0199", keep_transcript=False, now=now).counts.values()) == {0}


def test_the_transcript_can_be_spared(full: ChannelStore, now: datetime) -> None:
    """`--keep-transcript`: the log stays byte for byte."""
    before = full.transcript.path.read_bytes()
    full.forget("555 0199", keep_transcript=True, now=now)
    assert full.transcript.path.read_bytes() == before
    assert holding(full.folder, "0199") == ["log.jsonl"]


def test_it_is_not_learnt_again_from_older_talk(
    full: ChannelStore, now: datetime, add: Add
) -> None:
    """The tombstone holds a keyed hash, not the text; a message delivered again is known still."""
    full.forget("555 0199", keep_transcript=False, now=now)
    done = full.commit(add("alice's number is 555 0199"), now)
    assert len(done.outcome.refused) == 1
    assert full.append([Message.user("my number is 555 0199", id="m1")]) == ()


def test_an_entry_is_forgotten_by_its_id(full: ChannelStore, now: datetime) -> None:
    """With the messages it rests on; another process sees the same, and the next start."""
    entry = full.notes().memory.entries[0]
    other = ChannelStore.open(full.workspace, "team", create=False)
    assert len(other.notes().memory.entries) == 3
    full.forget([f"memory:{entry.ref}"], keep_transcript=False, now=now)
    assert [found.text for found in other.notes().memory.entries] == [
        "bob likes tea",
        "carol likes tea",
    ]
    assert next(other.transcript.messages()).content == ""
    full.close()
    assert ChannelStore.open(full.workspace, "team", create=False).ledger == full.ledger


def test_with_a_message_goes_what_was_learnt_from_it_and_stands_no_more(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Past texts and the archive have it, for merges and looking back; what says more stays."""
    channel.append([Message.user("my number is 555 0199", id="m1", speaker="alice")])
    channel.commit(add("alice can be reached at 555 0199", "bob likes tea"), now)
    memory, archive = channel.folder / "MEMORY.md", channel.folder / "HISTORY.archive.md"
    learnt = memory.read_text()
    memory.write_text(learnt.replace("- alice can be reached at 555 0199\n", ""))
    archive.write_text("- alice (2026-03-01): my number is 555 0199\n- tea\n")
    channel.commit(add("carol calls alice can be reached at 555 0199 a joke"), now)
    channel.forget(["log:m1"], keep_transcript=False, now=now)
    channel.close()
    assert archive.read_text() == "- tea\n"
    texts = [entry.text for entry in channel.notes().memory.entries]
    assert texts == ["bob likes tea", "carol calls alice can be reached at 555 0199 a joke"]
    channel.forget("carol calls", keep_transcript=False, now=now)
    assert holding(channel.folder, "0199") == []
    memory.write_text(learnt.replace("bob likes tea", "bob likes green tea"))  # an older buffer
    channel.commit(add("dave likes water"), now)
    assert [entry.text for entry in channel.notes().memory.entries] == [
        "bob likes green tea",
        "dave likes water",
    ]


def test_with_a_message_goes_no_line_that_was_typed_when_what_was_learnt_was_deleted(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """One save did both; the two are alike, but the new line stands elsewhere."""
    channel.append([Message.user("Dana is on leave until Monday", id="m1", speaker="alice")])
    channel.commit(add("bob likes tea", "Dana is on leave until Monday", "carol sings"), now)
    memory = channel.folder / "MEMORY.md"
    learnt = "- Dana is on leave until Monday\n"
    memory.write_text(memory.read_text().replace(learnt, "") + "- Dora leaves on Sunday\n")
    channel.forget(["log:m1"], keep_transcript=False, now=now, with_learnt=True)
    assert holding(channel.folder, "on leave until") == []
    assert [entry.text for entry in channel.notes().memory.entries] == ["Dora leaves on Sunday"]


def test_a_line_typed_a_moment_ago_is_forgotten_where_the_next_save_begins_meanwhile(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of that save lacks it; "nothing held it" would not be so when the save is done."""
    channel.commit(add("bob likes tea"), now)
    memory = channel.folder / "MEMORY.md"
    whole = memory.read_text() + "- the number is 555 0199\n"
    memory.write_text(whole)
    begun: list[Timer] = []

    def recorded(working_copy: WorkingCopy, when: datetime) -> None:
        if begun:
            return commit.record_edits(working_copy, when)
        editor = memory.open("r+b", buffering=0)
        editor.truncate(0)
        editor.write(whole[:12].encode())
        begun.append(Timer(0.2, lambda: (editor.write(whole[12:].encode()), editor.close())))
        return begun[0].start()

    monkeypatch.setattr(forget, "record_edits", recorded)
    receipt = channel.forget("555 0199", keep_transcript=False, now=now)
    begun[0].join()
    assert receipt.counts["entries"] == 1
    assert holding(channel.folder, "0199") == []
    assert "bob likes tea" in memory.read_text()


def test_what_was_deleted_right_before_the_exchange_stays_so_where_the_next_save_follows_at_once(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older text without its forgotten line is the newest one: it is no damaged text of ours."""
    memory, real = channel.folder / "MEMORY.md", exchange.displace
    channel.commit(add("bob likes tea", "the number is 555 0199", "carol sings"), now)
    channel.commit(add("dave runs"), now)
    older, done = memory.read_text(), []
    channel.forget("555 0199", keep_transcript=False, now=now)

    def displace(prepared: Path, target: Path) -> Path | None:
        if target != memory or done:
            return real(prepared, target)
        done.append(memory.write_text(older.replace("- bob likes tea\n", "")))
        found = real(prepared, target)
        memory.write_text(memory.read_text() + "- typed after it\n")
        return found

    monkeypatch.setattr(publish, "displace", displace)
    older = older.replace("- carol sings\n", "- typed before\n- carol sings\n")
    memory.write_text(older)
    channel.record_edits(now)
    channel.commit(add("frank cooks"), now)
    assert [entry.text for entry in channel.notes().memory.entries] == [
        "typed before",
        "carol sings",
        "dave runs",
        "typed after it",
        "frank cooks",
    ]
    assert holding(channel.folder, "0199") == []


def test_an_unknown_id_forgets_nothing(full: ChannelStore, now: datetime) -> None:
    """Nor does an empty text."""
    for what in (["nowhere1"], " ", []):
        with pytest.raises(NothingFound):
            full.forget(what, keep_transcript=False, now=now)


def test_work_goes_on_afterwards(full: ChannelStore, now: datetime, add: Add) -> None:
    """Edits by hand and commits find their texts as before."""
    full.forget("555 0199", keep_transcript=False, now=now)
    path = full.folder / "MEMORY.md"
    path.write_text(path.read_text() + "- by hand\n")
    second = ChannelStore.open(full.workspace, "team", create=False)
    entry = second.notes().memory.entries[0]
    gone = Invalidate(Target(File.MEMORY, entry.section, entry.id), "asked")
    decision = add("dave likes tea")
    second.commit(
        replace(decision, operations=(*decision.operations, gone), progress=Progress(cursor=5)), now
    )
    assert "by hand" in path.read_text()
    assert second.ledger.cursor == 5
    assert [record.task for record in second.changes()] == ["forget", "edit", "consolidate"]


def test_a_question_another_process_has_in_mind_is_not_written_back(
    full: ChannelStore, now: datetime, add: Add
) -> None:
    """Only what was asked after the forgetting is; a call it had begun before comes to
    nothing.
    """
    other = ChannelStore.open(full.workspace, "team", create=False)
    seen = other.notes()
    other.touch_recalls([], now, Asked("whose number is 555 0199?"))
    full.forget("555 0199", keep_transcript=False, now=now)
    stale = replace(
        add("call 555 0199 at nine"), progress=Progress(expect_forgotten=seen.ledger.forgotten)
    )
    done = other.commit(stale, now)
    assert [refusal.reason for refusal in done.outcome.refused] == [
        "something was forgotten meanwhile"
    ]
    other.commit(add("dave likes tea"), now)
    assert holding(full.folder, "0199") == []
    other.touch_recalls([], now, Asked("who likes tea?"))
    other.commit(add("erin likes tea"), now)
    assert [asked.text for asked in full.ledger.asked] == ["who likes tea?"]


def test_words_and_vectors_of_before_are_not_kept(full: ChannelStore, now: datetime) -> None:
    """They are made of texts that another process had read; those of afterwards are."""
    other = ChannelStore.open(full.workspace, "team", create=False)
    seen = other.notes()
    full.forget("555 0199", keep_transcript=False, now=now)
    other.caches.keep_words("cut", "0199", seen)
    other.caches.keep_vectors("toy", b"0199", seen)
    assert (other.caches.kept_words("cut"), other.caches.kept_vectors("toy")) == ("", b"")
    other.caches.keep_words("cut", "tea", other.notes())
    other.caches.keep_vectors("toy", b"tea", other.notes())
    assert (other.caches.kept_words("cut"), other.caches.kept_vectors("toy")) == ("tea", b"tea")


def test_the_mark_of_a_forgetting_outlives_a_process(full: ChannelStore, now: datetime) -> None:
    """Another start knows as well what a thought of before may rest on."""
    full.forget("555 0199", keep_transcript=False, now=now)
    forgotten = full.ledger.forgotten
    assert forgotten == full.ledger.sequence
    full.close()
    assert ChannelStore.open(full.workspace, "team", create=False).ledger.forgotten == forgotten


@pytest.mark.parametrize("inside_words", [True, False])
def test_a_forgetting_goes_on_as_it_began(
    full: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch, inside_words: bool
) -> None:
    """Killed in between, it looks for words as it was told to, and `doctor` reports it."""
    path = full.folder / "MEMORY.md"
    path.write_text(path.read_text() + "- te is a note\n")
    with monkeypatch.context() as patched:
        patched.setattr(forget, "_carry_out", _killed)
        with pytest.raises(KeyboardInterrupt):
            full.forget("te", keep_transcript=False, now=now, inside_words=inside_words)
    (finding,) = [one for one in leftover_findings(full) if one.wrong]
    assert "a forgetting was cut off" in finding.what
    assert finding.mend is not None
    finding.mend(now)
    texts = [entry.text for entry in full.notes().memory.entries]
    assert "te is a note" not in texts
    assert any("tea" in text for text in texts) is not inside_words
    assert [one for one in leftover_findings(full) if one.wrong] == []


def test_words_over_two_entries_are_no_entry_that_holds_them(
    full: ChannelStore, now: datetime
) -> None:
    """Neither goes, and the forgetting comes to its end."""
    path = full.folder / "MEMORY.md"
    path.write_text(path.read_text() + "- the first half is 555\n- 0199 is the other\n")
    full.forget("555 0199", keep_transcript=False, now=now)
    assert [entry.text for entry in full.notes().memory.entries][-2:] == [
        "the first half is 555",
        "0199 is the other",
    ]
    assert [one for one in leftover_findings(full) if one.wrong] == []


def test_an_older_buffer_is_merged_from_where_it_began(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The past texts stay for merges: what came since it was loaded is not taken back, what it
    adds is there.
    """
    channel.commit(add("the code is 555 0199", "bob likes tea"), now)
    path = channel.folder / "MEMORY.md"
    loaded = path.read_text()
    for number in range(30):
        channel.commit(add(f"fact number {number} came later"), now)
    channel.forget("555 0199", keep_transcript=False, now=now)
    path.write_text(loaded.replace("- the code is 555 0199\n", "") + "- typed in an old window\n")
    channel.record_edits(now)
    text = path.read_text()
    assert "- typed in an old window\n" in text
    assert [f"fact number {number} came" in text for number in range(30)] == [True] * 30


def test_a_save_under_way_is_waited_for(full: ChannelStore, now: datetime, impatient: None) -> None:
    """An editor that keeps a file open: nothing is forgotten, and that is said."""
    before = (full.folder / "MEMORY.md").read_bytes()
    with (
        (full.folder / "MEMORY.md").open("a"),
        pytest.raises(StoreError, match="Nothing was forgotten"),
    ):
        full.forget("555 0199", keep_transcript=False, now=now)
    assert (full.folder / "MEMORY.md").read_bytes() == before
    assert not full.forget("555 0199", keep_transcript=False, now=now).is_empty
    assert holding(full.folder, "0199") == []


def test_a_conflict_of_git_is_named_as_what_keeps_it_from_being_forgotten(
    full: ChannelStore, now: datetime
) -> None:
    """No editor is at work there: saving again would not help."""
    path = full.folder / "MEMORY.md"
    path.write_text(path.read_text() + "<<<<<<< ours\n- 1\n=======\n- 2\n>>>>>>> theirs\n")
    with pytest.raises(UnreadableNote, match=r"conflict that git left .* Nothing was forgotten"):
        full.forget("555 0199", keep_transcript=False, now=now)


def forgotten(channel: ChannelStore, now: datetime, add: Add) -> str:
    """A channel in which the second of three entries was forgotten; answers with the text from
    before.
    """
    channel.commit(add("tea is green", "the code is 555 0199", "milk is white"), now)
    loaded = (channel.folder / File.MEMORY).read_text()
    channel.forget("555 0199", keep_transcript=False, now=now)
    return loaded


def saved(channel: ChannelStore, text: str, now: datetime, add: Add, *facts: str) -> list[str]:
    """The entries of MEMORY.md after a person saved a text and something was learnt."""
    path = channel.folder / File.MEMORY
    path.write_text(text)
    channel.commit(add(*(facts or ("bob likes cake",))), now)
    assert path.read_text() == channel.notes().memory.text
    return [entry.text for entry in channel.notes().memory.entries]


@pytest.mark.parametrize("since", [(), ("dave likes cake",), ("dave likes cake", "eve likes pie")])
@pytest.mark.parametrize("rounds", [1, 3])
def test_an_older_buffer_does_not_bring_it_back(
    channel: ChannelStore, now: datetime, add: Add, since: tuple[str, ...], rounds: int
) -> None:
    """What else the buffer changed is taken in, and what came since stays; also when the same
    editor saves again.
    """
    buffer = forgotten(channel, now, add)
    for fact in since:
        channel.commit(add(fact), now)
    buffer = buffer.replace("- tea is green\n", "- tea is green and hot\n")
    for number in range(rounds):
        buffer += f"- typed {number} times\n"
        found = saved(channel, buffer, now, add, f"fact {number} came")
    typed = [f"typed {number} times" for number in range(rounds)]
    facts = [f"fact {number} came" for number in range(rounds)]
    assert sorted(found) == sorted(
        ["tea is green and hot", "milk is white", *since, *typed, *facts]
    )
    assert holding(channel.folder, "0199") == []
    again = ChannelStore.open(channel.workspace, "team", create=False)
    assert [entry.text for entry in again.notes().memory.entries] == found


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize(
    ("old", "new"), [("", ""), ("\n", "\r\n"), ("- tea is green", "- tea is green  ")]
)
def test_an_older_buffer_saved_as_it_was_takes_nothing_out_that_came_since(
    channel: ChannelStore, now: datetime, add: Add, position: int, old: str, new: str
) -> None:
    """Unchanged or with other white space: nobody put that text back, for it has the forgotten
    line.
    """
    facts = ["tea is green", "milk is white"]
    facts.insert(position, "the code is 555 0199")
    channel.commit(add(*facts), now)
    path = channel.folder / File.MEMORY
    loaded = path.read_text()
    channel.forget("555 0199", keep_transcript=False, now=now)
    channel.commit(add("dave likes cake"), now)
    channel.commit(add("eve likes pie"), now)
    path.write_bytes(loaded.replace(old, new).encode())
    channel.commit(add("bob came"), now)
    found = [entry.text for entry in channel.notes().memory.entries]
    came = ["bob came", "dave likes cake", "eve likes pie"]
    assert sorted(found) == sorted(["tea is green", "milk is white", *came])
    assert holding(channel.folder, "0199") == []


def test_an_older_buffer_saved_long_after_takes_nothing_out_that_came_since(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Ten minutes after the last record a save without some lines is a deletion of them; but not
    one with a forgotten line.
    """
    buffer = forgotten(channel, now, add)
    channel.commit(add("dave likes cake"), now)
    path = channel.folder / File.MEMORY
    path.write_text(buffer)
    later = path.stat().st_mtime + 1200
    os.utime(path, (later, later))
    found = [entry.text for entry in channel.notes().memory.entries]
    assert found == ["tea is green", "milk is white", "dave likes cake"]


def test_an_older_buffer_saved_over_an_emptied_file_loses_no_line(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The emptying may have been the first half of that save."""
    buffer = forgotten(channel, now, add)
    path = channel.folder / File.MEMORY
    path.write_text("# Memory\n")
    channel.record_edits(now)
    path.write_text("\n")
    os.utime(path, (1, 1))
    channel.record_edits(now)
    path.write_text(buffer)
    channel.record_edits(now)
    found = [entry.text for entry in channel.notes().memory.entries]
    assert found == ["tea is green", "milk is white"]
    assert holding(channel.folder, "0199") == []


def test_an_older_buffer_with_other_bullets_does_not_bring_it_back(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """An editor that rewrites all of them changes every line."""
    buffer = forgotten(channel, now, add)
    found = saved(channel, buffer.replace("- ", "* "), now, add)
    assert sorted(found) == ["bob likes cake", "milk is white", "tea is green"]
    assert holding(channel.folder, "0199") == []


def test_an_older_buffer_does_not_bring_it_back_after_another_forgetting(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Nor after another forgetting, in another process."""
    buffer = forgotten(channel, now, add)
    channel.close()
    channel.commit(add("carol's code is 777"), now)
    channel.forget("777", keep_transcript=False, now=now)
    channel.close()
    again = ChannelStore.open(channel.workspace, "team", create=False)
    found = saved(again, buffer + "- typed\n", now, add)
    assert sorted(found) == ["bob likes cake", "milk is white", "tea is green", "typed"]
    assert holding(channel.folder, "0199") == []


def test_an_older_buffer_that_is_looked_at_twice_does_not_bring_it_back(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Once it is merged, the forgotten last line of a section is all that the file has more than
    the journal.
    """
    channel.commit(add("tea is green"), now)
    channel.commit(add("alice's number is 0199"), now)
    path = channel.folder / File.MEMORY
    path.write_text(path.read_text() + "\n## Decisions\n\n- we meet on Monday\n")
    channel.record_edits(now)
    buffer = path.read_text()
    channel.forget("0199", keep_transcript=False, now=now)
    path.write_text(buffer + "- typed by hand\n")
    channel.record_edits(now)
    channel.close()
    again = ChannelStore.open(channel.workspace, "team", create=False)
    again.commit(add("bob likes cake"), now)
    found = [entry.text for entry in again.notes().memory.entries]
    assert sorted(found) == ["bob likes cake", "tea is green", "typed by hand", "we meet on Monday"]
    assert holding(channel.folder, "0199") == []


def test_an_older_buffer_saved_in_the_middle_of_a_commit_does_not_bring_it_back(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Displaced by the exchange, and read only then."""
    buffer, path = forgotten(channel, now, add), channel.folder / File.MEMORY
    real, done = publish.displace, []

    def displace(prepared: Path, target: Path) -> Path | None:
        if not done:
            done.append(path.write_text(buffer + "- typed\n"))
        return real(prepared, target)

    monkeypatch.setattr(publish, "displace", displace)
    channel.commit(add("bob likes cake"), now)
    found = [entry.text for entry in channel.notes().memory.entries]
    assert sorted(found) == ["bob likes cake", "milk is white", "tea is green", "typed"]
    assert holding(channel.folder, "0199") == []
    assert len(edit_notices("team", channel.past(), now).brought_back) == 1


@pytest.mark.parametrize("step", ["clean_archive", "drop_texts", "is_in_bytes"])
def test_an_older_buffer_saved_while_it_is_forgotten_does_not_bring_it_back(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Behind the commit, with nothing else changed: the last line of its section looks as if
    typed anew.
    """
    channel.commit(add("tea is green"), now)
    channel.commit(add("the code is 555 0199"), now)
    path, real, done = channel.folder / File.MEMORY, getattr(places, step), []
    buffer = path.read_text()

    def saved_before(*arguments: object) -> object:
        if not done:
            done.append(path.write_text(buffer))
        return real(*arguments)

    monkeypatch.setattr(places, step, saved_before)
    channel.forget("555 0199", keep_transcript=False, now=now)
    assert [entry.text for entry in channel.notes().memory.entries] == ["tea is green"]
    assert holding(channel.folder, "0199") == []
    assert [one for one in leftover_findings(channel) if one.wrong] == []


@pytest.mark.parametrize("kill", [False, True])
def test_a_deletion_behind_the_forgotten_entry_holds(
    channel: ChannelStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    kill: bool,
) -> None:
    """Saved right before the exchange: what is left did not stand there before.

    Where it did, an older buffer may have been saved as it was, and the line stays.
    """
    section = "\n## Decisions\n\n"
    channel.commit(add("tea is green"), now)
    channel.commit(add("the code is 555 0199"), now)
    path, real, done = channel.folder / File.MEMORY, publish.displace, []
    path.write_text(path.read_text() + section + "- we meet on Monday\n")
    channel.record_edits(now)

    def displace(prepared: Path, target: Path) -> Path | None:
        if target == path and not done:
            done.append(path.write_text(path.read_text().replace("- we meet on Monday\n", "")))
            answer = real(prepared, target)
            if kill:
                raise KeyboardInterrupt
            return answer
        return real(prepared, target)

    with (
        monkeypatch.context() as patched,
        pytest.raises(KeyboardInterrupt) if kill else nullcontext(),
    ):
        patched.setattr(publish, "displace", displace)
        channel.forget("555 0199", keep_transcript=False, now=now)
    again = ChannelStore.open(channel.workspace, "team", create=False)
    again.record_edits(now)
    assert path.read_text() == "# Memory\n\n## Facts\n\n- tea is green\n" + section


def test_a_line_typed_into_the_displaced_buffer_is_not_lost(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buffer had nothing but the forgotten line, so its merge is the text that stood; the
    person types on.
    """
    buffer, path = forgotten(channel, now, add), channel.folder / File.MEMORY
    real, done = publish.displace, []

    def displace(prepared: Path, target: Path) -> Path | None:
        if not done:
            done.append(path.write_text(buffer + "- typed just now\n"))
        return real(prepared, target)

    path.write_text(buffer)
    monkeypatch.setattr(publish, "displace", displace)
    channel.record_edits(now)
    found = [entry.text for entry in channel.notes().memory.entries]
    assert found == ["tea is green", "milk is white", "typed just now"]
    assert holding(channel.folder, "0199") == []


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("kill", [True, False])
def test_a_save_right_before_its_exchange_is_merged(
    channel: ChannelStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    kill: bool,
    exchanges: bool,
) -> None:
    """The neighbours stay, and what was typed; also when it is killed before it looks at what it
    displaced.
    """
    channel.commit(add("tea is green", "the code is 555 0199", "milk is white"), now)
    path = channel.folder / File.MEMORY
    real, done = publish.displace, []

    def displace(prepared: Path, target: Path) -> Path | None:
        if target == path and not done:
            done.append(path.write_text(path.read_text() + "- typed just now\n"))
            answer = real(prepared, target)
            if kill:
                raise KeyboardInterrupt
            return answer
        return real(prepared, target)

    with monkeypatch.context() as patched:
        patched.setattr(publish, "displace", displace)
        if not exchanges:
            patched.setattr(exchange, "_renamed", lambda *_: 38)
        with pytest.raises(KeyboardInterrupt) if kill else nullcontext():
            channel.forget("555 0199", keep_transcript=False, now=now)
    again = ChannelStore.open(channel.workspace, "team", create=False)
    again.record_edits(now)
    assert [entry.text for entry in again.notes().memory.entries] == [
        "tea is green",
        "milk is white",
        "typed just now",
    ]
    assert path.read_text() == again.notes().memory.text
    assert holding(channel.folder, "0199") == []


def test_an_entry_of_several_lines_does_not_come_back_in_parts(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """It went whole; only a line of it that stands elsewhere, too, is no forgotten line."""
    path = channel.folder / File.MEMORY
    path.write_text("## Facts\n\n- tea\n  - yes\n- the code\n  is 555 0199\n  - yes\n- milk\n")
    channel.commit(add("bob likes cake"), now)
    buffer = path.read_text()
    channel.forget("555 0199", keep_transcript=False, now=now)
    channel.commit(add("dave likes cake"), now)
    path.write_text(buffer + "- typed\n")
    channel.record_edits(now)
    assert (
        path.read_text()
        == "## Facts\n\n- tea\n  - yes\n  - yes\n- milk\n- bob likes cake\n- typed\n- dave likes cake\n"
    )


@pytest.mark.parametrize("hours", [0, 23, 25])
@pytest.mark.parametrize("learnt", [False, True])
def test_typed_anew_within_a_day_it_goes_and_later_it_stays(
    channel: ChannelStore, now: datetime, add: Add, learnt: bool, hours: int
) -> None:
    """Nobody can tell an older buffer from a person who types it; the log reports it."""
    forgotten(channel, now, add)
    path = channel.folder / File.MEMORY
    if learnt:
        channel.commit(add("dave likes cake"), now)
    path.write_text(path.read_text() + "- the code is 555 0199\n")
    then = path.stat().st_mtime + hours * 3600
    os.utime(path, (then, then))
    channel.commit(add("bob likes cake"), now)
    found = [entry.text for entry in channel.notes().memory.entries]
    assert ("the code is 555 0199" in found) is (hours > 24)
    assert len(edit_notices("team", channel.past(), now).brought_back) == int(hours < 24)


def test_learnt_anew_it_stays_also_where_an_editor_saves_the_file_again(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Remembered through pipimem it counts at once, and an older buffer does not change that."""
    buffer, path = forgotten(channel, now, add), channel.folder / File.MEMORY
    channel.append([Message.user("the code is 555 0199", id="m9")])
    anew = add("the code is 555 0199", cursor=1)
    anew = replace(anew, author=Author.PERSON)
    channel.commit(anew, now)
    assert "the code is 555 0199" in path.read_text()
    for text in (path.read_text() + "- typed\n", buffer + "- typed again\n"):
        found = saved(channel, text, now, add, f"fact of {len(text)}")
        assert found.count("the code is 555 0199") == 1
    assert edit_notices("team", channel.past(), now).brought_back == ()


def test_what_was_taken_out_of_a_save_is_told(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Before anything is written, and once it is recorded; the words are not told."""
    buffer = forgotten(channel, now, add)
    channel.commit(add("dave likes cake"), now)
    (channel.folder / File.MEMORY).write_text(buffer + "- typed\n")
    (sentence,) = edit_notices(
        "team", ChannelStore.open(channel.workspace, "team", create=False).past(), now
    ).brought_back
    assert "MEMORY.md was saved from a text of before a forgetting" in sentence
    channel.commit(add("bob likes cake"), now)
    (told,) = edit_notices("team", channel.past(), now).brought_back
    assert told.endswith(sentence)
    assert "0199" not in told


def test_an_older_buffer_saved_after_a_kill_behind_a_second_forgetting_loses_nothing(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when the files had been cleaned, and the state not: the next one goes on."""
    memory = channel.folder / "MEMORY.md"
    channel.commit(add("bob likes his padlock", "dave likes water", "tom rows"), now)
    channel.commit(add("alice has a parrot"), now)
    loaded = memory.read_text()
    channel.commit(add("carol likes milk", "erin likes tea"), now)
    channel.forget("parrot", keep_transcript=False, now=now)
    with monkeypatch.context() as patch:
        patch.setattr(ChannelState, "end_forgetting", _killed)
        with pytest.raises(KeyboardInterrupt):
            channel.forget("padlock", keep_transcript=False, now=now)
    buffer = loaded.replace("- tom rows\n", "- frank sings in the choir\n")
    memory.write_text(buffer.replace("- alice has a parrot\n", ""))
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    again.commit(add("gina plays chess"), now)
    texts = {entry.text for entry in again.notes().memory.entries}
    assert texts == {
        "dave likes water",
        "frank sings in the choir",
        "carol likes milk",
        "erin likes tea",
        "gina plays chess",
    }


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("kill", [False, True])
@pytest.mark.parametrize(
    "step",
    table(__file__, "what_was_read_at_any_step_of_a_forgetting_teaches_nothing_behind_it"),
)
def test_what_was_read_at_any_step_of_a_forgetting_teaches_nothing_behind_it(
    full: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch,
    step: str, kill: bool,
) -> None:  # fmt: skip
    """Another process reads notes and talk in the middle, and commits what it learnt when the
    forgetting has ended; also of one that is killed there.
    """
    full.append([Message.user("remember that the code is 0199", id="m3")])
    other = ChannelStore.open(full.workspace, "team", create=False)
    decided: list[Decision] = []
    real = resolve_name(step)

    def read_first(*args: object, **options: object) -> object:
        if not decided:
            ledger = other.notes().ledger
            said = [message.content for message in other.transcript.window(2)]
            waiting = tuple(bullet.text for bullet in ledger.pending)
            decision = add(*filter(None, said), *waiting, cursor=3)
            progress = replace(decision.progress, expect_forgotten=ledger.forgotten)
            decided.append(replace(decision, progress=progress))
            if kill:
                raise KeyboardInterrupt
        return real(*args, **options)

    monkeypatch.setattr(step, read_first)
    with pytest.raises(KeyboardInterrupt) if kill else nullcontext():
        full.forget("0199", keep_transcript=False, now=now)
    (decision,) = decided
    other.commit(decision, now)
    assert holding(full.folder, "0199") == []
    assert "0199" not in other.notes().memory.text


def test_with_a_message_goes_what_another_process_learnt_from_it(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """A moment before, and this process has not read it yet."""
    channel.append([Message.user("my number is 555 0199", id="m1", speaker="alice")])
    other = ChannelStore.open(channel.workspace, "team", create=False)
    other.commit(add("alice can be reached under 555 0199", "alice has a phone"), now)
    channel.forget(["log:m1"], keep_transcript=False, now=now, with_learnt=True)
    assert channel.notes().memory.entries == ()
    assert holding(channel.folder, "0199") == []
