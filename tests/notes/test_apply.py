"""A decision carried out on the texts as they stand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Ledger, Record, Tombstone
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Confirm,
    Decision,
    Doubt,
    Evidence,
    FoldBlocks,
    Invalidate,
    Move,
    Operation,
    Progress,
    SetSection,
    Supersede,
    Target,
    Trust,
)

from tests.cases import each, table
from tests.notes.building import KEY, NOW, notes_of

MEMORY = """# Memory

Prose that people wrote.

## Preferences

- Dana prefers tea
- 林晓不吃香菜
  - 也不吃葱

## Our own section

* a thing
"""


def run(
    notes: Notes,
    *operations: Operation,
    author: Author = Author.MODEL,
    progress: Progress | None = None,
) -> Outcome:
    return applied(notes, Decision("test", author, operations, progress or Progress()), NOW)


def target(notes: Notes, text: str) -> Target:
    entry = next(e for e in notes.memory.entries if e.text.startswith(text))
    return Target(File.MEMORY, entry.section, entry.id, entry.ordinal)


def add(
    text: str, kind: Kind = Kind.PREFERENCE, trust: Trust = Trust.INFERRED, newest: int = 9
) -> Add:
    return Add(kind, text, trust, Evidence(("m9",), newest, "Dana", NOW))


def test_an_entry_goes_to_the_end_of_the_section_of_its_kind() -> None:
    """Only the new line is new; every other byte stays."""
    outcome = run(notes_of(MEMORY), add("Priya prefers coffee"))
    assert outcome.texts[File.MEMORY] == MEMORY.replace(
        "  - 也不吃葱\n", "  - 也不吃葱\n- Priya prefers coffee\n"
    )


def test_a_missing_section_is_made_where_it_belongs() -> None:
    """Decisions come after Preferences and after sections that people made."""
    text = run(
        notes_of(MEMORY),
        add("ship on Monday", Kind.DECISION),
        add("not on Friday", Kind.CONSTRAINT),
    ).texts[File.MEMORY]
    assert (
        text == MEMORY + "\n## Constraints\n\n- not on Friday\n\n## Decisions\n\n- ship on Monday\n"
    )


def test_a_missing_section_comes_before_the_next_of_the_standard_order() -> None:
    """Facts come before Preferences."""
    text = run(notes_of(MEMORY), add("the port is 8080", Kind.FACT)).texts[File.MEMORY]
    assert "## Facts\n\n- the port is 8080\n\n## Preferences\n" in text
    assert text.replace("## Facts\n\n- the port is 8080\n\n", "") == MEMORY


def test_an_empty_memory_begins_with_a_title() -> None:
    """The first entry makes a file that reads well."""
    assert (
        run(notes_of(""), add("tea")).texts[File.MEMORY] == "# Memory\n\n## Preferences\n\n- tea\n"
    )


def test_a_new_file_is_in_the_language_of_what_is_first_written() -> None:
    """Its title and its headings; what comes later goes by the headings that stand."""
    chinese = run(
        notes_of(),
        Add(Kind.DECISION, "上线改到周四晚上", Trust.INFERRED),
        Add(Kind.FACT, "the gateway is in Berlin", Trust.INFERRED),
        SetSection("Next Steps", ("写上线公告",)),
        AddBlock(NOW, NOW, "", (Bullet("上线改到周四"),)),
    ).texts
    assert chinese[File.MEMORY].startswith("# 记忆\n\n## 事实\n\n- the gateway")
    assert "## 决定\n\n- 上线" in chinese[File.MEMORY]
    assert chinese[File.SESSION] == "# 会话\n\n## 下一步\n\n- 写上线公告\n"
    assert chinese[File.HISTORY].startswith("# 历史\n\n## 2026-03-12")
    english = run(notes_of(), Add(Kind.FACT, "the gateway is in Berlin", Trust.INFERRED)).texts
    assert english[File.MEMORY].startswith("# Memory\n\n## Facts\n\n")


def test_a_channels_files_have_their_headings_in_one_language() -> None:
    """A new file follows those that are there, whatever its first line is written in."""
    session = "# Session\n\n## Next Steps\n\n- book the hall\n"
    chinese = Add(Kind.DECISION, "上线改到周四晚上", Trust.INFERRED)
    block = AddBlock(NOW, NOW, "", (Bullet("上线改到周四"),))
    texts = run(notes_of(session=session), chinese, block).texts
    assert texts[File.MEMORY].startswith("# Memory\n\n## Decisions\n")
    assert texts[File.HISTORY].startswith("# History\n")
    memory = "# 记忆\n\n## 决定\n\n- 上线改到周四\n"
    sheet = SetSection("Next Steps", ("book the hall",))
    texts = run(notes_of(memory=memory), sheet).texts
    assert texts[File.SESSION].startswith("# 会话\n\n## 下一步\n")
    own = run(notes_of(memory="- 上线改到周四晚上十点\n", session=session), chinese).texts
    assert "## 决定" in own[File.MEMORY]  # a file with text goes on in its own language


def test_a_chinese_heading_takes_entries_of_its_kind() -> None:
    """People may name sections in Chinese."""
    outcome = run(notes_of("## 偏好\n\n- 喝茶\n"), add("不吃辣"))
    assert outcome.texts[File.MEMORY] == "## 偏好\n\n- 喝茶\n- 不吃辣\n"


def test_a_missing_section_of_a_chinese_file_is_made_in_chinese_where_it_belongs() -> None:
    """Before the next of the standard order, by its name in either language."""
    memory = "# 记忆\n\n## 偏好\n\n- 喝茶\n\n## 决定\n\n- 周四发布\n"
    text = run(notes_of(memory), add("周五不发布", Kind.CONSTRAINT)).texts[File.MEMORY]
    assert text == memory.replace("## 决定", "## 约束\n\n- 周五不发布\n\n## 决定")


def test_windows_line_ends_and_a_missing_last_newline_stay() -> None:
    """New lines end as the file's lines do."""
    text = run(notes_of("## Preferences\r\n\r\n- tea"), add("coffee")).texts[File.MEMORY]
    assert text.replace("\r\n", "\n").rstrip("\n") == "## Preferences\n\n- tea\n- coffee"
    assert "\n" not in text.replace("\r\n", "")


