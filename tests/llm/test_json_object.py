"""One whole JSON object comes out of a model's answer, or a reason why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import AnswerRefused
from pipimem.llm import json_object
from pipimem.llm.json_object import extract_json

from tests.cases import each

OBJECT = '{"learned": [{"text": "用 pnpm <think>", "n": 1.5}], "title": "a {b} }"}'


@each(
    "answer",
    [
        OBJECT,
        f"\n  {OBJECT}\n",
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```",
        f"```json\n{OBJECT}",
        f"Here it is: {OBJECT} Hope it helps.",
        f"<think>draft</think>{OBJECT}",
        f'<think>one {{"a": 1}}</think>\n<think>two</think>\n```json\n{OBJECT}\n```',
        f"<THINK>outer <think>inner</think> more {{</THINK> {OBJECT}",
        f"<thinking>hm</thinking>{OBJECT}",
        f"the opening tag is missing {OBJECT} but closed</think>{OBJECT}",
        f"no opening tag, only a draft {{… }}\n</think>\n{OBJECT}",
        f"{OBJECT}<think>was that right?</think>",
        f"[1] as asked: {OBJECT}",
    ],
)
def test_the_object_is_found(answer):
    """Plain, fenced, after thinking, among prose; its exact text comes back."""
    assert extract_json(answer) == OBJECT


@each(
    ("answer", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot do that.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('[{"a": 1}]', "a list"),
        ('[1, {"a": 1}]', "a list"),
        ("<think>let me see {", "not closed"),
        (f"<think>a <think> b</think>{OBJECT}", "not closed"),
        (f"{OBJECT}<think>hm", "not closed"),
        ('<think>{"a": 1}</think>', "no JSON object"),
        (f"{OBJECT}</think>", "no JSON object"),
        (f"{OBJECT}{OBJECT}", "more than one"),
        (f"first {OBJECT} then {OBJECT}", "more than one"),
        ('{"a": "b', "cut off"),
        ('{"a": [1, 2', "cut off"),
        ('{"a":', "cut off"),
        ('{"a": 1,', "cut off"),
        ("{", "cut off"),
        ('{"a": "x </think> {}', "cut off"),
        ('```json\n{"a": [1,\n```', "cut off"),
        ('{"a": 1,}', "comma"),
        ('{"a": [1,]}', "comma"),
        ("{'a': 1}", "single quotes"),
        ("{\"a\": 'b'}", "single quotes"),
        ('{// note\n"a": 1}', "comment"),
        ('{"a": 1 /* one */}', "comment"),
        ('{"a": 1 # one\n}', "comment"),
        ("{a: 1}", "without quotes"),
        ("{“a”: 1}", "curly quotes"),
        ('{"a": 1} }', "bracket too many"),
        ('{"a": 1 "b": 2}', "not JSON"),
        ('{"a": "x\ny"}', "control character"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"x": {"b": 1, "b": 1}}', "'b' stands twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "1e999"),
        ('{"a": "\\ud83d"}', "half a character"),
        ('{"a":' * 100_000, "deep|cut"),
    ],
)
def test_anything_else_is_refused(answer, why):
    """The refusal says why, so that the model can do better."""
    with pytest.raises(AnswerRefused, match=why):
        extract_json(answer)


def test_a_pair_of_escapes_is_one_character():
    """An emoji written as two escapes is fine."""
    assert extract_json('{"a": "\\ud83d\\ude00"}') == '{"a": "\\ud83d\\ude00"}'


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_any_object_comes_back_whole(value):
    """What json.dumps writes is found in a fence, after thinking, byte for byte."""
    text = json.dumps(value, indent=2)
    assert extract_json(f"<think>hm</think>\n```json\n{text}\n```") == text


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_a_cut_object_is_never_accepted(value, data):
    """However an answer is cut, it is refused."""
    text = json.dumps(value)
    with pytest.raises(AnswerRefused):
        extract_json(text[: data.draw(st.integers(0, len(text) - 1))])


def test_an_endless_answer_is_not_looked_at():
    """No task has so long an answer, whatever was thought before it."""
    with pytest.raises(AnswerRefused, match="the answer has 4000001 characters"):
        extract_json(OBJECT.ljust(json_object.LONGEST + 1))
    assert extract_json(OBJECT.ljust(json_object.LONGEST)) == OBJECT


def test_what_looks_like_an_object_in_thinking_is_tried_so_often(monkeypatch):
    """Each try reads the answer up to there: 30,000 of them took seconds."""
    tries = []
    end_of = json_object._object_end

    def counted(answer, start):
        tries.append(start)
        return end_of(answer, start)

    monkeypatch.setattr(json_object, "_object_end", counted)
    assert extract_json("{draft\n</think>\n" * 10 + OBJECT) == OBJECT
    tries.clear()
    with pytest.raises(AnswerRefused, match="not JSON"):
        extract_json("{draft\n</think>\n" * 1_000 + OBJECT)
    assert len(tries) < 50
