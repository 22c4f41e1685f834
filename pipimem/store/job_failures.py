"""Failures of background jobs, kept so that other processes can show them."""

from __future__ import annotations

from msgspec import Struct

from pipimem.state import schedule
from pipimem.state.schedule import Problem
from pipimem.store.workspace_state import WorkspaceState


class Problems(Struct, frozen=True):
    """The jobs of a workspace that fail. The methods raise `StoreError`."""

    state: WorkspaceState

    def keep(self, problem: Problem) -> None:
        """Replace the problem of a job."""
        with self.state.writing() as rows:
            schedule.put_problem(rows, problem)

    def remove(self, job: str, channel: str) -> None:
        """Remove the problem of a job, where there is one."""
        with self.state.writing() as rows:
            schedule.remove_problems(rows, [(job, channel)])

    def all(self) -> list[Problem]:
        """Return the problems, the newest first."""
        with self.state.reading() as rows:
            return [] if rows is None else schedule.problems(rows)
