"""What was kept on probation and never came up again."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace
from pipimem.memory.expire import expired, next_end
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Note, Notes, blocks
from pipimem.notes.operations import Author, Invalidate, Trust

from tests.cases import each, table
from tests.notes.building import KEY, NOW, notes_of

MEMORY = "## Facts\n\n- over\n- recalled\n- running\n- durable\n- 自己写的\n"


def on_probation() -> Notes:
    name = {entry.text: entry.id for entry in notes_of(MEMORY).memory.entries}
    records = {
        name["over"]: Record(Trust.INFERRED, probation_until=NOW.isoformat()),
        name["recalled"]: Record(Trust.INFERRED, probation_until=NOW.isoformat(), recalls=1),
        name["running"]: Record(
            Trust.INFERRED, probation_until=(NOW + timedelta(seconds=1)).isoformat()
        ),
        name["durable"]: Record(Trust.INFERRED, when=NOW.isoformat()),
        "gone2345": Record(Trust.INFERRED, probation_until=NOW.isoformat()),
    }
    return notes_of(MEMORY, ledger=Ledger(records=records))


def texts_out(notes: Notes, now: datetime) -> set[str]:
    found = [
        notes.find(op.target) for op in expired(notes, now).operations if isinstance(op, Invalidate)
    ]
    return {entry.text for entry in found if entry}


def test_only_what_is_over_and_never_recalled_goes() -> None:
    """One recall saves an entry; what is durable or typed has no probation, and what stands no
    more is passed over.
    """
    assert texts_out(on_probation(), NOW) == {"over"}
    assert texts_out(on_probation(), NOW + timedelta(seconds=1)) == {"over", "running"}
    assert texts_out(on_probation(), NOW - timedelta(seconds=1)) == set()


def test_it_is_a_rule_and_no_thought() -> None:
    """The calendar decides, gives its reason, and touches nothing else of the file."""
    decision = expired(on_probation(), NOW)
    assert (decision.task, decision.author) == ("expire", Author.RULE)
    outcome = applied(on_probation(), decision, NOW)
    assert outcome.texts == {File.MEMORY: MEMORY.replace("- over\n", "")}
    assert [change.reason for change in outcome.changes] == ["its probation ended without a recall"]


DAYS = [
    ("Participants", 365),
    ("Preferences", 365),
    ("Facts", 180),
    ("经验", 180),
    ("Open Loops", 90),
    ("进行中", 30),
]


def only(section: str, record: Record, text: str = "tea at ten") -> Notes:
    memory = f"## {section}\n\n- {text}\n"
    [entry] = notes_of(memory).memory.entries
    return notes_of(memory, ledger=Ledger(records={entry.id: record}))


def is_kept(notes: Notes, days: float) -> bool:
    return not expired(notes, NOW + timedelta(days=days)).operations


@each(("section", "days"), DAYS)
@each(("recalls", "boost"), [(0, 1.0), (1, 1.5), (2, 2.0)])
def test_a_stale_entry_goes_when_the_time_of_its_kind_is_over(
    section: str, days: int, recalls: int, boost: float
) -> None:
    """By its heading in either language; each recall gives half the time more, up to twice."""
    notes = only(section, Record(Trust.INFERRED, when=NOW.isoformat(), recalls=recalls))
    assert is_kept(notes, days * boost - 1)
    assert not is_kept(notes, days * boost)


@each(
    ("section", "record", "text"),
    [
        ("Facts", Record(Trust.EXPLICIT, when=NOW.isoformat()), "asked for"),
        ("Facts", Record(Trust.HUMAN, when=NOW.isoformat()), "typed"),
        ("Constraints", Record(Trust.INFERRED, when=NOW.isoformat()), "never on Fridays"),
        ("决定", Record(Trust.INFERRED, when=NOW.isoformat()), "用 Postgres"),
        ("Facts", Record(Trust.INFERRED, when=NOW.isoformat(), recalls=3), "asked for three times"),
        ("Facts", Record(Trust.INFERRED, when=NOW.isoformat()), "📌 the gateway is in Berlin"),
        ("Facts", Record(Trust.INFERRED, when=NOW.isoformat()), "the gateway is in Berlin #pinned"),
        ("Our own heading", Record(Trust.INFERRED, when=NOW.isoformat()), "filed by hand"),
        ("Facts", Record(Trust.INFERRED), "of unknown age"),
    ],
)
def test_what_is_immune_stays_for_ever(section: str, record: Record, text: str) -> None:
    """Explicit, human, constraint, decision, three recalls, pinned, under people's own headings,
    of unknown age.
    """
    assert is_kept(only(section, record, text), 5_000)


@each(
    ("text", "is_pinned"),
    table(__file__, "people_pin_an_entry_in_many_ways"),
)
def test_people_pin_an_entry_in_many_ways(text: str, is_pinned: bool) -> None:
    """The marks stand in `data/pins.txt`; a mark inside a longer word is none."""
    notes = only("Facts", Record(Trust.INFERRED, when=NOW.isoformat()), text)
    assert is_kept(notes, 5_000) == is_pinned


def test_a_recall_or_a_later_learning_starts_the_time_anew() -> None:
    """Old talk that is replayed today is not stale today, and what was recalled lately is not
    either.
    """
    old = Record(Trust.INFERRED, when="2020-01-01T00:00:00+00:00")
    assert not is_kept(only("Facts", old), 0)
    assert is_kept(only("Facts", replace(old, learnt=NOW.isoformat())), 179)
    assert is_kept(only("Facts", replace(old, recalls=1, recalled=NOW.isoformat())), 269)


def test_an_entry_with_a_date_goes_on_the_day_after() -> None:
    """Also one that was asked for and one of a kind that never grows stale: the date was given
    with it.
    """
    for trust, section in ((Trust.INFERRED, "Decisions"), (Trust.EXPLICIT, "Facts")):
        notes = only(section, Record(trust, when=NOW.isoformat(), expires=f"{NOW:%Y-%m-%d}"))
        assert is_kept(notes, 0)
        [op] = expired(notes, NOW + timedelta(days=1)).operations
        assert isinstance(op, Invalidate)
        assert op.reason == f"it held until {NOW:%Y-%m-%d}"
    assert is_kept(only("Facts", Record(Trust.HUMAN, expires="2020-01-01")), 0)


def test_what_expires_goes_to_the_archive_word_for_word() -> None:
    """Under a heading that no fold takes for history, with its sub-bullets."""
    memory = "## Facts\n\n- tea at ten\n  - with milk\n- stays\n"
    [entry, stays] = notes_of(memory).memory.entries
    old, new = (
        Record(Trust.INFERRED, when="2020-01-01T00:00:00+00:00"),
        Record(Trust.INFERRED, when=NOW.isoformat()),
    )
    notes = notes_of(memory, ledger=Ledger(records={entry.id: old, stays.id: new}))
    outcome = applied(notes, expired(notes, NOW), NOW)
    assert outcome.texts == {File.MEMORY: "## Facts\n\n- stays\n"}
    assert outcome.archived == "\n## Expired 2026-03-12 · Facts\n\n- tea at ten\n  - with milk\n"
    assert not any(block.end for block in blocks(Note.read(File.ARCHIVE, outcome.archived, KEY)))


@each(
    ("memory", "left"),
    table(__file__, "an_expiry_leaves_no_empty_heading"),
)
def test_an_expiry_leaves_no_empty_heading(memory: str, left: str) -> None:
    """Of those that the runtime makes; one of people's own is theirs, and so is what has other
    things below it.
    """
    ended = Record(Trust.INFERRED, probation_until=NOW.isoformat())
    entries = notes_of(memory).memory.entries
    notes = notes_of(
        memory,
        ledger=Ledger(records={e.id: ended for e in entries if e.text in ("over", "也过了")}),
    )
    assert applied(notes, expired(notes, NOW), NOW).texts == {File.MEMORY: left}


@each(
    ("section", "record"),
    [
        ("Facts", Record(Trust.INFERRED, when=NOW.isoformat())),
        ("Facts", Record(Trust.INFERRED, when=NOW.isoformat(), recalls=1)),
        ("Decisions", Record(Trust.EXPLICIT, expires=f"{NOW:%Y-%m-%d}")),
        ("Facts", Record(Trust.INFERRED, probation_until=(NOW + timedelta(days=30)).isoformat())),
        (
            "Ongoing Work",
            Record(
                Trust.INFERRED, when=NOW.isoformat(), expires=f"{NOW + timedelta(days=2):%Y-%m-%d}"
            ),
        ),
    ],
)
def test_the_next_end_is_the_second_at_which_something_expires(
    section: str, record: Record
) -> None:
    """Not one earlier; nobody needs to look before."""
    notes = only(section, record)
    end = next_end(notes, NOW)
    assert end is not None
    assert expired(notes, end).operations
    assert not expired(notes, end - timedelta(seconds=1)).operations
    assert next_end(notes, end + timedelta(days=1000)) is None


@each("on_probation", [False, True])
def test_an_open_loop_does_not_expire_before_its_due_day(on_probation: bool) -> None:
    """Its retention counts from the end of that day, and its probation lasts until then."""
    due, until = NOW + timedelta(days=200), (NOW + timedelta(days=30)).isoformat()
    record = Record(Trust.INFERRED, when=NOW.isoformat(), due=f"{due:%Y-%m-%d}")
    if on_probation:
        record = replace(record, probation_until=until)
    notes = only("Open Loops", record)
    assert is_kept(notes, 200)
    assert is_kept(notes, 290) is not on_probation
    assert not is_kept(notes, 291)
    past = only("Open Loops", replace(record, due=f"{NOW - timedelta(days=9):%Y-%m-%d}"))
    assert not is_kept(past, 90)


def test_what_never_expires_has_no_end() -> None:
    """Explicit ones, and those of people."""
    assert next_end(only("Facts", Record(Trust.EXPLICIT, when=NOW.isoformat())), NOW) is None
    assert next_end(only("Facts", Record(Trust.HUMAN, expires="2099-01-01")), NOW) is None


@each(
    ("section", "text", "trust", "stays"),
    [
        ("Facts", "shelf nine holds the belts #keep", Trust.INFERRED, True),
        ("Facts", "Dana is allergic to nuts", Trust.INFERRED, True),
        ("Constraints", "Mia can't eat nuts", Trust.INFERRED, True),
        ("Constraints", "Dana says: no nuts at lunch", Trust.INFERRED, False),
        ("Health", "gluten", Trust.INFERRED, True),
        ("Preferences", "answer in French", Trust.INFERRED, True),
        ("Facts", "Dana likes tea", Trust.EXPLICIT, True),
        ("Facts", "Dana likes tea", Trust.INFERRED, False),
    ],
)
def test_a_mark_wishes_and_health_outlast_a_probation(
    section: str, text: str, trust: Trust, stays: bool
) -> None:
    """So does what somebody asked for, which feedback may only rank lower."""
    notes = only(section, Record(trust, probation_until=NOW.isoformat()), text)
    assert (texts_out(notes, NOW) == set()) is stays
    assert (next_end(notes, NOW - timedelta(days=1)) is None) is stays
