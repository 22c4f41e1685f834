"""Notes as things that can be recalled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace
from pipimem.notes.ledger import Ledger, QuoteReason, Record
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.recall.items import history_items, sources_of, with_copies

from tests.recall.conftest import items_of, notes_from


def test_each_kind_of_note_gives_its_items() -> None:
    """Ids say where an item stands; SESSION comes by section, the rest by entry."""
    notes = notes_from(
        session="# Next Steps\n\n- one\n- two\n",
        memory="## Facts\n\n- a fact\n\nA paragraph of people's own.\n",
        history="## 2026-03-02 09:10–18:20 +08:00 · Planning\n\n- they planned\n",
        workspace="## Shared Context\n\n- shared\n",
    )
    backlog = [
        Message.user("hello there", id="m7", speaker="Dana", time=datetime(2026, 3, 5, tzinfo=UTC))
    ]
    items = items_of(notes, backlog)
    assert [(item.source.value, item.text) for item in items] == [
        ("session", "one"),
        ("session", "two"),
        ("memory", "a fact"),
        ("memory", "A paragraph of people's own."),
        ("workspace", "shared"),
        ("history", "they planned"),
        ("log", "hello there"),
    ]
    assert items[0].id == f"session:{notes.session.entries[0].ref}"
    assert items[2].id == f"memory:{notes.memory.entries[0].ref}"
    assert items[-1].id == "log:m7"
    assert items[-1].head == "2026-03-05 Dana"


def test_the_title_of_a_history_block_is_no_word_of_its_bullets() -> None:
    """It is about the block as a whole; the end of the block is the date of a bullet without one."""
    (item,) = items_of(
        notes_from(history="## 2026-03-02 09:10–18:20 +08:00 · Planning\n\n- they planned\n")
    )
    assert item.searched == "they planned"
    assert item.section == "2026-03-02 09:10–18:20 +08:00 · Planning"
    assert item.when == datetime(2026, 3, 2, 18, 20, tzinfo=timezone(timedelta(hours=8)))


def test_a_history_bullet_is_of_the_time_when_it_was_said() -> None:
    """Its record knows the messages it rests on; the end of a long block would be weeks late."""
    history = "## 2026-02-02 09:10 – 2026-03-02 18:20 +08:00\n\n- they planned\n"
    (bullet,) = notes_from(history=history).history.entries
    record = Record(Trust.INFERRED, "history", ("m1",), when="2026-02-05T10:00:00+08:00")
    notes = notes_from(history=history, ledger=Ledger(records={bullet.id: record}))
    (item,) = history_items(notes.history, (), notes.ledger.records)
    assert item.time == "2026-02-05T10:00+08:00"


def test_where_only_a_day_is_known_only_the_day_is_shown() -> None:
    """A quote says on which day; noon is what it is compared by, and nobody said it then."""
    notes = notes_from(
        session="# Worklog\n\n- Dana (2026-03-01): the kiln is hot\n",
        memory="## Facts\n\n- Dana (2026-03-01): the kiln is old\n",
        history="## 2026-03-02 09:10–18:20 +08:00\n\n- Dana (2026-03-01): the kiln is new\n- they planned\n",
    )
    shown = [item.time for item in items_of(notes)]
    assert shown == ["2026-03-01", "2026-03-01", "2026-03-01", "2026-03-02T18:20+08:00"]


def test_headings_of_older_tools_date_what_is_under_them() -> None:
    """`## Update <time>` is a date and no title, in MEMORY and in HISTORY."""
    notes = notes_from(
        memory="## Update 2026-08-05T04:00:00.000Z\n- learnt\n",
        history="## Folded History Through 2026-06-21T04:00:00.000Z\n\n- folded\n",
    )
    learnt, folded = items_of(notes)
    assert (learnt.when, learnt.head) == (datetime(2026, 8, 5, 4, tzinfo=UTC), "")
    assert (folded.when, folded.head) == (datetime(2026, 6, 21, 4, tzinfo=UTC), "")


def test_a_heading_of_peoples_own_counts_as_words() -> None:
    """ "Kubernetes migration" over a bullet says what the bullet is about; "Facts" says nothing."""
    own, standard = items_of(
        notes_from(memory="## Kubernetes migration\n\n- done in May\n\n## Facts\n\n- x is y\n")
    )
    assert own.head == "Kubernetes migration"
    assert standard.head == ""


def test_an_empty_template_is_no_memory() -> None:
    """Comments, empty bullets and "none" say nothing."""
    text = "# Current State\n\n<!-- what is going on -->\n\n# Next Steps\n\n-\n\n# Worklog\n\n无\n\n# Decisions\n\n- (none)\n"
    assert items_of(notes_from(session=text, memory="## Facts\n\n<!-- facts -->\n")) == ()


def test_the_ledgers_record_comes_along() -> None:
    """Trust, kind, recalls, speaker and time are the record's; probation shows as trust."""
    memory = "## Preferences\n\n- Dana likes tea\n"
    entry = notes_from(memory=memory).memory.entries[0]
    record = Record(Trust.INFERRED, recalls=3, speaker="Dana", when="2026-03-01T10:00:00+08:00")
    (item,) = items_of(notes_from(memory=memory, ledger=Ledger(records={entry.id: record})))
    assert (item.trust, item.kind, item.recalls, item.speaker) == (
        "inferred",
        "preference",
        3,
        "Dana",
    )
    assert item.when == datetime(2026, 3, 1, 2, tzinfo=UTC)
    on_probation = Record(Trust.INFERRED, probation_until="2026-04-01T00:00:00+08:00")
    (item,) = items_of(notes_from(memory=memory, ledger=Ledger(records={entry.id: on_probation})))
    assert item.trust == "probation"
    quote = replace(on_probation, trust=Trust.QUOTED, quote_reason=QuoteReason.ONE_MEMBER)
    (item,) = items_of(notes_from(memory=memory, ledger=Ledger(records={entry.id: quote})))
    assert (item.trust, item.awaits_second_voice) == ("quoted", True)
    quote = replace(quote, quote_reason=QuoteReason.CONDUCT)
    (item,) = items_of(notes_from(memory=memory, ledger=Ledger(records={entry.id: quote})))
    assert (item.trust, item.awaits_second_voice) == ("quoted", False)