def test_an_entry_that_stands_already_is_confirmed() -> None:
    """Learning a thing twice writes it once, and ends its probation."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    outcome = run(notes, add("Dana  prefers tea"))
    assert outcome.texts == {}
    record = outcome.delta.records[target(notes, "Dana").id]
    assert record is not None
    assert record.sources == ("m9",)


def test_a_newer_value_takes_the_place_of_the_old() -> None:
    """The old text is gone from the file, buried, and named as predecessor."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    old = target(notes, "Dana")
    outcome = run(
        notes, Supersede((old,), "Dana prefers coffee now", Trust.INFERRED, Evidence(("m9",), 9))
    )
    assert outcome.texts[File.MEMORY] == MEMORY.replace(
        "- Dana prefers tea", "- Dana prefers coffee now"
    )
    assert outcome.delta.records[old.id] is None
    assert outcome.delta.tombstones[old.id] == Tombstone("superseded", 9)
    [new] = [record for name, record in outcome.delta.records.items() if name != old.id]
    assert new is not None
    assert new.predecessor == old.id


def test_an_operation_on_a_reworded_entry_is_refused() -> None:
    """People win: what was decided on the old words finds no target."""
    decided_on = notes_of(MEMORY, trust=Trust.INFERRED)
    today = notes_of(MEMORY.replace("prefers tea", "prefers green tea"), trust=Trust.INFERRED)
    outcome = run(today, Invalidate(target(decided_on, "Dana"), "over"))
    assert outcome.texts == {}
    assert outcome.refused[0].reason == "the entry stands there no more"


def test_a_move_keeps_the_words_and_sub_bullets() -> None:
    """Only the place changes."""
    notes = notes_of(MEMORY)
    text = run(notes, Move(target(notes, "林晓"), Kind.CONSTRAINT)).texts[File.MEMORY]
    assert (
        text
        == MEMORY.replace("- 林晓不吃香菜\n  - 也不吃葱\n", "")
        + "\n## Constraints\n\n- 林晓不吃香菜\n  - 也不吃葱\n"
    )


