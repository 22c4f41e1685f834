"""Whether a paid thought is due."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from msgspec.structs import replace
from pipimem.memory.fold import due_months, stamp_of
from pipimem.memory.gates import (
    CLOSED,
    IDLE,
    Gate,
    due,
    may_consolidate,
    may_expire,
    may_fold,
    may_refresh,
    may_tidy,
    next_opening,
)
from pipimem.notes.guards import TOOK_HALF
from pipimem.notes.ledger import Ledger, Loss, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Job, Trust

from tests.cases import each
from tests.notes.building import NOW, notes_of


def ran(task: str, minutes: int) -> Ledger:
    return Ledger(jobs={task: Job(ran=(NOW - timedelta(minutes=minutes)).isoformat())})


def told(blocks: int, text: str = "Dana released it") -> str:
    return "".join(
        f"## 2026-03-{day:02} 09:00–10:00 +08:00\n\n- {text} {day}\n\n"
        for day in range(1, blocks + 1)
    )


@each(
    ("turns", "tools", "gate"),
    [
        (1, 3, Gate(False, "too little new")),
        (2, 0, Gate(True, "due")),
        (0, 4, Gate(True, "due")),
    ],
)
def test_the_session_is_refreshed_after_two_turns_or_four_tools(
    turns: int, tools: int, gate: Gate
) -> None:
    """One turn and three tool calls are too little, one more of either is enough."""
    assert may_refresh(notes_of(), 5, turns, tools, NOW) == gate


@each(("minutes", "gate"), [(9, Gate(False, "ran a short while ago")), (10, Gate(True, "due"))])
def test_refreshes_are_ten_minutes_apart(minutes: int, gate: Gate) -> None:
    """The tenth minute opens the gate."""
    assert may_refresh(notes_of(ledger=ran("refresh", minutes)), 5, 2, 0, NOW) == gate
    with_its_sheet = replace(ran("consolidate", minutes), cursor=3, refreshed=3)
    assert may_refresh(notes_of(ledger=with_its_sheet), 5, 2, 0, NOW) == gate


@each(("minutes", "gate"), [(19, Gate(False, "ran a short while ago")), (20, Gate(True, "due"))])
def test_consolidations_are_twenty_minutes_apart(minutes: int, gate: Gate) -> None:
    """The twentieth minute opens the gate."""
    assert may_consolidate(notes_of(ledger=ran("consolidate", minutes)), 5, NOW) == gate


def test_asking_overrides_the_pause_but_nothing_new_stays_nothing() -> None:
    """A forced thought waits for no interval; without a newer message there is nothing to think
    about.
    """
    notes = notes_of(ledger=Ledger(cursor=5, refreshed=5, jobs=ran("consolidate", 1).jobs))
    assert may_consolidate(notes, 6, NOW, forced=True) == Gate(True, "asked for")
    assert may_refresh(notes, 6, 0, 0, NOW, forced=True) == Gate(True, "asked for")
    assert may_consolidate(notes, 5, NOW, forced=True) == Gate(False, "nothing new")
    assert may_refresh(notes, 5, 9, 9, NOW, forced=True) == Gate(False, "nothing new")


def test_a_failure_holds_the_gate_until_its_time() -> None:
    """After a failure the job waits to the second it is due."""
    later = Ledger(
        jobs={"consolidate": Job(due=(NOW + timedelta(seconds=1)).isoformat(), failures=1)}
    )
    at_once = Ledger(jobs={"consolidate": Job(due=NOW.isoformat(), failures=1)})
    assert may_consolidate(notes_of(ledger=later), 5, NOW) == Gate(False, "waiting after a failure")
    assert may_consolidate(notes_of(ledger=at_once), 5, NOW) == Gate(True, "due")


def remembered(entries: int, chars: int = 5_000) -> Notes:
    """So many inferred entries in a file of so many characters."""
    text = "".join(f"- fact {n}\n" for n in range(entries))
    return notes_of(text + "x" * (chars - len(text)), trust=Trust.INFERRED)


def test_a_memory_is_tidied_from_5000_characters_and_once_for_each_text() -> None:
    """One character less is short enough; a text that was looked at is left until it changes."""
    assert may_tidy(remembered(8, 4_999), NOW) == Gate(False, "short enough")
    notes = remembered(8)
    assert may_tidy(notes, NOW) == Gate(True, "due")
    looked = replace(notes.ledger, jobs={"tidy": Job(stamp=notes.memory.etag)})
    assert may_tidy(replace(notes, ledger=looked), NOW) == Gate(False, "unchanged")
    more = remembered(9)
    more = replace(more, ledger=replace(more.ledger, jobs=looked.jobs))
    assert may_tidy(more, NOW) == Gate(True, "due")


def test_a_memory_is_tidied_only_where_eight_entries_may_be_changed() -> None:
    """What people typed is not a model's to change, and to ask about it costs for nothing."""
    assert may_tidy(remembered(7), NOW) == Gate(False, "too few entries it may change")
    typed = replace(remembered(8), ledger=Ledger())
    assert may_tidy(typed, NOW) == Gate(False, "too few entries it may change")


def test_a_memory_is_tidied_at_most_once_a_day() -> None:
    """Who asks by hand need not wait."""
    notes = remembered(8)
    lately = replace(notes, ledger=replace(notes.ledger, jobs=ran("tidy", 24 * 60 - 1).jobs))
    gate = may_tidy(lately, NOW)
    assert (gate, gate.opens) == (
        Gate(False, "ran less than a day ago"),
        NOW + timedelta(minutes=1),
    )
    assert may_tidy(lately, NOW, forced=True)
    assert may_tidy(lately, NOW + timedelta(minutes=1))


