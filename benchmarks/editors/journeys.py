"""What a bot does while a person saves: turns, remember, compaction, forget, undo, idle work."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
from pipimem import Message
from pipimem.notes.files import File
from pipimem.store.history.undo import undo

from benchmarks.faults.child import Say
from benchmarks.faults.journeys import (
    CHANNEL,
    COMPACTION,
    FORGETTING,
    NOW,
    REMEMBERING,
    Journey,
    adding,
    backlog,
    lived,
    opened,
    runtime,
)  # fmt: skip
from benchmarks.races.hands import unlike

MISTAKE = "quartz viburnum jackdaw sphinx"
_FACTS, _TYPED = 8, 3


def _furnished(prepare: Callable[[Path], None]) -> Callable[[Path], None]:
    """A channel that has more to lose: facts, typed lines, and a last commit to take back."""

    def furnished(root: Path) -> None:
        prepare(root)
        dice = random.Random(7)
        store = opened(root)
        for _ in range(_FACTS):
            store.commit(adding(unlike(dice)), NOW)
        path = store.folder / File.MEMORY
        lines = "".join(f"- {unlike(dice)}\n" for _ in range(_TYPED))
        path.write_text(path.read_text().replace("## Facts\n\n", f"## Facts\n\n{lines}"))
        store.commit(adding(unlike(dice)), NOW)
        store.commit(adding(MISTAKE), NOW)
        store.close()

    return furnished


def _turns(root: Path, say: Say) -> None:
    async def talk() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            for number in range(3):
                said = [Message.user(f"what about tea {number}?", id=f"x{number}"),
                        Message.assistant("green", id=f"y{number}")]  # fmt: skip
                turn = await channel.before_turn(said[0].content, speaker="alice")
                if turn.problem:
                    say("wrong", f"a turn said {turn.problem}")
                await channel.after_turn(turn, said)
                for message in said:
                    say("message", message.id, message.content)

    anyio.run(talk)


def _undo(root: Path, say: Say) -> None:
    """By its number: the newest change may be what the person has just saved."""
    store = opened(root)
    records = store.journal_records()
    undo(store, next(each.sequence for each in records if MISTAKE in str(each.changes)), NOW)
    say("gone", MISTAKE)
    store.close()


def _idle(root: Path, say: Say) -> None:  # noqa: ARG001 - idle work promises nothing new
    async def work() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            await channel.maintain(forced=True)
            await channel.flush()

    anyio.run(work)


JOURNEYS = {
    name: replace(journey, name=name, prepare=_furnished(journey.prepare))
    for name, journey in {
        "turns": Journey("turns", lived, _turns),
        "remember": REMEMBERING,
        "compaction": COMPACTION,
        "forget": FORGETTING,
        "undo": Journey("undo", lived, _undo),
        "idle": Journey("idle", backlog, _idle),
    }.items()
}
