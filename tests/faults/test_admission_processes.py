"""Several processes on one workspace, one of them killed: still one budget."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState

BUDGET = 100_000

# A bot that asks as fast as it can until it is refused, and is billed all it reserved; with `hang`
# it waits for ever.
BOT = """
import sys
from math import inf
from pathlib import Path

import anyio
from pipimem.clock import Clock
from pipimem.errors import BudgetSpent
from pipimem.settings import BudgetSettings, Limit
from pipimem.llm.request import ModelRequest, Completion, PromptMessage
from pipimem.llm.admission import Admission, prompt_tokens
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState


class ModelClient:
    async def complete(self, ask):
        print("asked", ask.correlation, flush=True)
        await (anyio.sleep_forever() if sys.argv[2] == "hang" else anyio.sleep(0.001))
        return Completion("ok", "stop", prompt_tokens(ask), ask.max_tokens)


async def price(model):
    return None


async def one(admission, number, limit):
    async with limit:
        ask = ModelRequest("m", (PromptMessage("user", "lamp oil " * 300),), 600.0, 2000, None, f"c{number % 3}", "chat", f"n{number}")
        try:
            async with await admission.admit(ask, price) as attempt:
                attempt.completion = await ModelClient().complete(attempt.request)
        except BudgetSpent:
            return


async def main():
    limits = BudgetSettings(Limit(100_000), Limit(inf), Limit(inf), Limit(inf))
    admission = Admission(UsageStore(WorkspaceState(Path(sys.argv[1]))), limits, Clock(), lambda text: None)
    limit = anyio.Semaphore(4)
    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(one, admission, number, limit)


anyio.run(main)
"""


def started(folder: Path, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BOT, str(folder), what]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_one_budget_for_all_of_them(tmp_path: Path) -> None:
    """Three that ask at once, beside a fourth that was killed with four requests under way:
    together they are billed
    no more than the budget, and nearly all of it."""
    dead = started(tmp_path, "hang")
    assert dead.stdout is not None
    for _ in range(4):
        assert dead.stdout.readline().startswith("asked")
    dead.kill()
    dead.communicate()
    usage_store = UsageStore(WorkspaceState(tmp_path))
    lost = sum(hold.tokens for hold in usage_store.held().values())
    assert (len(usage_store.held()), lost > 8000) == (4, True)
    bots = [started(tmp_path, "work") for _ in range(3)]
    asked = [bot.communicate()[0].count("asked") for bot in bots]
    lines = usage_store.usages(datetime.now().astimezone().replace(hour=0, minute=0, second=0))
    spent = sum(usage.tokens for usage in lines)
    assert len(lines) == sum(asked)
    assert BUDGET - 4000 <= spent + lost <= BUDGET
    assert len(usage_store.held()) == 4


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("answers", [1, 5, 12])
def test_a_killed_process_leaves_each_call_once(tmp_path: Path, answers: int) -> None:
    """As a line with its bill, or as a reservation of the most that it can have cost."""
    bot = started(tmp_path, "work")
    assert bot.stdout is not None
    asked = [bot.stdout.readline().split()[1] for _ in range(answers)]
    bot.kill()
    asked += [line.split()[1] for line in bot.communicate()[0].splitlines()]
    usage_store = UsageStore(WorkspaceState(tmp_path))
    written = [usage.correlation for usage in usage_store.usages()]
    held = [hold.correlation for hold in usage_store.held().values()]
    assert len({*written, *held}) == len(written) + len(held)
    assert set(written) <= set(asked) <= {*written, *held}
    assert usage_store.state.database.damage() == ""
