"""What the account of a request costs, beside the request itself: `python -m
benchmarks.budgets`.
"""

from __future__ import annotations

import tempfile
import time
from datetime import datetime
from math import inf
from pathlib import Path

import anyio
from pipimem.clock import Clock
from pipimem.llm.admission import Admission
from pipimem.llm.request import Completion, ModelRequest, Price, PromptMessage
from pipimem.notes.usage import Usage
from pipimem.settings import BudgetSettings, Limit
from pipimem.store.usage.reservations import UsageStore

from benchmarks.machine import heading

_REQUESTS = 300
_PROMPT = "Dana moved the release to Friday, the port is 8443. " * 200


class Free:
    """A door that answers at once."""

    async def complete(self, _: ModelRequest) -> Completion:
        return Completion("ok", "stop", 2000, 200)


async def _no_price(_: str) -> Price | None:
    return None


def _now() -> datetime:
    return datetime.now().astimezone()


async def measured(lines: int) -> tuple[float, float]:
    """Milliseconds of the first request of a process after so many calls of today, and of the later
    ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        usage_store = UsageStore(Path(folder))
        for _ in range(lines):
            usage_store.append(_usage(0))
        none = BudgetSettings(Limit(inf), Limit(inf), Limit(inf), Limit(inf))
        admission = Admission(usage_store, none, Clock(), print)
        times = []
        for number in range(_REQUESTS):
            started = time.perf_counter()
            ask = ModelRequest(
                "m",
                (PromptMessage("user", _PROMPT),),
                30.0,
                4000,
                None,
                "room",
                "chat",
                f"c{number}",
            )
            async with await admission.admit(ask, _no_price) as attempt:
                attempt.completion = await Free().complete(attempt.request)
            times.append(1000 * (time.perf_counter() - started))
    return times[0], min(times[1:])


def _usage(number: int) -> Usage:
    time = _now().isoformat(timespec="seconds")
    return Usage(time, "room", "chat", "m", 2000, 200, 0, None, 1.0, "ok", f"c{number}")


if __name__ == "__main__":
    print(heading("What the account of a request costs", "anyio"))
    print("calls of today   first request (ms)   later requests, fastest (ms)")
    for lines in (0, 1000, 10_000):
        first, later = anyio.run(measured, lines)
        print(f"{lines:14,}   {first:18.1f}   {later:28.2f}")