def test_two_operations_cannot_have_one_entry() -> None:
    """The second is refused, the first holds."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    dana = target(notes, "Dana")
    outcome = run(notes, Invalidate(dana, "over"), Move(dana, Kind.FACT))
    assert [change.verb for change in outcome.changes] == ["invalidated"]
    assert len(outcome.refused) == 1


def test_a_model_cannot_remove_what_a_person_typed_or_asked_for() -> None:
    """Human and explicit entries are not the model's to delete."""
    for trust in (Trust.HUMAN, Trust.EXPLICIT):
        notes = notes_of(MEMORY, trust=trust)
        outcome = run(notes, Invalidate(target(notes, "Dana"), "over"))
        assert outcome.texts == {}
        assert "only a person may remove it" in outcome.refused[0].reason
        assert run(notes, Invalidate(target(notes, "Dana"), "over"), author=Author.PERSON).texts


def test_a_merge_may_not_swallow_what_was_asked_for_but_a_newer_word_may_replace_it() -> None:
    """A merge rests on no new message; a newer value does."""
    notes = notes_of(MEMORY, trust=Trust.EXPLICIT)
    dana = target(notes, "Dana")
    assert run(notes, Supersede((dana,), "tea", Trust.INFERRED)).refused
    assert run(
        notes, Supersede((dana,), "Dana prefers coffee", Trust.INFERRED, Evidence(("m9",), 9))
    ).texts


def test_one_run_may_take_out_a_quarter() -> None:
    """Of twelve entries a model takes out three, whatever it asks for."""
    notes = notes_of(
        "## Facts\n\n" + "".join(f"- fact number {n}\n" for n in range(12)), trust=Trust.INFERRED
    )
    outcome = run(
        notes, *(Invalidate(target(notes, f"fact number {n}"), "over") for n in range(12))
    )
    assert len(outcome.changes) == 3
    assert len(outcome.refused) == 9


def test_what_was_deleted_is_not_learnt_again_from_older_talk() -> None:
    """Talk up to the tombstone's number is barred; newer talk, and a person who asks now, may
    say it again.
    """
    first = run(notes_of(MEMORY), add("Priya likes jazz"))
    name = next(iter(first.delta.records))
    buried = notes_of(
        MEMORY, ledger=Ledger(cursor=20, tombstones={name: Tombstone("deleted by hand", 20)})
    )
    assert run(buried, add("Priya likes jazz", newest=20)).texts == {}
    assert run(buried, add("Priya likes jazz", newest=21)).texts
    assert run(buried, add("Priya likes jazz", trust=Trust.EXPLICIT, newest=0)).texts
    assert run(buried, add("Priya likes jazz", trust=Trust.HUMAN)).texts


def test_a_decision_made_on_another_cursor_is_refused_whole() -> None:
    """Two processes consolidate the same window: the second changes nothing."""
    notes = notes_of(MEMORY, ledger=Ledger(cursor=60))
    outcome = run(notes, add("tea"), progress=Progress(cursor=60, expect_cursor=0))
    assert outcome.texts == {}
    assert outcome.delta.progress.cursor is None
    assert "the cursor moved" in outcome.refused[0].reason


def test_a_section_of_the_session_is_filled_and_refilled() -> None:
    """The runtime replaces its own lines, and no one else's."""
    notes = notes_of(session="")
    first = run(
        notes,
        SetSection("Session Title", ("Sync job",)),
        SetSection("Next Steps", ("reproduce", "ask Dana")),
    )
    text = first.texts[File.SESSION]
    assert (
        text
        == "# Session\n\n## Session Title\n\nSync job\n\n## Next Steps\n\n- reproduce\n- ask Dana\n"
    )
    ledger = Ledger().after(first.delta)
    edited = text.replace("- ask Dana\n", "- ask Dana\n- buy milk (typed by hand)\n")
    again = run(notes_of(session=edited, ledger=ledger), SetSection("Next Steps", ("fix it",)))
    assert again.texts[File.SESSION].endswith(
        "## Next Steps\n\n- fix it\n- buy milk (typed by hand)\n"
    )
    assert (
        run(
            notes_of(session=edited, ledger=ledger),
            SetSection("Next Steps", ("reproduce", "ask Dana")),
        ).texts
        == {}
    )


def test_a_persons_line_that_an_answer_repeats_stays_a_persons() -> None:
    """What is typed by hand is not the runtime's to replace, whoever says it again."""
    session = "# Session\n\n## Next Steps\n\n- call the bank\n"
    steps = ("call the bank", "fix it")
    first = run(notes_of(session=session), SetSection("Next Steps", steps))
    ledger = Ledger().after(first.delta)
    again = run(
        notes_of(session=first.texts[File.SESSION], ledger=ledger),
        SetSection("Next Steps", ("ship it",)),
    )
    assert "- call the bank\n" in again.texts[File.SESSION]
    assert "- fix it\n" not in again.texts[File.SESSION]


