"""What a thought has cost in tokens, and its task today, by the usage ledger."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.notes.operations import Tokens
from pipimem.notes.usage import Usage
from pipimem.sidecar.contracts import Call


def spent(lines: Iterable[Usage], task: str, call: Call, day: str) -> Tokens | None:
    """The tokens of a call's attempts, with all of its task in its channel on `day` (`2026-03-02`).

    Failed attempts count too. `None` for a call that cost nothing.
    """
    run = today = 0
    for usage in lines:
        tokens = usage.tokens_in + usage.tokens_out
        if usage.correlation == call.correlation:
            run += tokens
        if (usage.channel, usage.task) == (call.channel, task) and usage.time.startswith(day):
            today += tokens
    return Tokens(run, today) if run else None
