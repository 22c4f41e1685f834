"""The rules stand in when the budget is spent, and the name says who thought."""

from __future__ import annotations

import pytest
from pipimem.errors import AnswerRefused, BudgetSpent, SidecarError
from pipimem.runtime.assistants import Fallback
from pipimem.sidecar.rules import Offline
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Consolidate, Consolidated, Rerank, Reranked

from tests.sidecar.conftest import NOW, answered, said

pytestmark = pytest.mark.anyio
CALL = Call("room", "c", 10.0)


@pytest.fixture
def task() -> Consolidate:
    """One message and the bot's answer."""
    return Consolidate(NOW, ("Dana",), (), (said(1, "We ship on Friday."), answered(2, "Noted.")))


def pair(*answers: Consolidated | Exception) -> Fallback:
    return Fallback(Scripted(answers, paid=True), Offline())


async def test_a_spent_budget_is_thought_through_by_the_rules(task: Consolidate) -> None:
    """The thought is done all the same; the next one asks the model first again."""
    both = pair(BudgetSpent("gone"), Consolidated(title="by the model"))
    assert both.name == "scripted"
    first = await both.answer(task, CALL)
    assert (both.name, first.history != ()) == ("offline", True)
    assert (await both.answer(task, CALL)).title == "by the model"
    assert both.name == "scripted"


@pytest.mark.parametrize("error", [AnswerRefused("cut"), SidecarError("down")])
async def test_other_failures_are_the_models(task: Consolidate, error: Exception) -> None:
    """They pass, and are tried again; the rules know less and must not decide then."""
    both = pair(error)
    with pytest.raises(type(error)):
        await both.answer(task, CALL)
    assert both.name == "scripted"


async def test_a_rerank_is_the_models_alone() -> None:
    """It may run beside a thought, and who reranked last must not sign for it; without a model
    the local order stays.
    """
    both = Fallback(Scripted([BudgetSpent("gone"), Reranked((1,))], paid=True), Offline())
    with pytest.raises(BudgetSpent):
        await both.answer(Rerank("q", ("a", "b")), CALL)
    assert (both.name, (await both.answer(Rerank("q", ("a", "b")), CALL)).order) == (
        "scripted",
        (1,),
    )