def test_a_line_of_two_sections_stays_the_runtime_s_when_one_of_them_is_replaced() -> None:
    """It can be replaced in the other one, too; only then its record goes."""
    both = run(
        notes_of(), SetSection("Current State", ("很尴尬",)), SetSection("User Intent", ("很尴尬",))
    )
    ledger = Ledger().after(both.delta)
    one = run(
        notes_of(session=both.texts[File.SESSION], ledger=ledger),
        SetSection("Current State", ("better",)),
    )
    ledger = ledger.after(one.delta)
    other = run(
        notes_of(session=one.texts[File.SESSION], ledger=ledger),
        SetSection("User Intent", ("a new one",)),
    )
    assert "很尴尬" not in other.texts[File.SESSION]
    assert len(ledger.after(other.delta).records) == 2


def test_a_persons_line_that_stands_in_another_section_as_well_stays_a_persons() -> None:
    """The runtime wrote the same words elsewhere; a refresh of either section leaves it alone."""
    first = run(notes_of(), SetSection("Current State", ("call the bank",)))
    ledger = Ledger().after(first.delta)
    session = first.texts[File.SESSION] + "\n## Next Steps\n\n- call the bank\n"
    for title in ("Next Steps", "Current State", "下一步"):
        notes = notes_of(session=session, ledger=ledger)
        outcome = run(notes, SetSection(title, ("ship it",)))
        session, ledger = outcome.texts.get(File.SESSION, session), ledger.after(outcome.delta)
        assert "## Next Steps\n\n- call the bank\n" in session
    assert session.count("call the bank") == 1


def test_a_line_of_the_runtime_of_an_earlier_version_is_replaced_in_its_section() -> None:
    """Its record does not say into which section it was written."""
    first = run(notes_of(), SetSection("Current State", ("call the bank",)))
    (name,) = first.delta.records
    ledger = Ledger().after(
        structs.replace(first.delta, records={name: Record(Trust.INFERRED, "session")})
    )
    notes = notes_of(session=first.texts[File.SESSION], ledger=ledger)
    again = run(notes, SetSection("Current State", ("ship it",)))
    assert again.texts[File.SESSION].endswith("## Current State\n\n- ship it\n")


@each(
    "typed",
    [
        "- call the bank <!-- Dana does it -->\n- fix it\n",
        "- call the bank\n<!-- Dana does it -->\n- fix it\n",
        "- call the bank\n  <!-- Dana does it -->\n- fix it\n",
        "- call the bank\n- fix it\n\n<!-- Dana does it -->\n",
        "<!-- Dana does it -->\n- call the bank\n- fix it\n",
    ],
)
def test_a_persons_comment_beside_lines_of_the_runtime_stays(typed: str) -> None:
    """With the line in whose lines it stands."""
    first = run(notes_of(), SetSection("Next Steps", ("call the bank", "fix it")))
    ledger = Ledger().after(first.delta)
    session = first.texts[File.SESSION].replace("- call the bank\n- fix it\n", typed)
    for steps in (("ship it",), (), ("call the bank", "rest")):
        outcome = run(notes_of(session=session, ledger=ledger), SetSection("Next Steps", steps))
        session, ledger = outcome.texts.get(File.SESSION, session), ledger.after(outcome.delta)
        assert "<!-- Dana does it -->" in session
        assert "fix it" not in session
    assert session.count("call the bank") == 1


def test_sections_of_older_tools_keep_their_level() -> None:
    """A SESSION.md with H1 sections gets an H1 section."""
    text = run(
        notes_of(session="# Current State\n\n- old\n"), SetSection("Next Steps", ("go",))
    ).texts[File.SESSION]
    assert text == "# Current State\n\n- old\n\n# Next Steps\n\n- go\n"


def test_history_grows_by_a_block() -> None:
    """A block has a heading with its time range, and is not written twice."""
    start = NOW.replace(hour=9)
    block = AddBlock(start, NOW, "Release moved", (Bullet("Dana moved the release", ("m1",)),))
    text = run(notes_of(), block).texts[File.HISTORY]
    assert (
        text
        == "# History\n\n## 2026-03-12 09:00–18:00 +08:00 · Release moved\n\n- Dana moved the release\n"
    )
    assert run(notes_of(history=text), block).refused[0].reason == "the block stands there already"


