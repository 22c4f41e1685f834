"""What a model gives a tool is taken as it is or refused, never in part."""

from __future__ import annotations

from typing import Any

import pytest
from pipimem.errors import ArgumentError
from pipimem.runtime.tools.arguments import calls_in, checked, checked_item
from pipimem.runtime.tools.definitions import tool_named

from tests.cases import each


@each(
    ("name", "given"),
    [
        ("memory_search", {"query": "port", "count": 3, "where": "log"}),
        ("memory_search", {"ids": ["memory:ab12"]}),
        ("memory_save", {"text": "Dana likes tea", "kind": "preference", "tags": ["tea"]}),
        ("memory_save", {"items": [{"text": "a"}, {"text": "b"}]}),
        ("memory_update", {"id": "memory:ab12", "text": "b"}),
        ("memory_forget", {"query": "port"}),
        ("memory_feedback", {"id": "memory:ab12", "helpful": False}),
    ],
)
def test_what_fits_is_taken_as_it_is(name: str, given: dict[str, Any]) -> None:
    """Null counts as left out, as models write it."""
    assert checked(tool_named(name), given) == given
    assert checked(tool_named(name), {**given, "speaker": None, "nonsense": None}) == given


@each(
    ("name", "given", "told"),
    [
        ("memory_save", {}, "'text' is missing"),
        ("memory_save", {"text": "a", "importance": 5}, "there is no argument 'importance'"),
        ("memory_save", {"text": ["a"]}, "'text' must be a text"),
        ("memory_save", {"text": "a", "tags": "b"}, "'tags' must be a list of at most 50 texts"),
        (
            "memory_save",
            {"text": "a", "kind": "rule"},
            "'kind' must be one of identity, wish, health, fact",
        ),
        ("memory_save", {"text": "a", "items": [{"text": "b"}]}, "nothing else is given: text"),
        ("memory_save", {"items": []}, "'items' must be a list of 1 to 50 objects"),
        ("memory_save", {"items": ["a"]}, "'items' must be a list of 1 to 50 objects"),
        ("memory_search", {}, "give exactly one of query, around, ids"),
        ("memory_search", {"query": "a", "ids": ["b"]}, "give exactly one of query, around, ids"),
        ("memory_search", {"query": "a", "count": 0}, "'count' must be a whole number from 1 on"),
        ("memory_search", {"query": "a", "count": True}, "'count' must be a whole number"),
        ("memory_save", {"text": "a" * 2_001}, "'text' must be a text of at most 2000"),
        ("memory_feedback", {"id": "a", "helpful": "no"}, "'helpful' must be true or false"),
        ("memory_feedback", {"helpful": True}, "'id' is missing"),
    ],
)
def test_what_does_not_fit_is_told(name: str, given: dict[str, Any], told: str) -> None:
    """With the name of the argument, and what the tool takes."""
    with pytest.raises(ArgumentError, match=told) as refused:
        checked(tool_named(name), given)
    assert "It takes " in str(refused.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    """A model mends it in one step."""
    with pytest.raises(ArgumentError) as refused:
        checked(tool_named("memory_update"), {"text": 3, "entry": "ab12"})
    for told in ("no argument 'entry'", "'text' must be a text", "'id' is missing"):
        assert told in str(refused.value)


def test_arguments_may_come_as_json() -> None:
    """As providers hand on what the model wrote; an empty text is no arguments."""
    search = tool_named("memory_search")
    assert checked(search, '{"query": "端口"}') == {"query": "端口"}
    assert checked(search, '{"query": "tea \\ud83d"}') == {"query": "tea \ufffd"}
    for broken, told in (
        ("{query", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "one JSON object"),
        ("", "exactly one"),
    ):
        with pytest.raises(ArgumentError, match=told):
            checked(search, broken)


def test_the_conversation_is_told_where_tools_are_of_all() -> None:
    """Beside items too; where they are of one it is an unknown argument."""
    of_all = tool_named("memory_save", with_channel=True)
    assert checked(of_all, {"channel": "room", "items": [{"text": "a"}]})["channel"] == "room"
    with pytest.raises(ArgumentError, match="'channel' is missing"):
        checked(of_all, {"items": [{"text": "a"}]})
    with pytest.raises(ArgumentError, match="there is no argument 'channel'"):
        checked(tool_named("memory_save"), {"channel": "room", "text": "a"})


def test_each_of_several_calls_is_checked_by_itself() -> None:
    """One that is wrong does not take the others with it."""
    save = tool_named("memory_save")
    first, second = calls_in(checked(save, {"items": [{"text": "a"}, {"txt": "b"}]}))
    assert checked_item(save, first) == {"text": "a"}
    with pytest.raises(ArgumentError, match="no argument 'txt'; 'text' is missing"):
        checked_item(save, second)
