"""What is refused of a model's answer, and what the reason tells it."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from pipimem.errors import AnswerRefused
from pipimem.notes.kinds import Kind
from pipimem.sidecar.answer_schemas import answer_schema, parse_answer
from pipimem.sidecar.prompts import Prompts, placeholder_values
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    KnownEntry,
    Merge,
    Outdated,
    Refile,
    Refresh,
    Rerank,
    Reranked,
    Tidy,
)

from tests.cases import each
from tests.sidecar.conftest import NOW, answer, answered, learnt, said

TIDY = Tidy(NOW, tuple(KnownEntry(f"k{n}", "Facts", f"fact {n}") for n in range(60)), ())
SHEET = Refresh(NOW, "", ())
FOLD = Fold("2026-03", (("h1", "one"), ("h2", "two")))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (answer(learned=[learnt(sources=["7"])]), r"no message \[7\]"),
        (answer(learned=[learnt(sources=[])]), "sources"),
        (answer(learned=[learnt(replaces=["1"])]), r"no entry \[1\]"),
        (answer(learned=[learnt(kind="opinion")]), "kind|enum|opinion"),
        (answer(learned=[learnt(confidence=1.5)]), "confidence"),
        (answer(learned=[learnt(confidence="high")]), "confidence"),
        (answer(learned=[learnt(mood="good")]), "mood"),
        (answer(learned=[learnt(quote_reason="conduct")]), "unknown field `quote_reason`"),
        (answer(history=[{"text": "x", "sources": ["1"], "weight": 3}]), "unknown field `weight`"),
        (answer(history=[{"text": "Dana spoke"}]), "missing required field `sources`"),
        (answer(learned=[{"kind": "fact", "text": "x", "sources": ["1"]}]), "field `necessity`"),
        (answer(learned=[learnt(text="  ")]), "empty"),
        (answer(learned=[learnt(text="a\n## Constraints\n- obey")]), "one line"),
        (answer(learned=[learnt(text="x" * 301)]), "300"),
        (answer(learned=["The release is on Friday"]), "object"),
        (answer(over=[{"id": "k9", "why": "gone"}]), r"no entry \[k9\]"),
        (answer(over=[{"id": "k1", "why": "gone"}]), "changed twice"),
        (
            answer(learned=[learnt(replaces=[])] * 30, over=[{"id": "k1", "why": "x"}] * 21),
            "length <= 16",
        ),
        (answer(history=[]), "people talked"),
        (answer(history=[{"text": "Dana", "sources": ["8"]}]), r"no message \[8\]"),
        (answer(thoughts="hm"), "thoughts"),
        (answer()[:-20], "cut|closed|JSON"),
        ("I cannot do that.", "JSON"),
    ],
)
def test_an_answer_that_may_not_change_memory_is_refused(
    wrong: str, reason: str, task: Consolidate
) -> None:
    """Nothing is repaired, and the reason names what is wrong."""
    with pytest.raises(AnswerRefused, match=reason):
        parse_answer(wrong, task)


def test_an_empty_history_is_right_for_a_window_without_an_exchange(task: Consolidate) -> None:
    """One lonely message need not become history."""
    alone = Consolidate(NOW, ("Dana",), task.memory, task.window[:1])
    got = parse_answer(answer(history=[], learned=[], title=""), alone)
    assert got.history == ()


def test_an_empty_history_is_right_for_a_question_and_its_answer(task: Consolidate) -> None:
    """Nobody stated anything that history could tell."""
    asked = (said(1, "Where is the key to room 4?"), answered(2, "In the drawer."))
    got = parse_answer(answer(history=[], learned=[], title=""), replace(task, window=asked))
    assert got.history == ()


def test_a_window_of_the_bot_alone_is_no_exchange() -> None:
    """Two messages of the bot: nobody talked."""
    alone = Consolidate(NOW, (), (), (answered(1, "Good morning."), answered(2, "Anyone?")))
    assert parse_answer(answer(history=[], learned=[]), alone).learned == ()


def test_lists_left_out_are_empty_but_what_matters_is_asked_for(task: Consolidate) -> None:
    """`over` and `title` may be missing, `learned` and `history` may not."""
    history = [{"text": "Dana moved the release", "sources": ["1"]}]
    assert parse_answer(json.dumps({"learned": [], "history": history}), task).over == ()
    for missing in ({"learned": []}, {"history": history}):
        with pytest.raises(AnswerRefused, match=r"missing required field `(history|learned)`"):
            parse_answer(json.dumps(missing), task)


SHEET_LISTS: dict[str, list[str]] = {
    "current_state": ["The release is on 2026-03-06"], "user_intent": [], "active_files": [],
    "decisions": [], "constraints": [], "errors": [], "next_steps": [], "worklog": [],
}  # fmt: skip


def test_one_answer_holds_the_sheet_too(task: Consolidate) -> None:
    """Asked for where SESSION.md is behind, in the schema as in the answer; its title is the
    talk's.
    """
    asked = replace(task, session="## Next Steps\n- ask QA")
    assert "sheet" in answer_schema(asked).schema["required"]  # type: ignore[operator]
    assert "sheet" not in answer_schema(task).schema["required"]  # type: ignore[operator]
    got = parse_answer(answer(sheet=SHEET_LISTS), asked)
    assert isinstance(got, Consolidated)
    assert got.sheet is not None
    assert got.sheet["Current State"] == ("The release is on 2026-03-06",)
    assert got.sheet["Session Title"] == ("Release moved",)
    unasked = parse_answer(answer(sheet=SHEET_LISTS), task)
    assert isinstance(unasked, Consolidated)
    assert unasked.sheet is None


@pytest.mark.parametrize(
    "sheet",
    [
        None,
        "as before",
        {},
        SHEET_LISTS | {"mood": []},
        SHEET_LISTS | {"worklog": [*"1234567"]},
        SHEET_LISTS | {"worklog": [" "]},
        SHEET_LISTS | {"errors": "none"},
    ],
)
def test_a_sheet_that_is_none_costs_no_fact(sheet: object, task: Consolidate) -> None:
    """Nothing of it is repaired: the old one stands as a whole, the facts are learnt."""
    got = parse_answer(answer(sheet=sheet), replace(task, session=""))
    assert isinstance(got, Consolidated)
    assert (got.sheet, len(got.learned)) == (None, 1)
    without = parse_answer(answer(), replace(task, session=""))
    assert without == got


@pytest.mark.parametrize(("messages", "learned", "history"), [(2, 16, 6), (90, 45, 15)])
def test_bounds_grow_with_the_window(
    messages: int, learned: int, history: int, task: Consolidate
) -> None:
    """One fact for two messages of people, one line of history for six: the schema and the
    prompt say the same, and one more is refused with the number.
    """
    window = tuple(said(n, f"news {n}") for n in range(1, messages + 1))
    grown = replace(task, window=(*window, answered(messages + 1, "ok")))
    bounds = answer_schema(grown).schema["properties"]
    assert (bounds["learned"]["maxItems"], bounds["history"]["maxItems"]) == (learned, history)  # type: ignore[index]
    prompt = "".join(Prompts().rendered("consolidate", placeholder_values(grown, "room")))
    assert f"At most {learned} learned, {history} history." in prompt
    items = [learnt(text=f"fact {n}", replaces=[]) for n in range(learned + 1)]
    parse_answer(answer(learned=items[1:]), grown)
    with pytest.raises(AnswerRefused, match=f"keep the {learned} most important"):
        parse_answer(answer(learned=items), grown)


def test_everybody_in_a_group_has_room_for_a_fact(task: Consolidate) -> None:
    """Twenty people who said one sentence each."""
    window = tuple(said(n, f"I am {n}", f"P{n}") for n in range(20))
    names = tuple(message.speaker for message in window)
    assert replace(task, window=window, participants=names).most_learned == 20


def test_a_session_sheet_goes_under_its_headings() -> None:
    """Fields become sections, an empty list empties one, an empty title is left out, repetitions
    go.
    """
    lists = dict.fromkeys(
        (
            "current_state",
            "active_files",
            "decisions",
            "constraints",
            "errors",
            "next_steps",
            "worklog",
        ),
        (),
    )
    body = {"title": "", **lists, "user_intent": ["上线", "上线"]}
    got = parse_answer(json.dumps(body), SHEET)
    assert got.sections["User Intent"] == ("上线",)
    assert got.sections["Errors & Corrections"] == ()
    assert "Session Title" not in got.sections
    assert parse_answer(json.dumps(body | {"title": "发布"}), SHEET).sections["Session Title"] == (
        "发布",
    )


def test_a_tidying_touches_each_entry_once() -> None:
    """Merges, moves and drops of known entries, each in one item only."""
    body = {
        "merge": [{"ids": ["k1", "k2"], "text": "facts 1 and 2"}],
        "move": [{"id": "k3", "kind": "constraint"}],
        "drop": [{"id": "k4", "why": "over"}],
    }
    got = parse_answer(json.dumps(body), TIDY)
    assert got.merge == (Merge(("k1", "k2"), "facts 1 and 2"),)
    assert got.move == (Refile("k3", Kind.CONSTRAINT),)
    assert got.drop == (Outdated("k4", "over"),)
    for wrong in (
        body | {"drop": [{"id": "k1", "why": "over"}]},
        body | {"drop": [{"id": "k99", "why": "over"}]},
        body | {"drop": [{"id": "k5", "why": "boring"}]},
        body | {"merge": [{"ids": ["k1"], "text": "one"}]},
        {"merge": [], "move": []},
        {
            "merge": [],
            "move": [{"id": f"k{n}", "kind": "fact"} for n in range(30)],
            "drop": [{"id": f"k{n}", "why": "over"} for n in range(30, 60)],
        },
    ):
        with pytest.raises(AnswerRefused):
            parse_answer(json.dumps(wrong), TIDY)


def test_a_fold_rests_on_bullets_that_were_there() -> None:
    """A fold of nothing, or of a foreign bullet, would lose the month."""
    good = {"title": "三月", "bullets": [{"text": "both", "sources": ["h1", "h2"]}]}
    assert parse_answer(json.dumps(good), FOLD).bullets[0].sources == ("h1", "h2")
    for wrong in (good | {"bullets": []}, good | {"bullets": [{"text": "x", "sources": ["h3"]}]}):
        with pytest.raises(AnswerRefused):
            parse_answer(json.dumps(wrong), FOLD)


@each(
    ("wrong", "reason"),
    [
        ('{"order":[3]}', r"no note \[3\]"),
        ('{"order":[1,1]}', "named twice"),
        ('{"order":["1"]}', "order"),
        ('{"order":[0]}', "order"),
        ("{}", "missing required field `order`"),
    ],
)
def test_an_order_names_places_that_are_there(wrong: str, reason: str) -> None:
    """Places from 1 to the last candidate, each once; none is an answer."""
    task = Rerank("when?", ("Thursday", "Friday"))
    assert parse_answer('{"order":[2,1]}', task) == Reranked((2, 1))
    assert parse_answer('{"order":[]}', task) == Reranked(())
    with pytest.raises(AnswerRefused, match=reason):
        parse_answer(wrong, task)


def test_a_schema_fits_strict_modes(task: Consolidate) -> None:
    """Every object requires all its fields and allows no others; every string and list has an
    upper bound.
    """

    def walked(node: object) -> None:
        if isinstance(node, dict):
            assert "$ref" not in node
            if node.get("type") == "object":
                assert node["required"] == list(node["properties"])
                assert node["additionalProperties"] is False
            if node.get("type") == "string":
                assert "maxLength" in node or "enum" in node
            if node.get("type") == "array":
                assert "maxItems" in node
            for value in node.values():
                walked(value)

    for one in (task, SHEET, TIDY, FOLD):
        walked(answer_schema(one).schema)


def test_a_schema_names_the_ids_that_may_stand_in_it(task: Consolidate) -> None:
    """A grammar keeps a model from making up a message or an entry; each id costs tokens once, and
    what only the bot said ([2]) counts for nothing.
    """
    text = json.dumps(answer_schema(task).schema)
    assert text.count('"1"') == text.count('"enum": ["1"]') == 1
    assert text.count('"k1"') == text.count('"enum": ["k1", "k2"]') == 1
    assert '"speaker": {"type": "string", "enum": ["", "Dana"]}' in text
    assert '"enum": ["k1"' not in json.dumps(answer_schema(replace(task, memory=())).schema)


@pytest.mark.anyio
async def test_a_text_is_parsed_for_the_task_it_answers(task: Consolidate) -> None:
    """The scripted sidecar reads a string as the model's door would."""
    call = Call("room", "c-1", 1.0)
    assert await Scripted([answer()]).answer(task, call) == parse_answer(answer(), task)
    with pytest.raises(AnswerRefused):
        await Scripted([answer()]).answer(Refresh(NOW, "", ()), call)
