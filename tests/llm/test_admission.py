"""Admission by budgets: what is admitted, what is counted, and what is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from pathlib import Path

import anyio
import pytest
from msgspec import structs
from pipimem.clock import Clock
from pipimem.errors import (
    AnswerRefused,
    BudgetSpent,
    ModelTimeout,
    ModelUnavailable,
    NoProgress,
    StoreError,
)
from pipimem.llm.admission import Admission, prompt_tokens
from pipimem.llm.request import (
    Completion,
    KeyRefused,
    ModelBusy,
    ModelRequest,
    NeverSent,
    ParameterRefused,
    Price,
    PromptMessage,
)
from pipimem.notes.usage import Reservation, Usage
from pipimem.observer import Operation
from pipimem.settings import BudgetSettings, Limit
from pipimem.state.usage import OpenLedger
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState

pytestmark = pytest.mark.anyio

MORNING = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
PRICE = Price(prompt=1e-4, answer=1e-3)
PROMPT = "What did Dana say about the release? " * 250


def limits(
    tokens: float = inf, cost: float = inf, own_tokens: float = inf, own_cost: float = inf
) -> BudgetSettings:
    return BudgetSettings(Limit(tokens), Limit(cost), Limit(own_tokens), Limit(own_cost))


@dataclass
class Bank:
    """A client that answers from a list, or raises, and the admission before it."""

    folder: Path
    settings: BudgetSettings
    price: Price | None = None
    now: datetime = MORNING
    answers: list[Completion | BaseException] = field(default_factory=list)
    default: Completion | BaseException = field(
        default_factory=lambda: Completion("ok", "stop", 100, 10)
    )
    sent: list[ModelRequest] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    wait: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        self.usage_store = UsageStore(WorkspaceState(self.folder))
        clock = Clock(wall=lambda: self.now)
        self.admission = Admission(self.usage_store, self.settings, clock, self.warned.append)
        self.count = 0

    async def priced(self, model: str) -> Price | None:
        return self.price

    async def complete(self, ask: ModelRequest) -> Completion:
        self.sent.append(ask)
        await anyio.sleep(0)
        if self.wait:
            await self.wait()  # type: ignore[misc]
        answer = self.answers.pop(0) if self.answers else self.default
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def ask(
        self,
        prompt: str = PROMPT,
        *,
        channel: str = "room",
        task: str = "chat",
        model: str = "openai/m",
        max_tokens: int = 4000,
        refused: bool = False,
    ) -> Completion | None:
        """One attempt as the assistant makes it."""
        self.count += 1
        ask = ModelRequest(
            model,
            (PromptMessage("user", prompt),),
            30.0,
            max_tokens,
            None,
            channel,
            task,
            f"c{self.count}",
        )
        with suppress(AnswerRefused):
            async with await self.admission.admit(ask, self.priced) as attempt:
                attempt.completion = await self.complete(attempt.request)
                if refused:
                    raise AnswerRefused("not good enough")
        return attempt.completion

    @property
    def lines(self) -> list[Usage]:
        return self.usage_store.usages(MORNING - timedelta(days=40))


SIZE = prompt_tokens(ModelRequest("openai/m", (PromptMessage("user", PROMPT),), 30.0, 4000))


async def test_what_the_provider_bills_is_counted_and_the_hold_is_gone(tmp_path: Path) -> None:
    """Told counts stand as they were told, with nothing estimated."""
    bank = Bank(tmp_path, limits(100_000))
    bank.default = Completion("ok", "stop", 123, 45, 6, 0.5)
    await bank.ask()
    (line,) = bank.lines
    assert (line.tokens_in, line.tokens_out, line.tokens_cached, line.cost) == (123, 45, 6, 0.5)
    assert (line.estimated_in, line.estimated_out, line.estimated_cost, line.outcome) == (
        0,
        0,
        None,
        "ok",
    )
    assert bank.usage_store.held() == {}


async def test_at_the_end_of_a_budget_answers_are_cut_and_then_refused(tmp_path: Path) -> None:
    """The last request may take what is left; the next one is not sent, and is no line of the
    ledger.
    """
    bank = Bank(tmp_path, limits(SIZE + 2500))
    bank.default = Completion("ok", "stop", SIZE, 1000)
    await bank.ask()
    assert bank.sent[0].max_tokens == 2500
    with pytest.raises(BudgetSpent, match=r"the workspace: .* has no room"):
        await bank.ask()
    assert (len(bank.sent), len(bank.lines)) == (1, 1)


async def test_a_channel_stops_at_its_own_budget(tmp_path: Path) -> None:
    """The others go on."""
    bank = Bank(tmp_path, limits(1_000_000, inf, SIZE + 2000))
    bank.default = Completion("ok", "stop", SIZE, 1500)
    await bank.ask(channel="room")
    with pytest.raises(BudgetSpent, match="channel room"):
        await bank.ask(channel="room")
    await bank.ask(channel="hall")
    assert [line.channel for line in bank.lines] == ["room", "hall"]


@pytest.mark.both_loops
async def test_requests_under_way_are_reserved(tmp_path: Path) -> None:
    """Ten at once on a budget for two: two are sent."""
    bank = Bank(tmp_path, limits(2 * (SIZE + 4000)))
    gate = anyio.Event()
    bank.wait = gate.wait
    refused = []

    async def one() -> None:
        try:
            await bank.ask()
        except BudgetSpent as spent:
            refused.append(str(spent))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(one)
        while len(refused) < 8:
            await anyio.sleep(0.001)
        assert len(bank.usage_store.held()) == 2
        gate.set()
    assert len(bank.sent) == 2


async def test_two_processes_share_one_budget(tmp_path: Path) -> None:
    """Each sees what the other has spent, and what it has under way."""
    one, other = Bank(tmp_path, limits(SIZE + 6000)), Bank(tmp_path, limits(SIZE + 6000))
    one.default = other.default = Completion("ok", "stop", SIZE, 3000)
    gate, started = anyio.Event(), anyio.Event()

    async def held() -> None:
        started.set()
        await gate.wait()

    one.wait = held
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.ask)
        await started.wait()
        with pytest.raises(BudgetSpent, match="requests under way included"):
            await other.ask()
        gate.set()
    with pytest.raises(BudgetSpent):
        await other.ask()
    assert other.sent == []


async def test_the_count_survives_a_restart(tmp_path: Path) -> None:
    """Today's lines are read from the ledger; yesterday's do not count."""
    first = Bank(tmp_path, limits(SIZE + 6000), now=MORNING - timedelta(days=1))
    first.default = Completion("ok", "stop", SIZE + 1000, 3000)
    await first.ask()
    second = Bank(tmp_path, limits(SIZE + 6000))
    second.default = first.default
    await second.ask()
    with pytest.raises(BudgetSpent):
        await Bank(tmp_path, limits(SIZE + 6000)).ask()


async def test_at_midnight_a_new_budget_begins(tmp_path: Path) -> None:
    """The local one; the same process goes on, and counts what others wrote after midnight."""
    bank = Bank(tmp_path, limits(SIZE + 6000))
    bank.default = Completion("ok", "stop", SIZE, 4000)
    await bank.ask()
    with pytest.raises(BudgetSpent):
        await bank.ask()
    bank.now = MORNING.replace(hour=23, minute=59, second=59)
    with pytest.raises(BudgetSpent):
        await bank.ask()
    bank.now += timedelta(seconds=1)
    other = Bank(tmp_path, limits(), now=bank.now)
    other.default = Completion("ok", "stop", 1, 2000)
    await other.ask()
    await bank.ask()
    assert bank.sent[-1].max_tokens == 3999
    with pytest.raises(BudgetSpent):
        await bank.ask()


async def test_a_request_whose_process_was_killed_counts_as_spent(tmp_path: Path) -> None:
    """A crash in a loop cannot burn money unseen: the hold counts at once, and becomes a line
    after its deadline.
    """
    dead = Bank(tmp_path, limits(SIZE + 6000))
    ask = ModelRequest(
        "openai/m", (PromptMessage("user", PROMPT),), 30.0, 4000, None, "room", "chat", "c"
    )
    await dead.admission.admit(ask, dead.priced)  # killed here: nothing is recorded any more
    again = Bank(tmp_path, limits(SIZE + 6000))
    with pytest.raises(BudgetSpent):
        await again.ask()
    assert again.lines == []
    again.now += timedelta(minutes=2)
    with pytest.raises(BudgetSpent):
        await again.ask()
    (line,) = again.lines
    assert (line.estimated_in, line.estimated_out, line.tokens_in, line.outcome) == (
        SIZE,
        4000,
        0,
        "cancelled",
    )
    assert "a process that ended" in line.reason
    assert again.usage_store.held() == {}


@pytest.mark.parametrize(
    ("error", "outcome", "tokens"),
    [
        (ModelTimeout("late"), "timeout", SIZE + 4000),
        (ModelBusy("the answer broke off"), "error", SIZE + 4000),
        (ModelUnavailable("no such model"), "error", 0),
        (KeyRefused("no key"), "denied", 0),
        (ParameterRefused("none"), "unfit", 0),
    ],
)
async def test_what_may_have_been_billed_counts_as_billed(
    tmp_path: Path, error: Exception, outcome: str, tokens: int
) -> None:
    """A provider bills an answer that we did not wait for; one that refused the request does
    not.
    """
    bank = Bank(tmp_path, limits(100_000), default=error)
    with pytest.raises(type(error)):
        await bank.ask()
    (line,) = bank.lines
    assert (line.outcome, line.tokens, line.tokens_in) == (outcome, tokens, 0)
    assert line.unpriced is (tokens > 0)


async def test_an_answer_without_a_bill_is_estimated(tmp_path: Path) -> None:
    """Each missing count by itself, the cost with them; a free answer that is not free is not
    believed.
    """
    bank = Bank(tmp_path, limits(100_000, 50.0), price=PRICE)
    bank.answers = [
        Completion("Dana said Friday.", "stop", 0, 0, 0, 0.0),
        Completion("yes", "stop", 70, 0, 0, 0.1),
    ]
    await bank.ask()
    await bank.ask()
    first, second = bank.lines
    assert (first.tokens_in, first.estimated_in, first.cost) == (0, SIZE, None)
    assert 3 <= first.estimated_out <= 6
    assert first.estimated_cost == pytest.approx(PRICE.cost(SIZE, first.estimated_out))
    assert (second.tokens_in, second.estimated_in, second.estimated_out, second.cost) == (
        70,
        0,
        1,
        None,
    )


async def test_a_bill_that_lies_counts_if_it_lies_high(tmp_path: Path) -> None:
    """Negative tokens would give budget back; what is beyond any bill does not break the sums."""
    bank = Bank(tmp_path, limits(100_000))
    bank.answers = [
        Completion("x", "stop", -5000, -1, -3, -1.0),
        Completion("x", "stop", 10**400, 1, 0, inf),
    ]
    await bank.ask()
    await bank.ask()
    low, high = bank.lines
    assert (low.tokens_in, low.tokens_out, low.tokens_cached, low.cost) == (0, 0, 0, None)
    assert low.estimated_in == SIZE
    assert (high.tokens_in, high.cost) == (10**12, None)
    with pytest.raises(BudgetSpent):
        await bank.ask()


async def test_money_is_reserved_and_counted_like_tokens(tmp_path: Path) -> None:
    """The answer is cut to what the rest of the money buys."""
    bank = Bank(tmp_path, limits(inf, PRICE.cost(SIZE, 2000)), price=PRICE)
    bank.default = Completion("x", "stop", SIZE, 1500, 0, PRICE.cost(SIZE, 1500))
    await bank.ask()
    assert bank.sent[0].max_tokens in {1999, 2000}
    with pytest.raises(BudgetSpent, match=r"\$"):
        await bank.ask()


async def test_a_model_without_a_price_is_held_by_tokens_or_not_asked(tmp_path: Path) -> None:
    """A budget in dollars alone cannot hold it: the error says which setting can."""
    with pytest.raises(BudgetSpent, match=r"openai/m has no known price.*set tokens_per_day"):
        await Bank(tmp_path, limits(inf, 1.0)).ask()
    both = Bank(tmp_path, limits(SIZE + 5000, 1.0))
    both.default = Completion("x", "stop", SIZE, 4500)
    await both.ask()
    with pytest.raises(BudgetSpent, match="tokens"):
        await both.ask()
    assert both.lines[0].unpriced


async def test_the_log_hears_of_eighty_percent_and_of_the_end_once_a_day(tmp_path: Path) -> None:
    """Once for each budget."""
    bank = Bank(tmp_path, limits(10 * SIZE, inf))
    bank.default = Completion("x", "stop", SIZE, 0)
    refused = 0
    for _ in range(20):
        try:
            await bank.ask(max_tokens=10)
        except BudgetSpent:
            refused += 1
    assert refused == 11
    assert [text.partition(" of")[0] for text in bank.warned] == ["80%", "Today's budget"]
    assert "the offline rules take over" in bank.warned[1]
    bank.now += timedelta(days=1)
    await bank.ask()
    assert len(bank.warned) == 2


async def test_a_workspace_that_stops_is_one_line_of_the_log(tmp_path: Path) -> None:
    """Not one for each channel."""
    bank = Bank(tmp_path, limits(0))
    for number in range(5):
        with pytest.raises(BudgetSpent):
            await bank.ask(channel=f"c{number}")
    assert len(bank.warned) == 2


@pytest.mark.both_loops
async def test_a_model_that_fails_is_left_alone_and_then_tried_once_at_a_time(
    tmp_path: Path,
) -> None:
    """Five failures, a minute of rest, one probe; other models are not concerned."""
    bank = Bank(tmp_path, limits(), default=ModelBusy("500"))
    for _ in range(5):
        with pytest.raises(ModelBusy):
            await bank.ask()
    with pytest.raises(ModelUnavailable, match="left alone until 09:01:00"):
        await bank.ask()
    assert len(bank.sent) == 5
    bank.default = Completion("x", "stop", 1, 1)
    await bank.ask(model="openai/other")
    bank.now += timedelta(minutes=1)
    gate = anyio.Event()
    bank.wait = gate.wait
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bank.ask)
        while not bank.usage_store.held():
            await anyio.sleep(0.001)
        with pytest.raises(ModelUnavailable, match="another request is trying"):
            await bank.ask()
        gate.set()
    bank.wait = None
    await bank.ask()
    assert len(bank.sent) == 8


async def test_a_restart_may_try_at_once_but_remembers(tmp_path: Path) -> None:
    """Somebody may have set the key; if not, the next pause is the doubled one."""
    bank = Bank(tmp_path, limits(), default=KeyRefused("no key"))
    with pytest.raises(KeyRefused):
        await bank.ask()
    with pytest.raises(ModelUnavailable, match="left alone"):
        await bank.ask()
    again = Bank(tmp_path, limits(), default=KeyRefused("no key"))
    with pytest.raises(KeyRefused):
        await again.ask()
    with pytest.raises(ModelUnavailable, match="until 09:02:00"):
        await again.ask()


async def test_the_same_question_twice_is_refused_once_it_was_accepted(tmp_path: Path) -> None:
    """A refused answer may be asked for again; after an accepted one something must have
    changed.
    """
    bank = Bank(tmp_path, limits())
    await bank.ask(task="consolidate", refused=True)
    await bank.ask(task="consolidate")
    with pytest.raises(NoProgress, match="The same consolidate of room"):
        await bank.ask(task="consolidate")
    await bank.ask(PROMPT + "And then?", task="consolidate")
    assert len(bank.sent) == 3


async def test_without_a_place_for_the_account_nothing_is_sent(tmp_path: Path) -> None:
    """A disk that cannot keep the account keeps no memory either: the answer would be paid for
    nothing.
    """
    bank = Bank(tmp_path, limits())
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StoreError):
        await bank.ask()
    assert bank.sent == []


async def test_a_call_that_the_disk_refused_is_written_with_the_next(tmp_path: Path) -> None:
    """The disk filled up while the model answered: what it billed counts all the same, once."""
    bank = Bank(tmp_path, limits(SIZE + 6000))
    bank.default = Completion("x", "stop", SIZE, 4000)

    path, kept = tmp_path / "state.db", tmp_path / "kept"

    async def filled() -> None:
        path.rename(kept)
        path.mkdir()

    bank.wait = filled
    with pytest.raises(StoreError):
        await bank.ask()
    path.rmdir()
    kept.rename(path)
    for _ in range(2):
        with pytest.raises(BudgetSpent):
            await bank.ask()
    assert [line.tokens for line in bank.lines] == [SIZE + 4000]
    assert bank.usage_store.held() == {}


@pytest.mark.both_loops
async def test_a_caller_that_gives_up_has_spent_what_was_reserved(tmp_path: Path) -> None:
    """The provider may have answered and billed."""
    bank = Bank(tmp_path, limits(100_000))
    bank.wait = anyio.sleep_forever
    with anyio.move_on_after(0.05):
        await bank.ask()
    (line,) = bank.lines
    assert (line.outcome, line.tokens) == ("cancelled", SIZE + 4000)
    assert bank.usage_store.held() == {}


async def test_another_ledger_is_counted_anew(tmp_path: Path) -> None:
    """Known by its last call: one that is as long may have other calls in it."""
    bank = Bank(tmp_path, limits(100_000))
    bank.default = Completion("ok", "stop", 10_000, 10_000, 0, 0.5)
    await bank.ask()
    await bank.ask("again")
    calls = bank.lines
    (tmp_path / "state.db").unlink()
    for call in calls:
        bank.usage_store.append(structs.replace(call, tokens_in=45_000))
    with pytest.raises(BudgetSpent):
        await bank.ask("and again")


@pytest.mark.both_loops
async def test_a_line_of_the_ledger_is_written_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may wait for other processes: here until the loop has gone on."""
    bank = Bank(tmp_path, limits(100_000))
    written, went_on = bank.usage_store.record, threading.Event()
    is_free: list[bool] = []

    def record(name: str, usage: Usage | None) -> None:
        is_free.append(went_on.wait(60))
        written(name, usage)

    monkeypatch.setattr(UsageStore, "record", lambda _, name, usage: record(name, usage))

    async def go_on() -> None:
        while not bank.sent:
            await anyio.sleep(0)
        await anyio.sleep(0.05)
        went_on.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go_on)
        await bank.ask()
    assert is_free == [True]
    assert len(bank.lines) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_cancel_of_asyncio_itself_leaves_no_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, anyio_backend: str
) -> None:
    """`Task.cancel` waits for no thread: whether the hold is placed before or after it, nobody
    pays for it.
    """
    bank = Bank(tmp_path, limits(100_000))
    places: list[str] = []
    placed, placing, go_on = OpenLedger.place, threading.Event(), threading.Event()

    def place(ledger: OpenLedger, hold: Reservation) -> str:
        name = placed(ledger, hold) if when == "before" else ""
        placing.set()
        go_on.wait(60)
        name = name or placed(ledger, hold)
        places.append(name)
        return name

    monkeypatch.setattr(OpenLedger, "place", place)
    task = asyncio.get_running_loop().create_task(bank.ask())
    await anyio.to_thread.run_sync(placing.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    with anyio.fail_after(60):
        while not places or bank.usage_store.held():
            await anyio.sleep(0.01)
    assert (bank.sent, bank.lines) == ([], [])


async def test_half_of_a_surrogate_pair_breaks_no_ledger(tmp_path: Path) -> None:
    """In a question, a channel's id, or what a provider says: the line is written, the hold is
    gone.
    """
    bank = Bank(tmp_path / "w" / ".pipimem", limits(100_000))
    bank.answers = [ModelBusy("half \ud83d of it")]
    with pytest.raises(ModelBusy):
        await bank.ask("half \ud83d of it", channel="r\udc00m")
    await bank.ask("\udfff", channel="r\udc00m")
    assert [line.outcome for line in bank.lines][-1] == "ok"
    assert bank.usage_store.held() == {}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancel_of_asyncio_itself_right_after_the_answer_leaves_a_line(
    tmp_path: Path, anyio_backend: str
) -> None:
    """Before the thread that writes it has begun."""
    bank = Bank(tmp_path, limits(100_000))

    async def cancelled() -> None:
        ask = ModelRequest(
            "openai/m", (PromptMessage("user", PROMPT),), 30.0, 4000, None, "room", "chat", "c1"
        )
        async with await bank.admission.admit(ask, bank.priced) as attempt:
            attempt.completion = await bank.complete(attempt.request)
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.get_running_loop().create_task(cancelled())
    assert [line.outcome for line in bank.lines] == ["ok"]
    assert bank.usage_store.held() == {}


@pytest.mark.both_loops
async def test_a_request_that_never_left_is_neither_counted_nor_billed(tmp_path: Path) -> None:
    """No line of the ledger, no reservation, and the breaker knows nothing of it."""
    bank = Bank(tmp_path, limits(tokens=10_000), answers=[NeverSent("not ready")] * 6)
    for _ in range(6):
        with suppress(NeverSent):
            await bank.ask()
    assert bank.usage_store.usages(MORNING) == []
    assert bank.usage_store.held() == {}
    assert (await bank.ask()).text == "ok"


@dataclass
class Watcher:
    """Keeps the operations that ended."""

    wants_content: bool = False
    ended: list[Operation] = field(default_factory=list)

    def begin(self, operation: Operation) -> object:
        return None

    def end(self, operation: Operation, begun: object) -> None:
        self.ended.append(operation)


async def test_an_attempt_is_observed_as_the_ledger_has_it(tmp_path: Path) -> None:
    """What was answered, what was refused after it was billed, and what never left."""
    bank, watcher = Bank(tmp_path, limits()), Watcher()
    bank.admission.observers.add(watcher)
    bank.answers = [Completion("ok", "stop", 70, 7), ModelBusy("busy"), NeverSent("late")]
    await bank.ask()
    for expected in (ModelBusy, NeverSent):
        with pytest.raises(expected):
            await bank.ask()
    told = [(each.outcome, each.error, each.tokens_in, each.tokens_out) for each in watcher.ended]
    assert told[0] == ("ok", "", 70, 7)
    assert told[2] == ("unsent", "NeverSent", 0, 0)
    assert [each.correlation for each in watcher.ended] == ["c1", "c2", "c3"]
    lines = bank.usage_store.usages(MORNING - timedelta(hours=1))
    assert [line.outcome for line in lines] == [each.outcome for each in watcher.ended[:2]]
    assert told[1][2:] == (lines[1].estimated_in, lines[1].estimated_out)


def test_an_embedding_is_observed_in_its_thread(tmp_path: Path) -> None:
    """Embedders ask without an event loop."""
    bank, watcher = Bank(tmp_path, limits()), Watcher()
    bank.admission.observers.add(watcher)
    request = ModelRequest("openai/e", (PromptMessage("user", "x"),), 5.0, 0, task="embed")

    def embed() -> None:
        with bank.admission.admit_in_thread(request, PRICE) as attempt:
            attempt.completion = Completion("", "stop", 3, 0)

    thread = threading.Thread(target=embed)
    thread.start()
    thread.join()
    (operation,) = watcher.ended
    assert (operation.kind, operation.task, operation.model) == ("model", "embed", "openai/e")
    assert (operation.outcome, operation.tokens_in) == ("ok", 3)
