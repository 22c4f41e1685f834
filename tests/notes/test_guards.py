"""What no model may do to a memory."""

from __future__ import annotations

import pytest
from pipimem.notes.guards import refusals
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Author,
    Decision,
    Evidence,
    FoldBlocks,
    Invalidate,
    Operation,
    Supersede,
    Trust,
)

from tests.notes.building import notes_of

SAID = Evidence(("m9",), 9)


def memory(count: int) -> str:
    return "## Facts\n\n" + "".join(f"- thing {n} stands in hall {n}\n" for n in range(count))


def refused(notes: Notes, *operations: Operation, author: Author = Author.MODEL) -> list[str]:
    return [refusal.reason for refusal in refusals(notes, Decision("tidy", author, operations))]


def all_out(notes: Notes) -> list[Operation]:
    return [Invalidate(entry.target, "x") for entry in notes.memory.entries]


@pytest.mark.parametrize(("entries", "allowed"), [(4, 3), (12, 3), (16, 4), (19, 4), (40, 10)])
def test_a_run_may_take_out_three_or_a_quarter(entries: int, allowed: int) -> None:
    """Whichever is more; the rest of the run is refused with the number."""
    notes = notes_of(memory(entries), trust=Trust.INFERRED)
    reasons = refused(notes, *all_out(notes))
    assert reasons == [f"this run may take out at most {allowed} entries"] * (entries - allowed)


def test_people_and_rules_are_not_bound() -> None:
    """A person may empty the file, and the calendar what is over."""
    notes = notes_of(memory(9))
    assert refused(notes, *all_out(notes), author=Author.PERSON) == []
    assert refused(notes, *all_out(notes), author=Author.RULE) == []


@pytest.mark.parametrize(
    ("trust", "dropped", "merged", "renewed"),
    [
        (Trust.HUMAN, True, True, True),
        (Trust.EXPLICIT, True, True, False),
        (Trust.INFERRED, False, False, False),
    ],
)
def test_who_said_it_decides_what_a_model_may_do(
    trust: Trust, dropped: bool, merged: bool, renewed: bool
) -> None:
    """Only a newer word of the conversation replaces what was asked for, and nothing what was
    typed.
    """
    notes = notes_of("## Facts\n\n- the port is 8080\n", trust=trust)
    target = notes.memory.entries[0].target
    no = [f"entry {target.id} is {trust}: only a person may remove it"]
    assert refused(notes, Invalidate(target, "x")) == no * dropped
    assert refused(notes, Supersede((target,), "the port is 9090", Trust.INFERRED)) == no * merged
    assert (
        refused(notes, Supersede((target,), "the port is 9090", Trust.INFERRED, SAID))
        == no * renewed
    )


def test_a_merge_that_keeps_the_words_takes_nothing_out() -> None:
    """Merging is not erasing; replacing many by other words is."""
    notes = notes_of(memory(8), trust=Trust.INFERRED)
    targets = tuple(entry.target for entry in notes.memory.entries)
    keeping = "; ".join(entry.text for entry in notes.memory.entries)
    assert refused(notes, Supersede(targets, keeping, Trust.INFERRED)) == []
    (reason,) = refused(notes, Supersede(targets, "misc", Trust.INFERRED))
    assert reason.startswith(
        "a merge must keep the words of what it merges, and this one forgets: thing 0"
    )
    told = Evidence(sources=("m1",))
    assert refused(notes, Supersede(targets, "misc", Trust.INFERRED, told)) == [
        "this run may take out at most 3 entries"
    ]


def test_a_fold_without_bullets_is_refused() -> None:
    """It would erase a month."""
    assert refused(notes_of(), FoldBlocks("2026-03", "x", (), ("h",))) == [
        "a fold without bullets would erase a month"
    ]
