"""No server can make us spend more than the budget, however often we are made to ask."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest
from pipimem import Channel, Message, Pipimem
from pipimem.runtime.channel import upkeep_of
from pipimem.store.workspace import WorkspaceStore

from tests.journeys.test_budgets import at, fitting_reply, key, limited
from tests.runtime.building import Hands, workspace
from tests.servers.openai import ChatRequest, OpenAIServer, Reply, broken, counted_prompt, too_many

__all__ = ["key"]

WHOLE, OWN = 60_000, 30_000
CHANNELS = ("room", "hall", "茶室")
# A real server bills what it said until it noticed that nobody listens: at most all it was allowed
# to say.
HANGS = 3.0
PAUSE = timedelta(minutes=5)


def allowed(request: ChatRequest) -> int:
    """The longest answer the client pays for."""
    return int(request.body.get("max_tokens") or request.body["max_completion_tokens"])


def refused(request: ChatRequest) -> Reply:
    return Reply("I would rather talk about the weather.", completion_tokens=allowed(request))


def liar(request: ChatRequest) -> Reply:
    return Reply(fitting_reply(request).content, completion_tokens=25_000)


def garbage(request: ChatRequest) -> Reply:
    return Reply(raw=b"<html>", completion_tokens=allowed(request))


def silent(request: ChatRequest) -> Reply:
    return Reply(fitting_reply(request).content, reports_usage=False)


def endless(request: ChatRequest) -> Reply:
    return Reply("...", delay=HANGS, completion_tokens=allowed(request))


def moody(request: ChatRequest) -> Reply:
    """Each of them in turn, by a die that falls the same way every time."""
    kinds: tuple[Callable[[ChatRequest], Reply], ...] = (
        fitting_reply, refused, garbage, silent, lambda _: broken(), lambda _: too_many(0), liar,
    )  # fmt: skip
    return random.Random(request.number).choice(kinds)(request)


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted here are requests, not the seconds between them."""
    monkeypatch.setattr("pipimem.llm.client._FIRST_WAIT", 0.0)


async def driven(
    root: Path,
    rounds: range,
    *,
    timeout: float = 60.0,
    cost: float = float("inf"),
    model: str = "openai/m",
) -> None:
    """Everything that can make a bot think, at once in all channels and again and again: talk, idle
    work by force
    and compactions. Five minutes pass in each round, so that what waits is due again."""
    hands = Hands(datetime.fromisoformat("2026-03-02T00:10:00+08:00") + rounds.start * PAUSE)
    patience = {"refresh_timeout": timeout, "consolidate_timeout": timeout, "tidy_timeout": timeout}
    settings = limited(WHOLE, own=OWN, cost=cost, **patience)
    async with Pipimem(root, model, settings=settings, clock=hands.clock()) as pipimem:
        channels = [await pipimem.channel(name, kind="group") for name in CHANNELS]
        for number in rounds:
            async with anyio.create_task_group() as tasks:
                for channel in channels:
                    tasks.start_soon(_round, channel, number, timeout)
            hands.now += PAUSE


async def _round(channel: Channel, number: int, timeout: float) -> None:
    for part in range(2):
        text = f"Remember: lamp {number}.{part} of {channel.id} burns {number + part} litres of oil in a night."
        await channel.after_turn(
            None, [Message.user(text, speaker="Dana"), Message.assistant("Noted.")]
        )
    await upkeep_of(channel).maintain(forced=True)
    await channel.before_compaction(deadline=timeout)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("respond", "beyond", "rounds"),
    [
        pytest.param(fitting_reply, 0, 12, id="always work to do"),
        pytest.param(refused, 0, 12, id="never an acceptable answer"),
        # Four requests may be under way when the first of them is billed, each with 25,000 where
        # 1,000 or more were
        # reserved.
        pytest.param(liar, 4 * 24_000, 4, id="bills far more than it was allowed to say"),
        pytest.param(silent, 0, 12, id="does not say what it bills"),
        pytest.param(moody, 4 * 24_000, 6, id="any of these"),
    ],
)
async def test_no_server_can_bill_more_than_the_budget(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    respond: Callable[[ChatRequest], Reply],
    beyond: int,
    rounds: int,
) -> None:
    """At most the budget, and what a liar adds to the requests that were under way already. Memory
    goes on by the
    rules."""
    root = workspace(tmp_path)
    with OpenAIServer(respond) as server:
        at(monkeypatch, server)
        await driven(root, range(rounds))
    assert len(server.requests) >= 3
    assert server.billed.prompt + server.billed.completion <= WHOLE + beyond
    memory = (root / "channels" / "room" / "MEMORY.md").read_text(encoding="utf-8")
    assert f"lamp {rounds - 1}.1 of room" in memory