def test_what_tools_printed_is_not_recalled() -> None:
    """Of the backlog only what people and the bot said counts."""
    backlog = [Message.tool("npm ERR! 1", id="t"), Message.assistant("It failed.", id="a")]
    assert [item.id for item in items_of(notes_from(), backlog)] == ["log:a"]


def test_what_stands_in_two_sections_is_one_item() -> None:
    """The same line under Current State and Worklog is one text, and is found once, in the upper
    place.
    """
    items = items_of(
        notes_from(session="# Current State\n\n- 2.4 is live\n\n# Worklog\n\n- 2.4 is live\n")
    )
    assert [(item.section, item.text) for item in items] == [("Current State", "2.4 is live")]


def test_of_a_quote_the_name_is_searched_and_the_day_is_its_time() -> None:
    """Words of the day in front would find it for every question with a number of that year."""
    notes = notes_from(memory="## Facts\n- Tom (2026-11-12): the gate closes at ten\n")
    (item,) = items_of(notes)
    assert item.searched == "Tom\nthe gate closes at ten"
    assert item.text == "Tom (2026-11-12): the gate closes at ten"
    assert item.when is not None
    assert f"{item.when:%Y-%m-%d}" == "2026-11-12"


def test_a_line_of_session_rests_on_what_the_same_words_rest_on() -> None:
    """Recall shows one of the two; a text of MEMORY.md has the messages of its own record alone."""
    notes = notes_from(session="# Worklog\n\n- 2.4 is live\n", memory="## Facts\n- 2.5 is not\n")
    live, other = items_of(notes)
    text = live.id.removeprefix("session:")
    said = Record(Trust.INFERRED, sources=("m7",))
    for name in (live.id, text, f"history:{text}"):
        assert sources_of([live], {name: said}) == ("m7",), name
    typed = other.id.removeprefix("memory:")
    assert sources_of([other], {f"history:{typed}": said}) == ()


def test_a_text_that_was_shown_is_known_in_the_other_files_too() -> None:
    """A message of the same id is another thing."""
    found = with_copies({"memory:abc", "log:m1"})
    assert found == {"memory:abc", "session:abc", "workspace:abc", "history:abc", "log:m1"}
