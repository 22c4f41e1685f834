"""Short ids in what a model is sent, and the true ones in its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

import pytest
from msgspec.structs import replace
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.sidecar.answer_schemas import parse_answer
from pipimem.sidecar.model import with_short_ids
from pipimem.sidecar.tasks import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    HistoryItem,
    KnownEntry,
    Merge,
    Outdated,
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
    asked, _ = with_short_ids(TASK)
    assert isinstance(asked, Consolidate)
    assert [message.id for message in asked.window] == ["1", "2", "3"]
    assert [entry.id for entry in asked.memory] == ["abcd23", "abcd2x", "zzzz23"]
    few = replace(TASK, memory=MEMORY[1:])
    asked, _ = with_short_ids(few)
    assert isinstance(asked, Consolidate)
    assert [entry.id for entry in asked.memory] == ["abcd", "zzzz"]
    assert asked == replace(few, window=asked.window, memory=asked.memory)


def test_an_entry_is_never_named_by_a_number() -> None:
    """A model would take it for a message's."""
    memory = (KnownEntry("2345a234", "Facts", "tea"), KnownEntry("zzzz2345", "Facts", "milk"))
    few = replace(TASK, memory=memory)
    asked, _ = with_short_ids(few)
    assert isinstance(asked, Consolidate)
    assert [entry.id for entry in asked.memory] == ["2345a", "zzzz2"]


def test_one_text_in_two_sections_has_one_id() -> None:
    """An id is the text's: two that share it are shown with the same short one."""
    twice = Tidy(NOW, (MEMORY[0], replace(MEMORY[0], section="Preferences")), ())
    asked, _ = with_short_ids(twice)
    assert isinstance(asked, Tidy)
    assert [entry.id for entry in asked.memory] == ["abcd", "abcd"]


def test_an_answer_has_the_true_ids_again() -> None:
    """Sources, what is replaced, what is over; and each deed of a tidying."""
    asked, true_ids = with_short_ids(TASK)
    said = answer(
        learned=[learnt(sources=["1", "3"], replaces=["abcd2x"])],
        over=[{"id": "zzzz23", "why": "gone"}],
        history=[{"text": "Dana drank tea", "sources": ["2"]}],
    )
    got = parse_answer(said, asked, true_ids)
    assert isinstance(got, Consolidated)
    assert got.learned[0].sources == (WINDOW[0].id, WINDOW[2].id)
    assert got.learned[0].replaces == ("abcd2x45",)
    assert got.over == (Outdated("zzzz2345", "gone"),)
    assert got.history == (HistoryItem("Dana drank tea", (WINDOW[1].id,)),)
    tidy = Tidy(NOW, (*MEMORY, KnownEntry("mmmm2345", "Facts", "a cup of tea")), ())
    asked, true_ids = with_short_ids(tidy)
    body = {
        "merge": [{"ids": ["abcd23", "abcd2x"], "text": "tea and coffee"}],
        "move": [{"id": "zzzz23", "kind": "lesson"}],
        "drop": [],
        "reword": [{"id": "mmmm23", "text": "t"}],
    }
    assert parse_answer(json.dumps(body), asked, true_ids) == Tidied(
        (Merge(("abcd2345", "abcd2x45"), "tea and coffee"),),
        (Refile("zzzz2345", Kind.LESSON),),
        (),
        (Reword("mmmm2345", "t"),),
    )
    dropped = json.dumps(body | {"merge": [], "drop": [{"id": "abcd2x", "why": "over"}]})
    got = parse_answer(dropped, asked, true_ids)
    assert isinstance(got, Tidied)
    assert got.drop == (Outdated("abcd2x45", "over"),)


def test_other_tasks_stay_as_they_are() -> None:
    """A sheet names no message, so its window is numbered and its answer is as it was."""
    fold = Fold("2026-03", (("h1", "x"),))
    assert with_short_ids(fold) == (fold, {})
    sheet = Refresh(NOW, "", WINDOW)
    asked, _ = with_short_ids(sheet)
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
