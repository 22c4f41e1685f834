"""Short ids in what a model is sent, and the true ones in its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Bullet
from pipimem.sidecar.short_ids import ShortIds
from pipimem.sidecar.tasks import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    KnownEntry,
    Learned,
    Merge,
    Over,
    Refile,
    Refresh,
    Reword,
    Tidied,
    Tidy,
)

from tests.servers.openai import OpenAIServer, Reply
from tests.sidecar.conftest import NOW, Books, answer, learnt

WINDOW = tuple(
    Message("user", f"word {n}", str(UUID(int=n)), NOW, "Dana", number=n) for n in (7, 8, 9)
)
MEMORY = (
    KnownEntry("abcd2345", "Facts", "tea"),
    KnownEntry("abcd2x45", "Facts", "coffee"),
    KnownEntry("zzzz2345", "Facts", "milk"),
)
TASK = Consolidate(NOW, ("Dana",), MEMORY, WINDOW)


def test_messages_are_numbered_and_entries_cut_while_each_is_another() -> None:
    """Numbers of entries would let a slip end the neighbour; the beginnings stay letters."""
    asked = ShortIds.of(TASK).shortened(TASK)
    assert isinstance(asked, Consolidate)
    assert [message.id for message in asked.window] == ["1", "2", "3"]
    assert [entry.id for entry in asked.memory] == ["abcd23", "abcd2x", "zzzz23"]
    few = replace(TASK, memory=MEMORY[1:])
    asked = ShortIds.of(few).shortened(few)
    assert isinstance(asked, Consolidate)
    assert [entry.id for entry in asked.memory] == ["abcd", "zzzz"]
    assert asked == replace(few, window=asked.window, memory=asked.memory)


def test_an_entry_is_never_named_by_a_number() -> None:
    """A model would take it for a message's."""
    memory = (KnownEntry("2345a234", "Facts", "tea"), KnownEntry("zzzz2345", "Facts", "milk"))
    few = replace(TASK, memory=memory)
    asked = ShortIds.of(few).shortened(few)
    assert isinstance(asked, Consolidate)
    assert [entry.id for entry in asked.memory] == ["2345a", "zzzz2"]


def test_one_text_in_two_sections_has_one_id() -> None:
    """An id is the text's: two that share it are shown with the same short one."""
    twice = Tidy(NOW, (MEMORY[0], replace(MEMORY[0], section="Preferences")), ())
    asked = ShortIds.of(twice).shortened(twice)
    assert isinstance(asked, Tidy)
    assert [entry.id for entry in asked.memory] == ["abcd", "abcd"]


def test_an_answer_has_the_true_ids_again() -> None:
    """Sources, what is replaced, what is over; and each deed of a tidying."""
    ids = ShortIds.of(TASK)
    got = ids.restored(
        Consolidated(
            (Learned(Kind.FACT, "Dana drinks tea", ("1", "3"), replaces=("abcd2x",)),),
            (Over("zzzz23", "gone"),),
            "Tea",
            (Bullet("Dana drank tea", ("2",)),),
        )
    )
    assert isinstance(got, Consolidated)
    assert got.learned[0].sources == (WINDOW[0].id, WINDOW[2].id)
    assert got.learned[0].replaces == ("abcd2x45",)
    assert got.over == (Over("zzzz2345", "gone"),)
    assert got.history == (Bullet("Dana drank tea", (WINDOW[1].id,)),)
    tidied = Tidied(
        (Merge(("abcd23", "abcd2x"), "tea and coffee"),),
        (Refile("zzzz23", Kind.LESSON),),
        (Over("zzzz23", "over"),),
        (Reword("abcd23", "t"),),
    )
    assert ShortIds.of(Tidy(NOW, MEMORY, ())).restored(tidied) == Tidied(
        (Merge(("abcd2345", "abcd2x45"), "tea and coffee"),),
        (Refile("zzzz2345", Kind.LESSON),),
        (Over("zzzz2345", "over"),),
        (Reword("abcd2345", "t"),),
    )


def test_other_tasks_stay_as_they_are() -> None:
    """A sheet names no message, so its window is numbered and its answer is as it was."""
    fold = Fold("2026-03", (("h1", "x"),))
    assert ShortIds.of(fold).shortened(fold) is fold
    sheet = Refresh(NOW, "", WINDOW)
    asked = ShortIds.of(sheet).shortened(sheet)
    assert isinstance(asked, Refresh)
    assert [message.id for message in asked.window] == ["1", "2", "3"]


@pytest.mark.anyio
async def test_a_model_reads_and_writes_short_ids_alone(
    books: Books, call: Callable[[float], Call]
) -> None:
    """Neither prompt nor schema has a platform's id; the answer names the true ones."""
    reply = answer(learned=[learnt(sources=["2"], replaces=["zzzz23"])])
    with OpenAIServer(lambda _: Reply(reply)) as server:
        got = await books.assistant(server.url).answer(TASK, call(20))
    [request] = server.requests
    assert "0000-0000" not in request.user + json.dumps(request.schema)
    assert isinstance(got, Consolidated)
    assert got.learned[0].sources == (WINDOW[1].id,)
    assert got.learned[0].replaces == ("zzzz2345",)
    assert got.history[0].sources == (WINDOW[0].id,)