def test_a_second_block_of_the_same_minutes_joins_the_first() -> None:
    """Its bullets are not lost for want of another heading, and what stands there is not written
    twice.
    """
    text = "# History\n\n## 2026-03-12 09:00–18:00 +08:00\n\n- Dana moved the release\n"
    more = (Bullet("Dana moved the release", ("m1",)), Bullet("林晓请了假", ("m2",)))
    outcome = run(notes_of(history=text), AddBlock(NOW.replace(hour=9), NOW, "", more))
    assert outcome.texts[File.HISTORY] == f"{text}- 林晓请了假\n"


def test_a_fold_keeps_the_originals_word_for_word() -> None:
    """The archive gets what leaves HISTORY.md, byte for byte."""
    old = "## 2026-02-03 09:00–10:00 +08:00 · A\n\n- one\n\n## 2026-02-04 09:00–10:00 +08:00 · B\n\n- two\n\n"
    history = "# History\n\n" + old + "## 2026-03-01 09:00–10:00 +08:00 · C\n\n- three\n"
    headings = ("2026-02-03 09:00–10:00 +08:00 · A", "2026-02-04 09:00–10:00 +08:00 · B")
    outcome = run(
        notes_of(history=history),
        FoldBlocks("2026-02", "A and B", (Bullet("one, then two"),), headings),
    )
    assert outcome.archived == old
    assert outcome.texts[File.HISTORY] == (
        "# History\n\n## 2026-02 · A and B\n\n- one, then two\n\n## 2026-03-01 09:00–10:00 +08:00 · C\n\n- three\n"
    )


@each(
    "text",
    table(__file__, "a_text_that_looks_like_markdown_becomes_one_bullet"),
)
def test_a_text_that_looks_like_markdown_becomes_one_bullet(text: str) -> None:
    """Nothing a model writes can open a fence, a comment or a heading."""
    outcome = run(notes_of(MEMORY), add(text))
    if not outcome.texts:
        assert outcome.refused[0].reason == "the text is empty"
        return
    before, after = (
        notes_of(MEMORY).memory.entries,
        Note.read(File.MEMORY, outcome.texts[File.MEMORY], KEY).entries,
    )
    assert len(after) == len(before) + 1
    assert {entry.id for entry in before} < {entry.id for entry in after}


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_text_on_any_file_adds_one_entry_and_loses_none(text: str, memory: str) -> None:
    """Whatever stands there and whatever is learnt, people's entries are all still there."""
    notes = notes_of(memory)
    outcome = run(notes, add(text))
    if File.MEMORY not in outcome.texts:
        return
    after = Note.read(File.MEMORY, outcome.texts[File.MEMORY], KEY)
    assert [e.id for e in notes.memory.entries if e.bullet] == [
        e.id for e in after.entries if e.bullet and e.id not in outcome.delta.records
    ]


