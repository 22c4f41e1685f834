"""Background jobs that fail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from pipimem.store.checkup.finding import Finding, wrong
from pipimem.store.problems import Problem, Problems
from pipimem.store.workspace import WorkspaceStore


def background_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """One for each job whose last run failed. Raises `StoreError`."""
    problems = workspace.problems
    for problem in problems.all():
        folder = workspace.channels_folder / problem.channel
        if folder.is_dir():
            where = folder if problem.channel else workspace.root
            yield wrong(where, problem.told(), partial(_dismissed, problems, problem))


def _dismissed(problems: Problems, problem: Problem, now: datetime) -> str:  # noqa: ARG001 - a mending's signature
    problems.remove(problem.job, problem.channel)
    return f"the note that {problem.job} failed was removed; should it fail again, it is back"
