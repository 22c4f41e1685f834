"""When channels are next due, and which background jobs fail, as rows of a workspace's state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct

from pipimem.state.rows import Rows
from pipimem.text import json_lines
from pipimem.text.json_codec import decoded, encoded

TABLES = (
    # `due` is in seconds since 1970. The folder of a channel is its name below `channels/`.
    "create table visit (folder blob primary key, due double precision, mark text not null)",
    "create table failure (job text not null, channel blob not null, fields blob not null, "
    "primary key (job, channel))",
)


class ScheduledVisit(Struct, frozen=True):
    """A channel's next due time, `None` for none by the clock alone, and its files' mark then.

    With an empty mark work on it had begun and did not end.
    """

    due: datetime | None
    mark: str


class Problem(Struct, frozen=True):
    """A background job that fails: `times` in a row, `first` and `last` (ISO 8601).

    `channel` is the name of its folder, empty for a job of the whole workspace. `what` never quotes
    a text of the channel: a forgetting does not look here.
    """

    job: str
    channel: str
    what: str
    first: str
    last: str
    times: int = 1

    def sentence(self, channel: str) -> str:
        """Return the failure in a sentence; `channel` is the id to show."""
        name = f"{channel}: {self.job}" if channel else self.job
        often = f", {self.times} times since {self.first}" if self.times > 1 else ""
        return (
            f"{name} failed at {self.last}{often}: {self.what}; the log has the details. "
            "It is tried again."
        )


def visits(rows: Rows) -> dict[str, ScheduledVisit]:
    """Return the visits by the folders of their channels."""
    found = rows.all("select folder, due, mark from visit")
    return {_text(folder): ScheduledVisit(_time(due), mark) for folder, due, mark in found}


def put_visits(rows: Rows, changed: Mapping[str, ScheduledVisit | None]) -> None:
    """Replace the visits of some channels; `None` removes a channel that is gone."""
    rows.run_many("delete from visit where folder = ?", [(_blob(folder),) for folder in changed])
    rows.run_many(
        "insert into visit (folder, due, mark) values (?, ?, ?)",
        [
            (_blob(folder), visit.due.timestamp() if visit.due else None, visit.mark)
            for folder, visit in changed.items()
            if visit is not None
        ],
    )


def problems(rows: Rows) -> list[Problem]:
    """Return the jobs that fail, the newest failure first."""
    found = [
        decoded(Problem, json_lines.value(bytes(fields)))
        for (fields,) in rows.all("select fields from failure")
    ]
    return sorted(found, key=lambda problem: problem.last, reverse=True)


def put_problem(rows: Rows, problem: Problem) -> None:
    """Replace the problem of a job."""
    remove_problems(rows, [(problem.job, problem.channel)])
    rows.run(
        "insert into failure (job, channel, fields) values (?, ?, ?)",
        problem.job,
        _blob(problem.channel),
        json_lines.line(encoded(problem)),
    )


def remove_problems(rows: Rows, jobs: Iterable[tuple[str, str]]) -> None:
    """Remove the problems of some jobs, each named by its job and the folder of its channel."""
    rows.run_many(
        "delete from failure where job = ? and channel = ?",
        [(job, _blob(channel)) for job, channel in jobs],
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds).astimezone()


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
