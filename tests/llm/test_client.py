"""A question on its way through models: who is asked next, for how long, and who is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import pytest
from msgspec.structs import replace
from pipimem.errors import AnswerRefused, BudgetSpent, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.llm.client import RetryingClient
from pipimem.llm.request import (
    Completion,
    ContextOverflow,
    ModelBusy,
    ModelRequest,
    ParameterRefused,
    PromptMessage,
)
from pipimem.notes.usage import Usage

from tests.sidecar.conftest import unlimited

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]
NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
QUESTION = ModelRequest(
    "", (PromptMessage("user", "what?"),), 100, 1000, None, "room", "consolidate", "c-1"
)


@dataclass
class Played:
    """A door that answers from a list, and a clock that only its answers and waits move."""

    answers: list[Completion | SidecarError]
    takes: float = 0.0
    now: float = 0.0
    asked: list[ModelRequest] = field(default_factory=list)
    used: list[Usage] = field(default_factory=list)

    async def complete(self, ask: ModelRequest) -> Completion:
        self.asked.append(ask)
        self.now += self.takes
        answer = self.answers.pop(0)
        if isinstance(answer, SidecarError):
            raise answer
        return answer

    async def answered(self, models: Sequence[str] = ("a", "b"), *, shrinks: bool = False) -> str:
        clock = lambda: self.now  # noqa: E731
        begin = unlimited(self.used.append, lambda: NOW, clock)
        asking = RetryingClient(
            models, self, begin, clock, concurrency=1, chance=lambda: -0.5
        )  # no pause
        return await asking.ask(QUESTION, _good, shrinks=shrinks)

    @property
    def models(self) -> list[str]:
        return [ask.model for ask in self.asked]


def _good(text: str) -> str:
    if text != "good":
        raise AnswerRefused(f"{text} is not good")
    return text


GOOD = Completion("good")


@pytest.mark.parametrize(
    ("answers", "models"),
    [
        ([ModelUnavailable("401"), GOOD], ["a", "b"]),
        ([ModelTimeout("late"), GOOD], ["a", "b"]),
        ([ModelBusy("1"), ModelBusy("2"), ModelBusy("3"), GOOD], ["a", "a", "a", "b"]),
        ([ModelBusy("full", 99), GOOD], ["a", "b"]),
        ([ParameterRefused("x"), ParameterRefused("y"), GOOD], ["a", "a", "a"]),
        ([Completion("bad"), GOOD], ["a", "a"]),
        ([Completion("bad"), Completion("worse"), GOOD], ["a", "a", "b"]),
        ([ContextOverflow("long"), GOOD], ["a", "b"]),
    ],
    ids=[
        "refused key",
        "late",
        "busy",
        "busy for long",
        "asked otherwise",
        "bad once",
        "bad twice",
        "too long",
    ],
)
async def test_who_is_asked_next(
    answers: list[Completion | SidecarError], models: list[str]
) -> None:
    """The next model steps in when one cannot, is too late, or gave two bad answers."""
    played = Played(list(answers))
    assert await played.answered() == "good"
    assert played.models == models
    assert len(played.used) == len(played.asked)


async def test_a_window_that_can_shrink_goes_back_at_once() -> None:
    """Half of it fits the first model; another one with the same limit would only refuse it too."""
    played = Played([ContextOverflow("long")])
    with pytest.raises(ContextOverflow):
        await played.answered(shrinks=True)
    assert played.models == ["a"]


async def test_a_spent_budget_ends_it() -> None:
    """No other model is asked for money that is not there."""
    played = Played([BudgetSpent("spent"), GOOD])
    with pytest.raises(BudgetSpent):
        await played.answered()
    assert played.models == ["a"]


async def test_the_last_failure_is_told() -> None:
    """When no model can, what the last one said is what helps."""
    with pytest.raises(ModelTimeout, match="b is late"):
        await Played([ModelUnavailable("a has no key"), ModelTimeout("b is late")]).answered()


async def test_the_first_model_leaves_time_for_the_second() -> None:
    """Of 97 seconds the first model and all its tries have 60 %, the last one all that is left."""
    played = Played([ModelBusy("1"), ModelBusy("2"), GOOD], takes=30)
    await played.answered()
    assert played.models == ["a", "a", "b"]
    assert [round(ask.timeout, 1) for ask in played.asked] == [58.2, 28.2, 37.0]


async def test_nobody_is_asked_after_the_deadline() -> None:
    """What took all the time ends the question."""
    played = Played([ModelBusy("1"), GOOD], takes=98)
    with pytest.raises(ModelBusy):
        await played.answered()
    assert played.models == ["a"]


async def test_a_refused_answer_without_time_left_is_told_as_it_is() -> None:
    """Not as a timeout: the answer came."""
    with pytest.raises(AnswerRefused, match="bad is not good"):
        await Played([Completion("bad")], takes=98).answered(models=["a"])


async def test_thinking_that_took_all_the_room_gets_twice_the_room() -> None:
    """Only then: a model that runs on and on shall not run on for longer."""
    played = Played([Completion("", finish_reason="length"), GOOD])
    await played.answered()
    assert [ask.max_tokens for ask in played.asked] == [1000, 2000]
    played = Played([Completion("good", finish_reason="length"), GOOD])
    await played.answered()
    assert [ask.max_tokens for ask in played.asked] == [1000, 1000]


async def test_a_model_that_refuses_everything_is_left() -> None:
    """However it wants to be asked: nine ways are enough."""
    played = Played([ParameterRefused("no")] * 20)
    with pytest.raises(ParameterRefused):
        await played.answered(models=["a"])
    assert len(played.asked) == 9


@pytest.mark.parametrize(
    ("tries", "asked_for", "least", "most"),
    [(1, None, 0.25, 0.75), (2, None, 0.5, 1.5), (1, 7, 7, 7.5), (2, 0, 0.5, 1.5)],
)
async def test_nobody_comes_back_at_the_same_moment(
    tries: int, asked_for: float, least: float, most: float
) -> None:
    """Pauses double and are spread; a provider's own is kept and spread behind it."""
    for chance, wait in ((0.0, least), (1.0, most)):
        asking = RetryingClient(
            ["a"],
            Played([]),
            unlimited(print, lambda: NOW),
            lambda: 0.0,
            chance=lambda at=chance: at,
        )
        assert asking._wait(tries, ModelBusy("full", asked_for)) == wait


