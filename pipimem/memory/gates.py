"""Gates: whether an idle job is due, or when it will be, from counters and file sizes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

from pipimem.memory import fold
from pipimem.memory.day_blocks import of_ended_days
from pipimem.memory.expire import next_end, overdue
from pipimem.memory.tidy import changeable
from pipimem.notes import guards
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Job
from pipimem.text.dates.bounds import later

# Below these a model call would find little new, or little to make shorter.
_REFRESH_TURNS, _REFRESH_TOOLS = 2, 4
_REFRESH_EVERY = timedelta(minutes=10)
_CONSOLIDATE_EVERY = timedelta(minutes=20)
_TIDY_CHARS, _TIDY_ENTRIES = 5_000, 8
_TIDY_EVERY = timedelta(hours=24)

AFTER_A_FAILURE = "waiting after a failure"
ELSEWHERE = "another host does it"
# What gates say that have nothing to do: nothing is wrong with these.
IDLE = frozenset(
    (
        ELSEWHERE,
        "nothing new",
        "too little new",
        "short enough",
        "no month to fold",
        "unchanged",
        "nothing to expire",
        "no history waits",
        "the day is not over",
        "ran a short while ago",
        "ran less than a day ago",
        "ran less than 7 days ago",
        "too few entries it may change",
    )
)
# All that closed gates say. A person who asks wants to hear of the failure; who watches heard of it
# when it happened.
CLOSED = IDLE | {AFTER_A_FAILURE, guards.TOOK_HALF}


@dataclass(frozen=True, slots=True)
class Gate:
    """Open or closed, with a stable reason for the changes, `status` and tests.

    `opens` is when time alone will open a closed gate, `None` where only news can.
    """

    open: bool
    reason: str
    opens: datetime | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.open

    @property
    def is_held(self) -> bool:
        """Whether a failure or a guard keeps the job from going on."""
        return self.reason in (AFTER_A_FAILURE, guards.TOOK_HALF)


def may_refresh(
    notes: Notes, last: int, turns: int, tools: int, now: datetime, *, forced: bool = False
) -> Gate:
    """Whether SESSION.md is behind.

    `last` is the newest message; `turns` and `tools` are the messages since the last refresh.
    """
    if last <= notes.ledger.refreshed:
        return Gate(False, "nothing new")
    if forced:
        return Gate(True, "asked for")
    if turns < _REFRESH_TURNS and tools < _REFRESH_TOOLS:
        return Gate(False, "too little new")
    # Where the two stand together, the last consolidation wrote the sheet.
    also = ("consolidate",) if notes.ledger.refreshed == notes.ledger.cursor else ()
    return _rested(notes, "refresh", _REFRESH_EVERY, now, also)


def may_consolidate(notes: Notes, last: int, now: datetime, *, forced: bool = False) -> Gate:
    """Whether there is talk after the cursor that has waited long enough."""
    if last <= notes.ledger.cursor:
        return Gate(False, "nothing new")
    if forced:
        return Gate(True, "asked for")
    return _rested(notes, "consolidate", _CONSOLIDATE_EVERY, now)


def may_close_day(notes: Notes, now: datetime, newest: Callable[[], datetime | None]) -> Gate:
    """Whether bullets of a day that is over wait for their block of HISTORY.md.

    `newest` gives the time of the newest message, asked only where the day seems to be over.
    """
    over, ends = of_ended_days(notes.ledger.pending, now, newest)
    if over:
        return Gate(True, "a day is over")
    return Gate(False, "the day is not over", ends) if ends else Gate(False, "no history waits")


def may_tidy(notes: Notes, now: datetime, *, forced: bool = False) -> Gate:
    """Whether MEMORY.md is long, has entries to tidy, and changed since it was looked at."""
    if len(notes.memory.text) < _TIDY_CHARS:
        return Gate(False, "short enough")
    if len(changeable(notes)) < _TIDY_ENTRIES:
        return Gate(False, "too few entries it may change")
    if _job(notes, "tidy").stamp == notes.memory.etag:
        return Gate(False, "unchanged")
    if guards.is_used_up(notes, now.date()):
        opens = datetime.combine(guards.reopens(notes, now.date()), time(), now.tzinfo)
        return Gate(False, guards.TOOK_HALF, opens)
    pause = timedelta(0) if forced else _TIDY_EVERY
    return _rested(notes, "tidy", pause, now, lately="ran less than a day ago")


def may_fold(notes: Notes, now: datetime, *, forced: bool = False) -> Gate:
    """Whether a month of HISTORY.md is over, or the file long and not folded for 7 days."""
    months = fold.due_months(notes, now, forced=forced)
    if not months and fold.is_long(notes) and fold.rested_at(notes, now) > now:
        return Gate(False, "ran less than 7 days ago", fold.rested_at(notes, now))
    if not months:
        return Gate(False, "no month to fold")
    if _job(notes, "fold").stamp == fold.stamp_of(months):
        return Gate(False, "unchanged")
    return _rested(notes, "fold", timedelta(0), now)


def may_expire(notes: Notes, now: datetime) -> Gate:
    """Whether the time of an entry is over."""
    if next(overdue(notes, now), None) is not None:
        return Gate(True, "time is over")
    return Gate(False, "nothing to expire", next_end(notes, now))


def due(
    notes: Notes,
    last: int,
    said: tuple[int, int],
    now: datetime,
    *,
    newest: Callable[[], datetime | None] = lambda: None,
    today: datetime | None = None,
    forced: bool = False,
) -> dict[str, Gate]:
    """The gate of every idle job, by its name, in the order they run.

    `last` is the newest message's number, `said` how many turns and tool messages came since the
    last refresh (at most, where nobody counted), `newest` gives the time of the newest message,
    `today` is what probations, dates and ages are counted by, `forced` as when a person asks.
    """
    return {
        "consolidate": may_consolidate(notes, last, now, forced=forced),
        "refresh": may_refresh(notes, last, *said, now, forced=forced),
        "history": may_close_day(notes, now, newest),
        "expire": may_expire(notes, today or now),
        "tidy": may_tidy(notes, now, forced=forced),
        "fold": may_fold(notes, now, forced=forced),
    }


def next_opening(gates: Iterable[Gate]) -> datetime | None:
    """When the first of the closed gates will open by itself, `None` where none will."""
    return min((gate.opens for gate in gates if not gate and gate.opens), default=None)


def _rested(
    notes: Notes,
    name: str,
    pause: timedelta,
    now: datetime,
    also: tuple[str, ...] = (),
    lately: str = "ran a short while ago",
) -> Gate:
    """Whether a job may run again: not while a failure waits, nor soon after it or `also` ran."""
    job = _job(notes, name)
    due_at = datetime.fromisoformat(job.due) if job.due else now
    if now < due_at:
        return Gate(False, AFTER_A_FAILURE, due_at)
    runs = [_job(notes, each).ran for each in (name, *also)]
    rested_at = max((later(datetime.fromisoformat(ran), pause) for ran in runs if ran), default=now)
    if now < rested_at:
        return Gate(False, lately, rested_at)
    return Gate(True, "due")


def _job(notes: Notes, name: str) -> Job:
    return notes.ledger.jobs.get(name, Job())
