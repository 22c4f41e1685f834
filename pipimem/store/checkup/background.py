"""Background jobs that fail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pipimem.store.checkup.finding import Finding, wrong
from pipimem.store.problems import Problem, Problems
from pipimem.store.workspace import WorkspaceStore


def background_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """One for each job whose last run failed. Raises `StoreError`."""
    problems = workspace.problems
    for problem in problems.all():
        folder = workspace.channels_folder / problem.channel
        if folder.is_dir():
            yield wrong(folder if problem.channel else workspace.root, problem.told(), _Dismissal(problems, problem))


class _Dismissal:
    """The mending: the note of the failure is removed; a job that fails again is noted again."""

    def __init__(self, problems: Problems, problem: Problem) -> None:
        self._problems, self._problem = problems, problem

    def __call__(self, _: datetime) -> str:
        self._problems.remove(self._problem.job, self._problem.channel)
        return f"the note that {self._problem.job} failed was removed; should it fail again, it is back"