async def test_waiting_for_a_place_counts() -> None:
    """Behind somebody who holds the only place a question ends by its own deadline."""
    held = anyio.Event()

    class Holding(Played):
        async def complete(self, ask: ModelRequest) -> Completion:
            await held.wait()
            return GOOD

    played = Holding([])
    begin = unlimited(played.used.append, lambda: NOW)
    asking = RetryingClient(
        ["a"], played, begin, anyio.current_time, concurrency=1, chance=lambda: 0.0
    )
    short = replace(QUESTION, correlation="c-2", timeout=0.2)

    async def first(done: Callable[[], None]) -> None:
        await asking.ask(QUESTION, _good)
        done()

    finished: list[bool] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first, lambda: finished.append(True))
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ModelTimeout, match="concurrency"):
            await asking.ask(short, _good)
        held.set()
    assert finished == [True]
    assert [usage.correlation for usage in played.used] == ["c-1"]


async def test_the_ledger_quotes_nobody() -> None:
    """Neither a provider's words, which quote keys, nor an answer: a forgetting looks elsewhere."""
    key = "sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN"
    played = Played(
        [
            ModelUnavailable("m refused the key (401)", f"wrong key {key}"),
            Completion(key, "stop"),
            Completion("good", "stop"),
        ]
    )
    assert await played.answered() == "good"
    assert [usage.reason for usage in played.used] == [
        "m refused the key (401)",
        "the answer was not accepted",
        "",
    ]
