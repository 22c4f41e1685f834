"""Promise 2: a disk that is full or broken, at any call, in every journey.

A call of the public API raises an error of ours or succeeds. Nothing acknowledged or typed is lost,
and once the disk is well everything works, in the same process and in a new one.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial

import pytest

from tests.promises.journeys import JOURNEYS, Journey
from tests.promises.libc_shim import fail_from, fail_once
from tests.promises.trials import Stages, chosen, spread

_SHORT = 3
ERRORS = {
    "full_once": partial(fail_once, error=errno.ENOSPC),
    "full_from": partial(fail_from, error=errno.ENOSPC),
    "broken_once": partial(fail_once, error=errno.EIO),
    "broken_from": partial(fail_from, error=errno.EIO),
}


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_a_bad_disk_loses_nothing_and_is_overcome(
    stages: Stages, journey: Journey, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """`ENOSPC` and `EIO` at each call, that one alone or all from there on."""
    stage = stages.of(journey)
    trials, wrong = stage.trials(ERRORS), []
    for trial in chosen(trials, trials if is_long else spread(trials, _SHORT)):
        stage.lay_out()
        ended = stage.perform(ERRORS[trial.fault](trial.number), "aftermath:perform_on_bad_disk")
        count_trials()
        found = stage.inspect(ended.said, is_last=False)
        if ended.how != "done":
            found.append(f"it {ended.how}: {ended.trace}")
        wrong += stage.report(trial, found)
    assert not wrong, "\n".join(wrong)