def test_confirming_says_who_said_it_again() -> None:
    """A confirmation adds its sources and ends the probation; without news it changes nothing."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    dana = target(notes, "Dana")
    assert run(notes, Confirm(dana)).changes == ()
    assert [c.verb for c in run(notes, Confirm(dana, Evidence(("m4",), 4))).changes] == [
        "confirmed"
    ]


@each(("was", "now"), [(Trust.QUOTED, Trust.INFERRED), (Trust.EXPLICIT, Trust.EXPLICIT)])
def test_a_second_voice_makes_a_quote_what_it_says(was: Trust, now: Trust) -> None:
    """Confirmed with another trust, also by what says the very same; nothing else changes its."""
    notes = notes_of(MEMORY, trust=was)
    dana = target(notes, "Dana")
    same = Supersede((dana,), "Dana prefers tea", Trust.INFERRED, Evidence(("m9",), 9))
    for operation in (Confirm(dana, Evidence(("m9",), 9), Trust.INFERRED), same):
        outcome = run(notes, operation)
        (record,) = outcome.delta.records.values()
        assert record is not None
        assert (record.trust, outcome.texts) == (now, {})


def test_confirming_goes_on_from_what_the_same_decision_did() -> None:
    """Two confirmations add up; what is superseded is gone, and stays gone."""
    notes = notes_of(MEMORY, trust=Trust.QUOTED)
    dana = target(notes, "Dana")
    again = Confirm(dana, Evidence(("m9",), 9))
    agreed = Confirm(dana, trust=Trust.INFERRED)
    (record,) = run(notes, again, agreed).delta.records.values()
    assert record is not None
    assert (record.sources, record.trust, record.quote_reason) == (("m9",), Trust.INFERRED, "")
    newer = Supersede((dana,), "Dana prefers coffee", Trust.INFERRED, Evidence(("m9",), 9))
    outcome = run(notes, newer, agreed)
    assert outcome.delta.records[dana.id] is None
    assert [change.verb for change in outcome.changes] == ["superseded"]


def test_what_was_of_no_help_is_on_probation_until_it_is_recalled() -> None:
    """Its recalls count no more; what a person typed stays as it is."""
    until = NOW + timedelta(days=14)
    for trust in (Trust.INFERRED, Trust.EXPLICIT):
        notes = notes_of(MEMORY, trust=trust)
        dana = target(notes, "Dana")
        outcome = run(notes, Doubt(dana, until), author=Author.PERSON)
        (record,) = outcome.delta.records.values()
        assert record is not None
        assert (record.probation_until, record.recalls) == (until.isoformat(timespec="seconds"), 0)
        assert [change.verb for change in outcome.changes] == ["doubted"]
    for trust in (Trust.HUMAN, Trust.QUOTED):
        (refused,) = run(notes_of(MEMORY, trust=trust), Doubt(dana, until)).refused
        assert refused.reason == "a person typed it, or it is somebody's words"


@each("trust", list(Trust))
def test_what_was_of_help_counts_as_recalled_once_more(trust: Trust) -> None:
    """Whoever wrote it; a probation ends with it."""
    notes = notes_of(MEMORY, trust=trust)
    outcome = run(notes, Confirm(target(notes, "Dana"), was_helpful=True), author=Author.PERSON)
    (record,) = outcome.delta.records.values()
    assert record is not None
    assert (record.recalls, record.probation_until, record.trust) == (1, "", trust)


@each("text", ["a\0b", "```", "<script>", "# not a heading", "---", "<!-- open"])
def test_no_text_of_a_thought_spoils_the_file_for_what_comes_after(text: str) -> None:
    """Whatever a model says stays inside its own line, and the file stays a text that can be
    read.
    """
    block = AddBlock(NOW, NOW, text, (Bullet(text), Bullet("after it")))
    sections = (SetSection("Session Title", (text,)), SetSection("Next Steps", (text, "after it")))
    outcome = run(notes_of(), add(text), add("after it"), block, *sections)
    assert all("\0" not in written for written in outcome.texts.values())
    for file in (File.MEMORY, File.SESSION, File.HISTORY):
        assert Note.read(file, outcome.texts[file], KEY).entries[-1].text == "after it"
    assert "## Next Steps" in outcome.texts[File.SESSION]


def test_an_empty_text_is_refused() -> None:
    """Not written as the lone backslash that shields a text from being a heading."""
    outcome = run(notes_of(), add(" \0 "))
    assert (outcome.texts, [refusal.reason for refusal in outcome.refused]) == (
        {},
        ["the text is empty"],
    )


@each("tail", ["```\ncode\n", "<!-- a note to self\n\nmore\n", "- x\n  ```\n  code\n"])
@each("head", ["## Facts\n\n", "## Facts\n\n- a\n\n", "# Memory\n\nprose\n\n", ""])
def test_what_somebody_left_open_swallows_nothing(head: str, tail: str) -> None:
    """An unclosed fence or comment at the end: what is new is read all the same, and what stood
    there stays as it was.
    """
    notes = notes_of(head + tail, history=head + tail)
    block = AddBlock(NOW.replace(hour=9), NOW, "T", (Bullet("it happened", ()),))
    outcome = run(
        notes, add("the port is 8080", Kind.FACT), add("not on Friday", Kind.CONSTRAINT), block
    )
    memory = Note.read(File.MEMORY, outcome.texts[File.MEMORY], KEY)
    assert {"the port is 8080", "not on Friday"} <= {entry.text for entry in memory.entries}
    assert tail in outcome.texts[File.MEMORY]
    assert _places(notes.memory) <= _places(memory)
    history = Note.read(File.HISTORY, outcome.texts[File.HISTORY], KEY)
    assert "it happened" in {entry.text for entry in history.entries}


def _places(note: Note) -> set[tuple[str, str]]:
    return {(entry.section, entry.text) for entry in note.entries}


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param(
            "## Facts\n\n- tea\n\n## Open Loops\n\n- ```python\n", id="an entry that opens code"
        ),
        pytest.param(
            "## Facts\n\n- tea\n\n## Open Loops\n\n- look\n  ~~~\n  x\n",
            id="tildes within an entry",
        ),
        pytest.param("## Facts\n\n- tea\n\n## Open Loops\n\n- a\n  - ```\n", id="in a sub-bullet"),
        pytest.param(
            "## Facts\n\n- tea\n\n## Open Loops\n\n- a\n  <!-- b\n", id="a comment within an entry"
        ),
        pytest.param(
            "## Facts\n\n- tea\n\n## Open Loops\n\n<!-- a --> prose <!--\n",
            id="a comment behind prose",
        ),
        pytest.param(
            "## Facts\n\n- tea\n\n## Open Loops\n\nprose\n2) ```\n",
            id="code behind a number in prose",
        ),
        pytest.param(
            "## Facts\n\nprose\n\n- \nmore\n\n## Open Loops\n\n- x\n",
            id="prose below an empty bullet",
        ),
        pytest.param("## Facts\n\n   ## Open Loops\n\n- x\n", id="an indented heading"),
        pytest.param("## Open Loops\n\n- x\n\n  ~~~\n  indented\n", id="indented code"),
        pytest.param(
            "## Facts\r\r- tea\r\n## Open Loops\n\n- x\r", id="three kinds of line endings"
        ),
    ],
)
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.CONSTRAINT, Kind.OPEN_LOOP, Kind.LESSON])
def test_what_is_new_leaves_its_neighbours_in_their_sections(memory: str, kind: Kind) -> None:
    """Whatever a person left open or indented: every entry says what it said, and the new one
    stands under its heading.
    """
    notes = notes_of(memory)
    outcome = run(notes, add("the port is 8080", kind))
    after = Note.read(File.MEMORY, outcome.texts[File.MEMORY], KEY)
    assert _places(after) == {
        *_places(notes.memory),
        (outcome.changes[0].section, "the port is 8080"),
    }


@each("above", ["", "- first\n", "prose\n"])
def test_prose_below_an_entry_stays_prose(above: str) -> None:
    """A paragraph straight below code of an entry that is replaced, moved or taken out goes to
    no other entry.
    """
    notes = notes_of(
        f"## Facts\n\n{above}- tea\n  ```\n  x\n  ```\nby hand\n", trust=Trust.INFERRED
    )
    tea = next(entry for entry in notes.memory.entries if entry.text.startswith("tea"))
    for operation in (
        Supersede((tea.target,), "tea x x", Trust.INFERRED, Evidence(("m9",), 9)),
        Invalidate(tea.target, "over"),
        Move(tea.target, Kind.DECISION),
    ):
        outcome = run(notes, operation)
        after = Note.read(File.MEMORY, outcome.texts[File.MEMORY], KEY)
        assert _places(notes.memory) - _places(after) == {("Facts", tea.text)}


def test_an_entry_that_opens_code_swallows_nothing() -> None:
    """Written as text: what a person or a tool puts below it is no code."""
    outcome = run(
        notes_of("## Facts\n\n- tea\n"),
        *(add(text, Kind.FACT) for text in ("```python", "~~~", "- ~~~ sh")),
    )
    text = outcome.texts[File.MEMORY]
    assert text == "## Facts\n\n- tea\n- \\```python\n- \\~~~\n- \\- ~~~ sh\n"
    below = Note.read(File.MEMORY, text + "\nby hand\n", KEY)
    assert below.entries[-1].text == "by hand"


def test_a_twin_in_another_section_keeps_the_record() -> None:
    """Of two equal bullets one goes: the other is as trusted as before, and its text is not
    taken for gone.
    """
    notes = notes_of(
        "## Facts\n\n- tea at ten\n\n## Lessons\n\n- tea at ten\n", trust=Trust.INFERRED
    )
    outcome = run(notes, Invalidate(notes.memory.entries[0].target, "duplicate"))
    assert outcome.texts[File.MEMORY] == "## Facts\n\n\n## Lessons\n\n- tea at ten\n"
    assert (outcome.delta.records, outcome.delta.tombstones) == ({}, {})


def test_a_merge_takes_nothing_out_of_history() -> None:
    """What the merged entries said is still so; only what is over hides the lines that say it."""
    told = "## 2026-03-01 09:00–10:00 +08:00\n\n- tea is at ten o'clock\n"
    notes = notes_of(
        "## Facts\n\n- tea is at ten o'clock\n- tea is at ten\n", history=told, trust=Trust.INFERRED
    )
    first, second = notes.memory.entries
    [line] = notes.history.entries
    merged = run(
        notes, Supersede((first.target, second.target), "tea is at ten o'clock", Trust.INFERRED)
    )
    assert set(merged.delta.tombstones) == {f"still:{second.id}"}
    assert merged.delta.records[first.id] is not None
    assert line.id in run(notes, Invalidate(first.target, "over")).delta.tombstones
    assert set(run(notes, Invalidate(first.target, "stale", still_so=True)).delta.tombstones) == {
        f"still:{first.id}"
    }


def test_what_only_left_memory_is_not_learnt_again_from_old_talk() -> None:
    """From a newer message it is; and then it stands as if it had never been gone."""
    notes = notes_of("## Facts\n\n- tea at ten\n", ledger=Ledger(cursor=7), trust=Trust.INFERRED)
    [entry] = notes.memory.entries
    gone = run(notes, Invalidate(entry.target, "stale", still_so=True))
    after = notes_of("## Facts\n", ledger=Ledger(cursor=7).after(gone.delta))
    old, new = (
        Add(Kind.FACT, "tea at ten", Trust.INFERRED, Evidence((f"m{n}",), n)) for n in (7, 8)
    )
    assert run(after, old).refused[0].reason == "it was taken out, and nobody said it again since"
    again = run(after, new)
    assert "- tea at ten" in again.texts[File.MEMORY]
    assert again.delta.tombstones == {f"still:{entry.id}": None}


def spoken(notes: Notes, *names: str, text: str = "the gate opens at eight") -> Outcome:
    """A window of these people, of which one entry is learnt."""
    add = Add(Kind.FACT, text, Trust.INFERRED, Evidence(("m1",), 1, "Dana", NOW))
    return applied(notes, Decision("test", Author.MODEL, (add,), speakers=names), NOW)


def test_an_entry_knows_who_had_spoken_when_it_was_learnt() -> None:
    """Speakers keep the order of their first word; who speaks later has not heard it."""
    first = spoken(notes_of(), "Dana", "Tom", "Dana", "")
    ledger = Ledger().after(first.delta)
    (old,) = ledger.records.values()
    assert old is not None
    assert (ledger.speakers, ledger.heard_by(old)) == (("Dana", "Tom"), ("Dana", "Tom"))
    notes = notes_of(first.texts[File.MEMORY], ledger=ledger)
    later = spoken(notes, "Ines", "Tom", text="the yard has a lamp")
    ledger = ledger.after(later.delta)
    heard = {ledger.heard_by(record) for record in ledger.records.values()}
    assert heard == {("Dana", "Tom"), ("Dana", "Tom", "Ines")}


def test_who_asks_to_keep_something_is_a_speaker() -> None:
    """Though nothing of them was consolidated yet."""
    add = Add(Kind.FACT, "tea at five", Trust.EXPLICIT, Evidence(speaker="Dana"))
    ledger = Ledger().after(run(notes_of(), add).delta)
    assert [ledger.heard_by(record) for record in ledger.records.values()] == [("Dana",)]


def test_who_hears_it_again_has_heard_it() -> None:
    """A merge that rests on no message is heard by nobody else."""
    first = spoken(notes_of(), "Dana")
    ledger = Ledger().after(first.delta)
    notes = notes_of(first.texts[File.MEMORY], ledger=ledger)
    (entry,) = notes.memory.entries
    again = Confirm(entry.target, Evidence(("m2",), 2, "Tom", NOW))
    decision = Decision("test", Author.MODEL, (again,), speakers=("Tom",))
    (record,) = applied(notes, decision, NOW).delta.records.values()
    assert record is not None
    assert record.heard == 2
    merge = Supersede((entry.target,), "the gate opens at 8", Trust.INFERRED)
    decision = Decision("test", Author.MODEL, (merge,), speakers=("Tom",))
    records = applied(notes, decision, NOW).delta.records.values()
    assert [record.heard for record in records if record] == [1]
