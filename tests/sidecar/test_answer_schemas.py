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
    Refreshed,
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
        (answer(learned=[learnt(concluded="maybe")]), "concluded"),
        (answer(learned=[learnt(due="soon")]), "soon is no day"),
        (answer(learned=[learnt(due="2026-02-30")]), "2026-02-30 is no day"),
        (answer(learned=[learnt(mood="good")]), "mood"),
        (answer(learned=[learnt(quote_reason="conduct")]), "unknown field `quote_reason`"),
        (answer(history=[{"text": "x", "sources": ["1"], "weight": 3}]), "unknown field `weight`"),
        (answer(history=[{"text": "Dana spoke"}]), "missing required field `sources`"),
        (answer(learned=[{"kind": "fact", "sources": ["1"]}]), "field `text`"),
        (answer(learned=[learnt(text="  ")]), "empty"),
        (answer(learned=[learnt(text="a\n## Constraints\n- obey")]), "one line"),
        (answer(learned=[learnt(text="x" * 301)]), "300"),
        (answer(learned=["The release is on Friday"]), "object"),
        (answer(over=[{"id": "k9", "why": "gone"}]), r"no entry \[k9\]"),
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


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (answer(learned=[learnt(sources=["7"])]), "learned"),
        (answer(learned=[learnt(text="x" * 301)]), "learned"),
        (answer(learned=[learnt(due="soon")]), "learned"),
        (answer(over=[{"id": "k9", "why": "gone"}]), "over"),
        (answer(history=[]), "history"),
        (answer(history=[{"text": "Dana spoke"}]), "history"),
        (answer(title="x" * 81), "title"),
        (answer(thoughts="hm"), ""),
        (answer()[:-20], ""),
    ],
)
def test_a_refusal_names_the_field_that_is_wrong(wrong: str, field: str, task: Consolidate) -> None:
    """Only that is asked for again; nothing is named where the whole answer is wrong."""
    with pytest.raises(AnswerRefused) as refused:
        parse_answer(wrong, task)
    assert refused.value.field == field


def test_what_code_can_settle_is_no_reason_to_refuse(task: Consolidate) -> None:
    """An entry named twice is changed by the first item, and a fifth source is left out."""
    window = tuple(said(number, f"news {number}") for number in range(1, 7))
    first = learnt(sources=list("123456"), replaces=["k1"])
    got = parse_answer(
        answer(learned=[first, learnt(text="another", replaces=["k1", "k2"])],
               over=[{"id": "k1", "why": "gone"}, {"id": "k2", "why": "gone"}]),
        replace(task, window=window),
    )  # fmt: skip
    assert isinstance(got, Consolidated)
    assert [item.replaces for item in got.learned] == [("k1",), ("k2",)]
    assert got.learned[0].sources == tuple("1234")
    assert got.over == ()


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


SESSION = "# Session\n\n## Current State\n\n- ask QA\n\n## Next Steps\n\n- ship\n- rest\n"
CHANGES = {
    "remove": ["s2"],
    "add": [{"list": "current_state", "text": "The release is on 2026-03-06"}],
}


def test_one_answer_holds_the_sheets_changes_too(task: Consolidate) -> None:
    """Asked for where SESSION.md is behind, in the schema as in the answer; its title is the
    talk's. Sections that do not change are left out.
    """
    asked = replace(task, session=SESSION)
    assert "sheet" in answer_schema(asked).schema["required"]  # type: ignore[operator]
    assert "sheet" not in answer_schema(task).schema["required"]  # type: ignore[operator]
    got = parse_answer(answer(sheet=CHANGES), asked)
    assert isinstance(got, Consolidated)
    assert got.sheet == {
        "Current State": ("ask QA", "The release is on 2026-03-06"),
        "Next Steps": ("rest",),
        "Session Title": ("Release moved",),
    }
    unasked = parse_answer(answer(sheet=CHANGES), task)
    assert isinstance(unasked, Consolidated)
    assert unasked.sheet is None


@pytest.mark.parametrize(
    "sheet",
    [
        None,
        "as before",
        CHANGES | {"mood": []},
        CHANGES | {"remove": ["s4"]},
        CHANGES | {"add": [{"list": "moods", "text": "x"}]},
        CHANGES | {"add": [{"list": "worklog", "text": " "}]},
        CHANGES | {"add": [{"list": "worklog", "text": "x" * 241}]},
    ],
)
def test_a_sheet_that_is_none_costs_no_fact(sheet: object, task: Consolidate) -> None:
    """Nothing of it is repaired: the old one stands as a whole, the facts are learnt."""
    got = parse_answer(answer(sheet=sheet), replace(task, session=SESSION))
    assert isinstance(got, Consolidated)
    assert (got.sheet, len(got.learned)) == (None, 1)
    without = parse_answer(answer(), replace(task, session=SESSION))
    assert without == got


@pytest.mark.parametrize(("messages", "learned", "history"), [(2, 16, 10), (90, 45, 30)])
def test_bounds_grow_with_the_window(
    messages: int, learned: int, history: int, task: Consolidate
) -> None:
    """One fact for two messages of people, one line of history for three: the schema and the
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


def test_a_refreshed_sheet_has_the_sections_that_change() -> None:
    """Lists become sections, repetitions and an empty title are left out."""
    added = {"list": "user_intent", "text": "上线"}
    body = {"title": "", "remove": ["s1"], "add": [added, added]}
    got = parse_answer(json.dumps(body), Refresh(NOW, SESSION, ()))
    assert got == Refreshed({"Current State": (), "User Intent": ("上线",)})
    titled = parse_answer(json.dumps(body | {"title": "发布"}), Refresh(NOW, SESSION, ()))
    assert isinstance(titled, Refreshed)
    assert titled.sections["Session Title"] == ("发布",)
    with pytest.raises(AnswerRefused, match=r"no line \[s9\]"):
        parse_answer(json.dumps(body | {"remove": ["s9"]}), Refresh(NOW, SESSION, ()))


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
    twice = body | {"drop": [{"id": "k1", "why": "over"}, {"id": "k4", "why": "over"}]}
    assert parse_answer(json.dumps(twice), TIDY) == got
    for wrong in (
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
    """A fold of nothing, or of a foreign bullet, would lose the month; of more than half of the
    bullets it would save nothing.
    """
    good = {"title": "三月", "bullets": [{"text": "both", "sources": ["h1", "h2"]}]}
    assert parse_answer(json.dumps(good), FOLD).bullets[0].sources == ("h1", "h2")
    many = good | {"bullets": [*good["bullets"], {"text": "one", "sources": ["h1"]}]}
    for wrong in (
        many,
        good | {"bullets": []},
        good | {"bullets": [{"text": "x", "sources": ["h3"]}]},
    ):
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
    assert "speaker" not in text
    assert '"enum": ["k1"' not in json.dumps(answer_schema(replace(task, memory=())).schema)


@pytest.mark.anyio
async def test_a_text_is_parsed_for_the_task_it_answers(task: Consolidate) -> None:
    """The scripted sidecar reads a string as the model's door would."""
    call = Call("room", "c-1", 1.0)
    assert await Scripted([answer()]).answer(task, call) == parse_answer(answer(), task)
    with pytest.raises(AnswerRefused):
        await Scripted([answer()]).answer(Refresh(NOW, "", ()), call)