def test_a_history_is_folded_when_a_month_is_over_or_it_is_long() -> None:
    """A month that is over is folded if it has more than twenty bullets, one that goes on waits for
    8,000 characters; what was asked about once is left until there is more of it; a long file is
    folded each 7 days.
    """
    over = told(21).replace("2026-03", "2026-01") + told(3)
    short = told(20).replace("2026-03", "2026-01") + told(3)
    assert may_fold(notes_of(history=short), NOW) == Gate(False, "no month to fold")
    assert may_fold(notes_of(history=told(9)), NOW) == Gate(False, "no month to fold")
    assert may_fold(notes_of(history=over), NOW) == Gate(True, "due")
    seen = Job(stamp=stamp_of(due_months(notes_of(history=over), NOW)))
    ledger = Ledger(jobs={"fold": seen})
    assert may_fold(notes_of(history=over, ledger=ledger), NOW) == Gate(False, "unchanged")
    more = told(1, "Wei saw it").replace("2026-03", "2026-01") + over
    assert may_fold(notes_of(history=more, ledger=ledger), NOW) == Gate(True, "due")

    long, lately = told(9) + "- " + "x" * 8_000, ran("fold", 60)
    assert may_fold(notes_of(history=long), NOW) == Gate(True, "due")
    gate = may_fold(notes_of(history=long, ledger=lately), NOW)
    assert gate == Gate(False, "ran less than 7 days ago")
    assert gate.opens == NOW + timedelta(days=7, hours=-1)
    assert may_fold(notes_of(history=long, ledger=lately), NOW, forced=True)


def test_the_calendar_opens_the_gate_of_expiry() -> None:
    """A probation that ends this second is over, one that ends the next is not, and most entries
    have none.
    """

    def on_probation(until: datetime) -> Notes:
        [entry] = notes_of("- tea\n").memory.entries
        records = {entry.id: Record(Trust.INFERRED, probation_until=until.isoformat())}
        return notes_of("- tea\n", ledger=Ledger(records=records))

    assert may_expire(on_probation(NOW), NOW) == Gate(True, "time is over")
    later = NOW + timedelta(seconds=1)
    assert may_expire(on_probation(later), NOW) == Gate(False, "nothing to expire")
    assert may_expire(on_probation(later), NOW).opens == later
    assert may_expire(notes_of(), NOW) == Gate(False, "nothing to expire")


def test_a_closed_gate_says_when_time_alone_will_open_it() -> None:
    """A pause, a failure's wait and a probation end by themselves; what lacks news does not."""
    soon = NOW + timedelta(minutes=7)
    failed = Ledger(jobs={"consolidate": Job(due=soon.isoformat(), failures=3)})
    assert may_refresh(notes_of(ledger=ran("refresh", 3)), 5, 2, 0, NOW).opens == soon
    assert may_consolidate(notes_of(ledger=ran("consolidate", 13)), 5, NOW).opens == soon
    assert may_consolidate(notes_of(ledger=failed), 5, NOW).opens == soon
    assert may_consolidate(notes_of(), 0, NOW).opens is None
    assert may_refresh(notes_of(), 5, 1, 3, NOW).opens is None
    assert may_tidy(notes_of(), NOW).opens is None


def test_the_next_opening_is_the_first_of_the_closed_gates() -> None:
    """An open gate needs no time, and gates without a time have none."""
    soon, later = NOW + timedelta(minutes=1), NOW + timedelta(days=30)
    assert next_opening([Gate(False, "a", later), Gate(False, "b", soon), Gate(False, "c")]) == soon
    assert next_opening([Gate(True, "due", soon), Gate(False, "c")]) is None


def test_every_job_has_its_gate() -> None:
    """In the order they run; the reasons of closed ones are those that operators know to be
    fine.
    """
    gates = due(notes_of(ledger=ran("consolidate", 1)), 5, (1, 0), NOW)
    assert list(gates) == ["consolidate", "refresh", "history", "expire", "tidy", "fold"]
    assert {gate.reason for gate in gates.values()} == {
        "too little new", "ran a short while ago", "no history waits",
        "nothing to expire", "short enough", "no month to fold",
    }  # fmt: skip
    assert all(gate.reason in IDLE for gate in gates.values())


def test_a_wait_after_a_failure_is_no_idle_gate() -> None:
    """Who watches has heard of the failure; who asks by hand is to hear of it."""
    waiting = Job(failures=1, due=(NOW + timedelta(minutes=1)).isoformat())
    gate = may_consolidate(notes_of(ledger=Ledger(jobs={"consolidate": waiting})), 5, NOW)
    assert gate.reason in CLOSED - IDLE


def test_tidying_stops_where_models_took_out_half() -> None:
    """It says so, and when it goes on: a month after the first of these losses."""
    text = "# Memory\n\n## Facts\n\n" + "".join(
        f"- {'very ' * 60}long fact {n}\n" for n in range(20)
    )
    stood = notes_of(text, trust=Trust.INFERRED)
    day = NOW.date()
    lost = tuple(Loss(f"gone{n}", day.isoformat(), "2026-03-01", 1.0, 1) for n in range(18))
    assert may_tidy(replace(stood, ledger=replace(stood.ledger, losses=lost)), NOW)
    one_more = (*lost, Loss("gone18", day.isoformat(), "2026-03-01", 1.0, 1))
    notes = replace(stood, ledger=replace(stood.ledger, losses=one_more))
    gate = may_tidy(notes, NOW)
    assert (bool(gate), gate.reason) == (False, TOOK_HALF)
    assert gate.opens == datetime.combine(day + timedelta(days=31), time(), NOW.tzinfo)
    assert may_tidy(notes, gate.opens)
