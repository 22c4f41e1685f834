"""Promises 1, 2, 3 and 7: `kill -9` at any call of the C library, in every journey.

Afterwards a new process finds each note whole and as one of the commits left it, all that was
acknowledged or typed, nothing twice, and what was being forgotten wholly there or in no byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.promises.journeys import JOURNEYS, Journey
from tests.promises.libc_shim import require_shim
from tests.promises.trials import FAULTS, MODULES, Stage, chosen, spread
from tests.promises.zygote import Zygote, zygote

_SHORT = 8


@pytest.fixture(scope="module")
def process() -> Iterator[Zygote]:
    """The process that forks the trials."""
    require_shim()
    with zygote(*MODULES) as started:
        yield started


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_a_kill_at_any_call_loses_nothing(
    process: Zygote,
    tmp_path: Path,
    journey: Journey,
    is_long: bool,
    count_trials: Callable[..., None],
) -> None:
    """At each write, sync, rename, exchange, unlink and truncate, before, within and after."""
    stage = Stage(process, tmp_path / "stage", journey)
    trials = stage.all_kills()
    wrong = []
    for trial in chosen(trials if is_long else spread(trials, _SHORT)):
        stage.lay_out()
        ended = stage.perform(FAULTS[trial.fault](trial.number))
        count_trials()
        found = stage.inspect(ended.said)
        if ended.how not in ("killed", "done"):
            found.append(f"it {ended.how}: {ended.trace}")
        wrong += stage.report(trial, found)
    assert not wrong, "\n".join(wrong)
