"""The scripted sidecar: what it is told to answer, it answers."""

from __future__ import annotations

import pytest
from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Consolidate, Consolidated, Refresh, Refreshed

from tests.sidecar.conftest import NOW, answer

pytestmark = pytest.mark.anyio
CALL = Call("room", "c-1", 20)


async def test_a_queue_serves_every_task_in_order(task: Consolidate) -> None:
    """Values, strings and exceptions, one after the other; what was asked is on record."""
    scripted = Scripted([Consolidated(title="a"), answer(), ModelTimeout("late"), answer()[:-9]])
    assert (await scripted.answer(task, CALL)).title == "a"
    assert (await scripted.answer(task, CALL)).title == "Release moved"
    with pytest.raises(ModelTimeout):
        await scripted.answer(task, CALL)
    with pytest.raises(AnswerRefused):
        await scripted.answer(task, CALL)
    assert scripted.asked == [task] * 4
    assert scripted.calls == [CALL] * 4


async def test_a_queue_by_task(task: Consolidate) -> None:
    """Each task has its own answers; where none is left, the model is unavailable."""
    scripted = Scripted({"refresh": [Refreshed({"Worklog": ("x",)})]}, paid=True)
    refreshed = await scripted.answer(Refresh(NOW, "", task.window), CALL)
    assert refreshed.sections == {"Worklog": ("x",)}
    with pytest.raises(ModelUnavailable, match="no answer left for consolidate"):
        await scripted.answer(task, CALL)
    assert (scripted.name, scripted.paid) == ("scripted", True)


async def test_a_value_for_another_task_is_a_mistake_of_the_test(task: Consolidate) -> None:
    """A Refreshed is no answer to Consolidate."""
    with pytest.raises(TypeError, match="consolidate wants Consolidated"):
        await Scripted([Refreshed()]).answer(task, CALL)
