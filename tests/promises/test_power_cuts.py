"""Promise 2: the states that a power cut may leave; what was acknowledged is in each of them."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable

import pytest

from tests.promises import libc_shim
from tests.promises.journeys import JOURNEYS, Journey
from tests.promises.power_cuts import Named, Recording, Synced, Told
from tests.promises.trials import Stages

_SHORT, _LONG = 2, 300


def is_behind_commit(recording: Recording, end: int) -> bool:
    """Whether a step syncs the removal of a rollback journal, which ends a transaction."""
    if not isinstance(recording.steps[end - 1], Synced):
        return False
    step = recording.steps[end - 2]
    return isinstance(step, Named) and any(
        name == "state.db-journal" and file is None for (_, name), file in step.names
    )


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_what_was_acknowledged_survives_a_power_cut(
    stages: Stages, journey: Journey, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Whatever of the names and bytes that were not synced is missing, cut or zero.

    `PIPIMEM_TRIAL="forget cut 37" … --long` builds one state again.
    """
    stage, wrong = stages.of(journey), []
    recording = Recording(stage.before, stage.root, libc_shim.read_log(stage.log))
    chance = random.Random(journey.name)
    cuts = recording.cuts(chance)
    numbers = chance.sample(range(len(cuts)), min(len(cuts), _LONG if is_long else _SHORT))
    # The most that may be lost, right behind an acknowledgement.
    severe = [
        number
        for number, cut in enumerate(cuts)
        if cut.how == "no name, bytes none" and isinstance(recording.steps[cut.end - 1], Told)
    ]
    # And right behind a transaction, before its texts are in place: a name alone may be missing.
    committed = [
        number
        for number, cut in enumerate(cuts)
        if cut.how.startswith("not the name") and is_behind_commit(recording, cut.end)
    ]
    numbers += chance.sample(committed, min(len(committed), 30 if is_long else 2))
    for number in sorted({*numbers, *(severe if is_long else severe[-2:])}):
        name, cut = f"{journey.name} cut {number}", cuts[number]
        if os.environ.get("PIPIMEM_TRIAL", name) != name:
            continue
        disk, said = recording.after(cut)
        shutil.rmtree(stage.root)
        disk.lay_out(stage.root)
        count_trials()
        wrong += [
            f"PIPIMEM_TRIAL='{name}' (of {len(cuts)}; {cut.how}; behind step {cut.end}, "
            f"{str(recording.steps[cut.end - 1])[:200]}): {text}"
            for text in stage.inspect(said)
        ]
    assert not wrong, "\n".join(wrong)
