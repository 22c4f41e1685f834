"""Pairs of entries that may contradict each other, and how a person settles one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from pipimem.errors import NothingFound
from pipimem.memory.conflicts import conflicts, settled
from pipimem.notes.apply import applied
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Trust

from tests.notes.building import NOW, notes_of

MEMORY = """## Facts

- the choir rehearses in the parish hall
- Ida rehearses in the loft

## Decisions

- the choir rehearses in the gym
"""


def pairs(notes: Notes) -> list[tuple[str, str]]:
    return [(found.older.text, found.newer.text) for found in conflicts(notes)]


def ids(notes: Notes) -> dict[str, str]:
    return {entry.text.rpartition(" ")[2]: entry.id for entry in notes.memory.entries}


def test_a_pair_stands_under_whatever_headings() -> None:
    """What is further down is the newer one, where nobody knows the days."""
    assert pairs(notes_of(MEMORY)) == [
        ("the choir rehearses in the parish hall", "the choir rehearses in the gym")
    ]


def test_what_was_said_later_is_the_newer_one() -> None:
    """Wherever it stands; a quote has its day in front."""
    notes = notes_of(
        "- Dana (2026-03-09): the retro is on Friday\n- Tom (2026-03-02): the retro is on Monday\n"
    )
    assert pairs(notes) == [
        ("Tom (2026-03-02): the retro is on Monday", "Dana (2026-03-09): the retro is on Friday")
    ]
    name = ids(notes_of(MEMORY))
    said = {"hall": "2026-03-09T10:00:00+00:00", "gym": "2026-03-02T10:00:00+00:00"}
    records = {name[word]: Record(Trust.EXPLICIT, when=when) for word, when in said.items()}
    (pair,) = pairs(notes_of(MEMORY, ledger=Ledger(records=records)))
    assert pair[0] == "the choir rehearses in the gym"


def test_equal_texts_and_paragraphs_make_no_pair() -> None:
    """Equal ones are one entry; a paragraph is people's prose."""
    assert pairs(notes_of("- the cap is 20\n\n## Decisions\n\n- the cap is 20\n")) == []
    assert pairs(notes_of("the cap is 20\n\n- the cap is 30\n")) == []


def test_one_is_kept_and_the_other_goes() -> None:
    """A person may end what another person typed."""
    notes = notes_of(MEMORY)
    name = ids(notes)
    decision = settled(notes, name["gym"], name["hall"], both=False)
    after = notes.after(applied(notes, decision, NOW))
    assert decision.author is Author.PERSON
    assert [entry.text for entry in after.memory.entries] == [
        "Ida rehearses in the loft",
        "the choir rehearses in the gym",
    ]
    assert pairs(after) == []


def test_nothing_goes_where_the_entry_that_holds_is_gone() -> None:
    """Two people settle one pair at once, each for the other entry."""
    notes = notes_of(MEMORY)
    name = ids(notes)
    mine = settled(notes, name["gym"], name["hall"], both=False)
    theirs = settled(notes, name["hall"], name["gym"], both=False)
    after = notes.after(applied(notes, mine, NOW))
    outcome = applied(after, theirs, NOW)
    assert [one.reason for one in outcome.refused] == ["the entry that was to hold is gone"]
    assert after.after(outcome).memory.text == after.memory.text


def test_both_are_kept_and_the_pair_is_settled() -> None:
    """The file stays as it is. A pair with another wording of one of them is a new one."""
    notes = notes_of(MEMORY)
    name = ids(notes)
    outcome = applied(notes, settled(notes, name["hall"], name["gym"], both=True), NOW)
    assert outcome.texts == {}
    assert [(change.verb, change.after) for change in outcome.changes] == [
        ("settled", "the choir rehearses in the parish hall")
    ]
    after = notes.after(outcome)
    assert pairs(after) == []
    reworded = notes_of(MEMORY.replace("in the gym", "in the old gym"))
    assert len(pairs(replace(reworded, ledger=after.ledger))) == 1


def test_ids_are_checked() -> None:
    """One of no entry, and one entry twice."""
    notes = notes_of(MEMORY)
    name = ids(notes)["gym"]
    with pytest.raises(NothingFound, match="'nothing'"):
        settled(notes, name, "nothing", both=False)
    with pytest.raises(NothingFound, match="are one entry"):
        settled(notes, name, name, both=True)
