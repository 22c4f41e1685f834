"""One stretch through the real runtime: transcript, assistant, bar and commit, in a workspace of
its own.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from pipimem import Pipimem, Settings
from pipimem.errors import SidecarError
from pipimem.notes.usage import Usage
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.replay import EventTime, recorded
from pipimem.settings import MaintenanceSettings
from pipimem.store.workspace import WorkspaceStore

from benchmarks.consolidation.labels import Stretch


@dataclass(frozen=True, slots=True)
class Outcome:
    """What memory holds after one stretch, what the bar left out, and what it cost."""

    entries: list[str]
    history: list[str]
    title: str
    valid: int
    attempts: int
    tokens_in: int
    tokens_out: int
    seconds: float
    problem: str = ""


def run(
    stretch: Stretch, evals: Path, root: Path, model: str, timeout: float, prompts: Path | None
) -> Outcome:
    """Consolidate a stretch in a new workspace under `root`."""
    workspace = root / stretch.name
    WorkspaceStore.init(workspace)
    if prompts is not None:
        shutil.copytree(prompts, workspace / "prompts", dirs_exist_ok=True)
    transcript = root / f"{stretch.name}.jsonl"
    transcript.write_text("\n".join(stretch.lines(evals)), encoding="utf-8")
    return anyio.run(_run, workspace, transcript, model, timeout)


async def _run(workspace: Path, transcript: Path, model: str, timeout: float) -> Outcome:
    when, messages = EventTime(), recorded(transcript)
    settings = replace(Settings(), maintenance=MaintenanceSettings(enabled=False))
    # Not entered: leaving it would also refresh SESSION.md, which costs a slow model minutes and is
    # not asked here.
    pipimem = Pipimem(workspace, model, settings=settings, clock=when.clock())
    channel = await pipimem.channel("stretch", kind="group")
    for message in messages:
        when.seen(message.time)
    await channel.talk.append(messages)
    started, problem = time.perf_counter(), ""
    try:
        await channel._jobs.consolidate(timeout, boundary=True)  # noqa: SLF001 - without its gate
    except SidecarError as refused:
        problem = str(refused)
    seconds = time.perf_counter() - started
    notes = await upkeep_of(channel).notes()
    calls = [usage for usage in pipimem.store.usages() if usage.task == "consolidate"]
    upkeep_of(channel).store.close()
    valid, attempts = _validity(calls, paid=pipimem.assistant.paid, failed=bool(problem))
    history = [entry.text for entry in notes.history.entries if entry.bullet]
    title = next((line for line in notes.history.text.splitlines() if line.startswith("## ")), "")
    return Outcome(
        [entry.text for entry in notes.memory.entries if entry.bullet],
        history,
        title,
        valid,
        attempts,
        sum(usage.tokens_in for usage in calls),
        sum(usage.tokens_out for usage in calls),
        seconds,
        problem,
    )


def _validity(calls: list[Usage], *, paid: bool, failed: bool) -> tuple[int, int]:
    """Valid answers and attempts; rules answer once.

    An answer that came but was refused further on is not valid.
    """
    if not paid:
        return int(not failed), 1
    answered = sum(usage.outcome == "ok" for usage in calls)
    return max(0, answered - int(failed)), len(calls)
