"""Wishes and health, as what was learnt of a window is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from msgspec import structs
from pipimem.memory.promote import promoted
from pipimem.memory.remember import remembered
from pipimem.memory.wishes_and_health import (
    in_place_of_older_wishes,
    moves_to_own_heading,
    older_wishes,
)
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Add, Author, Confirm, Decision, Supersede, Trust
from pipimem.sidecar.tasks import Learned

from tests.cases import each
from tests.notes.building import NOW, notes_of

SAID = {"m1": Message("user", "…", "m1", NOW, "Dana", "", 7)}
WISHES = (
    "## Wishes\n\n- Dana (2026-03-01): answer in French\n- Dana (2026-03-01): call me Didi\n"
    "- Tom (2026-03-01): answer in Spanish\n- when I ask about money, answer in Dutch\n"
)


def wishes(trust: Trust = Trust.EXPLICIT) -> Notes:
    """The wishes of Dana and Tom, and one that a person typed."""
    notes = notes_of(WISHES)
    records = {
        entry.id: Record(trust, "wish", speaker=entry.text.split()[0])
        for entry in notes.memory.entries[:3]
    }
    return structs.replace(notes, ledger=Ledger(records=records))


def test_a_wish_is_explicit_however_sure_a_model_is_of_it() -> None:
    """A model that calls it middling, or copies the message, writes it for good all the same."""
    text = (
        "Always include percentage changes when I ask about expense tracking, by category and month"
    )
    talk = {"m1": replace(SAID["m1"], content=text)}
    item = Learned(Kind.WISH, text, ("m1",), necessity="medium", concluded=True)
    [add] = promoted((item,), notes_of(), talk, NOW).operations
    assert isinstance(add, Add)
    assert (add.kind, add.trust, add.probation_until) == (Kind.WISH, Trust.EXPLICIT, None)


def test_health_is_written_for_good() -> None:
    """It stays what a model concluded, and is never on probation."""
    item = Learned(
        Kind.HEALTH, "Dana is allergic to nuts", ("m1",), necessity="low", concluded=True
    )
    [add] = promoted((item,), notes_of(), SAID, NOW).operations
    assert isinstance(add, Add)
    assert (add.kind, add.trust, add.probation_until) == (Kind.HEALTH, Trust.INFERRED, None)


@each(
    ("text", "ended"),
    [
        ("Answer in German from now on", ["Dana (2026-03-01): answer in French"]),
        ("Call me Dee", ["Dana (2026-03-01): call me Didi"]),
        ("Always show the source", []),
        ("Reply in Markdown", []),
        ("Never call me names", []),
        ("Whenever I ask about taxes, answer in German", []),
    ],
)
def test_the_newest_wish_of_a_person_on_a_subject_holds(text: str, ended: list[str]) -> None:
    """Another person's stays, and so do wishes with a condition and wishes about other things."""
    notes = wishes()
    talk = {"m1": replace(SAID["m1"], content=text)}
    item = Learned(Kind.WISH, text, ("m1",), "Dana", explicit=True)
    [operation] = promoted((item,), notes, talk, NOW).operations
    targets = operation.targets if isinstance(operation, Supersede) else ()
    found = [notes.find(target) for target in targets]
    assert [entry.text for entry in found if entry] == ended


def test_a_wish_that_was_asked_for_later_stays() -> None:
    """Talk that is consolidated late ends no wish that a command asked for after it."""
    notes = wishes()
    later = {
        name: structs.replace(record, when=(NOW + timedelta(hours=1)).isoformat())
        for name, record in notes.ledger.records.items()
    }
    notes = structs.replace(notes, ledger=Ledger(records=later))
    item = Learned(Kind.WISH, "Answer in German from now on", ("m1",), "Dana", explicit=True)
    talk = {"m1": replace(SAID["m1"], content=item.text)}
    assert [type(op) for op in promoted((item,), notes, talk, NOW).operations] == [Add]


def test_what_a_person_typed_is_replaced_by_no_wish() -> None:
    """Nor is a quote, which binds nobody."""
    for trust in (Trust.HUMAN, Trust.QUOTED):
        assert older_wishes(wishes(trust), "Answer in German", "Dana") == []


def test_a_wish_that_stands_already_is_confirmed() -> None:
    """The same wish again makes no second entry."""
    text = "Dana (2026-03-12): answer in French"
    item = Learned(Kind.WISH, text, ("m1",), "Dana", explicit=True)
    [operation] = promoted((item,), wishes(), SAID, NOW).operations
    assert isinstance(operation, Confirm)


OLD = (
    "## Preferences\n\n- Dana (2026-03-01): answer in French\n- Tom (2026-03-01): I like tea\n\n"
    "## Facts\n\n- Tom (2026-03-01): I'm allergic to nuts\n- the port is 8080\n\n"
    "## Constraints\n\n- Tom (2026-03-01): no emojis in release notes\n"
    "- Tom (2026-03-01): Mia can't have nuts, nobody brings any\n\n"
    "## Rota\n\n- Tom (2026-03-01): I can't eat gluten\n"
)


@each("trust", [Trust.INFERRED, Trust.EXPLICIT])
def test_tidying_moves_wishes_and_health_under_their_heading(trust: Trust) -> None:
    """Also what was asked for; constraints bind everybody, and people's own headings are theirs."""
    notes = notes_of(OLD, trust=trust)
    moves = tuple(moves_to_own_heading(notes))
    assert [move.kind for move in moves] == [Kind.WISH, Kind.HEALTH]
    decision = Decision("tidy", Author.MODEL, moves)
    text = applied(notes, decision, NOW).texts[File.MEMORY]
    assert "## Wishes\n\n- Dana (2026-03-01): answer in French\n" in text
    assert "## Health\n\n- Tom (2026-03-01): I'm allergic to nuts\n" in text
    assert "## Rota\n\n- Tom (2026-03-01): I can't eat gluten\n" in text


@each("trust", [Trust.HUMAN, Trust.QUOTED])
def test_what_a_person_typed_or_cited_is_moved_by_a_person(trust: Trust) -> None:
    """No tidying touches it."""
    assert list(moves_to_own_heading(notes_of(OLD, trust=trust))) == []


def test_a_wish_that_somebody_asks_to_remember_replaces_the_older_one() -> None:
    """By the same person and on the same subject; else it is added."""
    for speaker, kind in (("Dana", Supersede), ("Ida", Add)):
        decision = remembered("answer in German", Kind.WISH, NOW, speaker=speaker)
        [operation] = in_place_of_older_wishes(decision, wishes()).operations
        assert isinstance(operation, kind)
