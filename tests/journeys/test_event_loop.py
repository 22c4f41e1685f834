"""What takes long for a long text never runs in the thread of the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pipimem import Channel, Message
from pipimem.memory import window
from pipimem.notes.kinds import File
from pipimem.notes.notes import Note
from pipimem.recall import query
from pipimem.recall.index import Index
from pipimem.runtime import intake, notes, transcript_recall, turn_recall, turns
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.rules import consolidating, refreshing
from pipimem.store.commit import working_copy
from pipimem.store.transcript.log import Transcript
from pipimem.text.words.segmentation import Segmenter

from tests.runtime.building import opened, workspace

LONG = "".join(f"Rule {number} of the release says so. " for number in range(100))
QUESTION = "when does the release window open?"

# What is done, and whether a journey must have done it: else the test would look at nothing.
WORK: list[tuple[object, str]] = [
    (intake, "redacted"),
    (intake.Intake, "unknown_messages"),
    (notes, "remembered"),
    (turns, "snapshot"),
    (turns, "standing_part"),
    (turn_recall, "recalled_entries"),
    (Index, "update"),
    (Index, "has_other_texts"),
    (Note, "read"),
    (transcript_recall, "_rewordings"),
    (Transcript, "_newest"),
    (working_copy, "merged"),
    (working_copy, "merge_base"),
    (window, "channel_talk"),
    (consolidating, "consolidated"),
    (refreshing, "refreshed"),
    (Segmenter, "_words_of"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("where", "name"), WORK, ids=[name for _, name in WORK])
async def test_no_work_on_texts_holds_the_event_loop(
    where: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn with a long message, a long entry, a paste by hand, a compaction."""
    threads = spied(where, name, monkeypatch)
    async with opened(workspace(tmp_path)) as channel:
        await lived(channel)
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.anyio
async def test_a_long_question_is_asked_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cutting it into words takes longer than the loop may stand still; a short one is not worth
    a thread.
    """
    threads = spied(query, "mentioned", monkeypatch)
    async with opened(workspace(tmp_path)) as channel:
        for ask in (channel.before_turn, channel.recall):
            await ask(LONG)
        assert threads
        assert threading.get_ident() not in threads
        await channel.before_turn(QUESTION)
        assert threading.get_ident() in threads


def spied(where: object, name: str, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads that do this work from now on."""
    threads = set[int]()
    work: Callable[..., Any] = getattr(where, name)
    is_class_method = isinstance(where, type) and isinstance(where.__dict__[name], classmethod)

    def noted(*args: Any, **named: Any) -> Any:
        threads.add(threading.get_ident())
        return work(*args, **named)

    monkeypatch.setattr(where, name, staticmethod(noted) if is_class_method else noted)
    return threads


async def lived(channel: Channel) -> None:
    """What a host and a person do in a session."""
    turn = await channel.before_turn(f"{LONG} 发布窗口什么时候开？")
    await channel.after_turn(
        turn, [Message.user(LONG, speaker="alice"), Message.assistant("so it is")]
    )
    await channel.notes.remember("The release window opens at nine")
    await channel.notes.remember(LONG)
    memory = upkeep_of(channel).store.folder / File.MEMORY
    old = memory.read_text()
    await channel.notes.remember("Tea is green")
    memory.write_text(f"- typed on top\n{old}\n- typed below\n")
    turn = await channel.before_turn(QUESTION)
    await channel.after_turn(
        turn, [Message.user(QUESTION, speaker="alice"), Message.assistant("at nine")]
    )
    receipt = await channel.before_compaction([Message.user(LONG), Message.assistant("so it is")])
    await channel.compacted(receipt)