@pytest.mark.anyio
@pytest.mark.parametrize("reply", [broken(), too_many(0)], ids=["500", "429"])
async def test_a_broken_server_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    """Three channels that force six rounds would send 54 requests and more: the breaker lets a few
    through, of which
    each is a line of the ledger that counts nothing."""
    root = workspace(tmp_path)
    with OpenAIServer(lambda _: reply) as server:
        at(monkeypatch, server)
        await driven(root, range(6))
    # Five in a row and at most two more under way; then one at 5, 10 and 20 minutes, when the pause
    # has passed.
    assert 5 <= len(server.requests) <= 5 + 2 + 5
    usages = list(WorkspaceStore.open(root).usages())
    assert len(usages) == len(server.requests)
    assert sum(usage.tokens for usage in usages) == 0


@pytest.mark.anyio
async def test_answers_that_never_come_are_paid_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server bills all it was allowed to say, though nobody waited: the reservations had it
    counted.
    """
    root = workspace(tmp_path)
    with OpenAIServer(endless) as server:
        at(monkeypatch, server)
        await driven(root, range(4), timeout=1.0)
        billed = server.billed.prompt + server.billed.completion
    usages = list(WorkspaceStore.open(root).usages())
    assert {usage.outcome for usage in usages} <= {"timeout", "cancelled"}
    assert len(usages) == len(server.requests) >= 3
    assert billed <= sum(usage.tokens for usage in usages) <= WHOLE


@pytest.mark.anyio
async def test_answers_that_cannot_be_read_are_paid_for_and_then_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server bills them; they count with all that was reserved, and the breaker opens. The
    talk waits on disk.
    """
    root = workspace(tmp_path)
    with OpenAIServer(garbage) as server:
        at(monkeypatch, server)
        await driven(root, range(4))
        billed = server.billed.prompt + server.billed.completion
    usages = list(WorkspaceStore.open(root).usages())
    assert {usage.outcome for usage in usages} == {"error"}
    assert billed <= sum(usage.tokens for usage in usages) <= WHOLE
    assert "lamp 3.1 of room" in (root / "channels" / "room" / "log.jsonl").read_text(
        encoding="utf-8"
    )


@pytest.mark.anyio
async def test_money_holds_as_tokens_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with a known price, and a cent and a half for the day: what the server billed
    costs no more.
    """
    root, budget = workspace(tmp_path), 0.015
    with OpenAIServer(refused) as server:
        at(monkeypatch, server)
        await driven(root, range(4), cost=budget, model="openai/gpt-5-mini")
        spent = server.billed.prompt * 2.5e-7 + server.billed.completion * 2e-6
    assert 0 < spent <= budget
    assert sum(usage.cost or 0.0 for usage in WorkspaceStore.open(root).usages()) == pytest.approx(
        spent
    )


def test_our_estimate_of_a_prompt_is_above_the_servers_count() -> None:
    """What the silent server above bills is held only as far as this is true."""
    from pipimem.llm.admission import prompt_tokens
    from pipimem.llm.request import ModelRequest, PromptMessage

    from tests.servers.openai import ChatMessage

    text = (
        "[m1] 2026-03-04 09:10 Dana: We ship on Friday instead.\n[m2] 2026-03-04 09:11 pipi (bot): Noted.\n"
        * 50
    )
    asked = ModelRequest(
        "openai/m", (PromptMessage("system", text), PromptMessage("user", text)), 10.0, 100
    )
    assert prompt_tokens(asked) >= counted_prompt(
        (ChatMessage("system", text), ChatMessage("user", text))
    )
