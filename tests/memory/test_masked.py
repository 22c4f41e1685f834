"""Nothing from a sentence of which a secret was masked is learnt, whoever words it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.memory.consolidate import consolidate
from pipimem.memory.masked import rests_on_masked
from pipimem.memory.refresh import refresh
from pipimem.memory.window import Window
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, AddBlock, SetSection
from pipimem.sidecar.rules import Offline
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Consolidated, HistoryItem, Learned, Refreshed

from tests.cases import each
from tests.notes.building import NOW, notes_of

pytestmark = pytest.mark.anyio
CALL = Call("dev", "c1", 20)
SINCE = NOW - timedelta(hours=2)
LATER = NOW - timedelta(hours=1)


def said(*contents: str) -> Window:
    messages = tuple(
        Message(
            "user" if number % 2 else "assistant", text, f"m{number}", LATER, "Dana", "", number
        )
        for number, text in enumerate(contents, start=1)
    )
    return Window(messages, 1, len(messages))


def learnt(text: str, *sources: str) -> Learned:
    return Learned(Kind.FACT, text, sources)


MIXED = said("Staging moved to Frankfurt. The staging password is [secret:password].", "noted")
ONLY = said("the staging password is [secret:password]", "noted, I will keep it safe")


@each(
    "text",
    [
        "the staging password is [secret:password]",
        "the staging password is hunter2x",
        "Dana told the staging password",
        "The staging password is known to Dana",
    ],
)
def test_what_says_a_masked_sentence_rests_on_it(text: str) -> None:
    """With the mark, with a secret of its own, or in other words."""
    assert rests_on_masked(text, MIXED.messages[:1])


@each("text", ["Staging moved to Frankfurt", "staging stands in Frankfurt now"])
def test_what_says_the_sentence_beside_it_does_not(text: str) -> None:
    """The rest of a message is learnt as any other."""
    assert not rests_on_masked(text, MIXED.messages[:1])


def test_where_all_was_masked_nothing_can_rest_on_anything_else() -> None:
    """However a model words it."""
    assert rests_on_masked("Dana shared credentials for an environment", ONLY.messages[:1])


async def test_a_models_answer_loses_title_entry_and_bullet_of_a_masked_sentence() -> None:
    """A password stood in the title of a block; what was said beside it is kept."""
    answer = Consolidated(
        title="the staging password",
        learned=(
            learnt("Staging moved to Frankfurt", "m1"),
            learnt("The staging password is known to Dana", "m1"),
        ),
        history=(
            HistoryItem("Dana gave the staging password", ("m1",)),
            HistoryItem("Dana said that staging moved to Frankfurt", ("m1",)),
        ),
        sheet={"Current State": ("the staging password is set", "staging is in Frankfurt")},
    )
    decision = await consolidate(
        Scripted([answer]), notes_of(ledger=Ledger()), MIXED, NOW, CALL, since=SINCE, today=NOW
    )
    blocks = [op for op in decision.operations if isinstance(op, AddBlock)]
    assert [op.text for op in decision.operations if isinstance(op, Add)] == [
        "Staging moved to Frankfurt"
    ]
    assert [op.title for op in blocks] == [""]
    assert [bullet.text for block in blocks for bullet in block.bullets] == [
        "Dana said that staging moved to Frankfurt"
    ]
    lines = [op.items for op in decision.operations if isinstance(op, SetSection)]
    assert lines == [("staging is in Frankfurt",)]
    assert [(item.reason, item.text, item.sources) for item in decision.left_out] == [
        ("rests on a sentence of which a secret was masked", "", ("m1",))
    ] * 2


@pytest.mark.parametrize("assistant", ["model", "offline"])
async def test_a_window_of_nothing_else_yields_nothing(assistant: str) -> None:
    """The cursor moves past it, and nobody is asked again for a bullet."""
    answer = Consolidated(
        title="credentials", history=(HistoryItem("Dana shared credentials for staging", ("m1",)),)
    )
    asked = Scripted([answer]) if assistant == "model" else Offline()
    decision = await consolidate(
        asked, notes_of(ledger=Ledger()), ONLY, NOW, CALL, since=SINCE, today=NOW
    )
    written = [op for op in decision.operations if isinstance(op, Add | AddBlock)]
    assert written == []
    assert decision.progress.cursor == 2


async def test_a_sheet_has_no_line_of_a_masked_sentence() -> None:
    """SESSION.md is refreshed by the same rule."""
    answer = Refreshed({"Current State": ("the staging password is set", "staging in Frankfurt")})
    decision = await refresh(Scripted([answer]), notes_of(ledger=Ledger()), MIXED, NOW, CALL)
    assert decision.operations == (SetSection("Current State", ("staging in Frankfurt",)),)


PRIVATE = said("I earn [PRIVATE] at the bakery, and staging moved to Frankfurt", "noted")


async def test_no_marker_of_what_was_private_comes_into_what_a_model_writes() -> None:
    """Title, entry, bullet and line of the sheet; a refused bullet asks for no second answer."""
    answer = Consolidated(
        title="Dana earns [PRIVATE]",
        learned=(learnt("Dana earns [PRIVATE]", "m1"),),
        history=(HistoryItem("Dana told that she earns [PRIVATE]", ("m1",)),),
        sheet={"Current State": ("Dana earns [REDACTED]", "staging is in Frankfurt")},
    )
    decision = await consolidate(
        Scripted([answer]), notes_of(ledger=Ledger()), PRIVATE, NOW, CALL, since=SINCE, today=NOW
    )
    assert decision.operations == (SetSection("Current State", ("staging is in Frankfurt",)),)
    assert [(item.reason, item.text) for item in decision.left_out] == [
        ("says that something was private", "")
    ] * 2


async def test_no_title_has_the_marker_of_what_was_private() -> None:
    """The bullets beside it stay."""
    answer = Consolidated(title="[PRIVATE]", history=(HistoryItem("Staging moved", ("m1",)),))
    decision = await consolidate(
        Scripted([answer]), notes_of(ledger=Ledger()), PRIVATE, NOW, CALL, since=SINCE, today=NOW
    )
    (block,) = [op for op in decision.operations if isinstance(op, AddBlock)]
    assert (block.title, [one.text for one in block.bullets]) == ("", ["Staging moved"])


async def test_a_refreshed_sheet_has_no_marker_of_what_was_private() -> None:
    """SESSION.md is refreshed by the same rule."""
    answer = Refreshed({"Current State": ("Dana earns [PRIVATE]", "staging in Frankfurt")})
    decision = await refresh(Scripted([answer]), notes_of(ledger=Ledger()), PRIVATE, NOW, CALL)
    assert decision.operations == (SetSection("Current State", ("staging in Frankfurt",)),)
