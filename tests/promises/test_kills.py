"""Promises 1, 2, 3 and 7: `kill -9` at any call of the C library, in every journey.

Afterwards a new process finds each note whole and as one of the commits left it, all that was
acknowledged or typed, nothing twice, and what was being forgotten wholly there or in no byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.promises.journeys import BY_NAME, JOURNEYS, Journey, memory_of
from tests.promises.libc_shim import kill_after, kill_before, pause_at
from tests.promises.trials import FAULTS, Stage, Stages, Trial, chosen, spread

Count = Callable[..., None]
_SHORT = 4
_TYPED = "typed in the file, giraffe"


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_a_kill_at_any_call_loses_nothing(
    stages: Stages, journey: Journey, is_long: bool, count_trials: Count
) -> None:
    """At each write, sync, rename, exchange, unlink and truncate, before, within and after."""
    stage = stages.of(journey)
    trials, wrong = stage.trials(FAULTS), []
    for trial in chosen(trials, trials if is_long else spread(trials, _SHORT)):
        stage.lay_out()
        ended = stage.perform(FAULTS[trial.fault](trial.number))
        count_trials()
        found = stage.inspect(ended.said)
        if ended.how not in ("killed", "done"):
            found.append(f"it {ended.how}: {ended.trace}")
        wrong += stage.report(trial, found)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "name", ["compaction", "hand-edit", "forget", "maintain", "import-foreign"]
)
@pytest.mark.parametrize("mending", ["go_on", "mend"])
def test_a_kill_while_a_kill_is_mended_loses_nothing(
    stages: Stages, name: str, mending: str, is_long: bool, count_trials: Count
) -> None:
    """A start that puts in order what a kill left, or `doctor --fix`, is killed in its turn."""
    stage, wrong = stages.of(BY_NAME[name]), []
    trials = [trial for trial in stage.trials(FAULTS) if trial.fault == "kill_after"]
    for trial in chosen(trials, spread(trials, 40 if is_long else 2)):
        chance = random.Random(str(trial))
        for _ in range(6 if is_long else 1):
            stage.lay_out()
            first = stage.perform(kill_after(trial.number))
            second_at = chance.randint(1, 40)
            second = stage.perform(kill_before(second_at), f"aftermath:{mending}")
            count_trials()
            found = stage.inspect([*first.said, *second.said], is_last=False)
            if second.how not in ("killed", "done"):
                found.append(f"it {second.how}: {second.trace}")
            wrong += stage.report(
                trial, [f"and {mending} killed at {second_at}: {f}" for f in found]
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["remember", "compaction", "old-buffer"])
def test_an_archive_made_after_a_kill_has_what_the_workspace_has(
    stages: Stages, name: str, is_long: bool, count_trials: Count
) -> None:
    """What a killed commit left beside the notes is in the archive, as text of the notes."""
    stage, wrong = stages.of(BY_NAME[name]), []
    trials = [trial for trial in stage.trials(FAULTS) if trial.fault == "kill_after"]
    for trial in chosen(trials, trials if is_long else spread(trials, 2)):
        stage.lay_out()
        ended = stage.perform(kill_after(trial.number))
        count_trials()
        packed = stage.perform(function="aftermath:pack").raise_unless_done()
        found = [str(text) for (text,) in packed.of("wrong")]
        wrong += stage.report(trial, [*found, *stage.inspect(ended.said, is_last=False)])
    assert not wrong, "\n".join(wrong)


# ── an editor that saves just before the kill ─────────────────────────────────────────────────────


def save_in_place(path: Path, text: str) -> None:
    """Save a file as nano and notepad do."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)


def save_by_rename(path: Path, text: str) -> None:
    """Save a file as vim and VS Code do."""
    beside = path.with_name("MEMORY.md~new")
    save_in_place(beside, text)
    beside.replace(path)


SAVES = {"in_place": save_in_place, "by_rename": save_by_rename}


@pytest.mark.parametrize("name", ["turns", "remember", "compaction", "undo", "maintain"])
@pytest.mark.parametrize("save", SAVES)
def test_what_an_editor_saves_before_a_kill_survives(
    stages: Stages, name: str, save: str, is_long: bool, count_trials: Count
) -> None:
    """A person opens and saves MEMORY.md between two calls; a kill follows soon."""
    stage, wrong = stages.of(BY_NAME[name]), []
    trials = [Trial(name, f"save_{save}", call.number) for call in stage.calls]
    for trial in chosen(trials, trials if is_long else spread(trials, 2)):
        for later in range(5) if is_long else [random.Random(str(trial)).randrange(5)]:
            stage.lay_out()
            said = _killed_after_a_save(stage, trial.number, later, SAVES[save])
            count_trials()
            found = stage.inspect([*said, ["typed", _TYPED]], is_last=False)
            wrong += stage.report(trial, [f"killed {later} calls later: {text}" for text in found])
    assert not wrong, "\n".join(wrong)


def _killed_after_a_save(
    stage: Stage, number: int, later: int, save: Callable[[Path, str], None]
) -> list[tuple[object, ...]]:
    """Return what a journey said that paused for a save and was killed some calls later."""
    child = stage.start([*pause_at(number), *kill_after(number + later)])
    assert child.paused(), "the journey ended before its pause"
    path = memory_of(stage.root)
    save(path, path.read_text().rstrip("\n") + f"\n- {_TYPED}\n")
    child.go_on()
    return list(child.wait().said)
