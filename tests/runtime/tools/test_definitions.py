"""The tools as providers take them."""

from __future__ import annotations

import pytest
from pipimem.errors import ArgumentError, NothingFound
from pipimem.resources import tool_texts
from pipimem.runtime.tools.definitions import (
    LANGUAGES,
    SHAPES,
    TOOLS,
    Tool,
    definitions,
    tool_named,
)

from tests.cases import each

NAMES = ["memory_search", "memory_save", "memory_update", "memory_forget", "memory_feedback"]


@each("language", LANGUAGES)
@each("tool", TOOLS.values())
def test_each_tool_and_argument_is_described(tool: Tool, language: str) -> None:
    """In both languages; nothing is described that is no argument."""
    words = tool_texts(language)[tool.name]
    assert set(words) == {"about", *(parameter.name for parameter in tool.parameters)}
    assert all(text.strip() for text in words.values())


@each("shape", SHAPES)
def test_both_shapes_have_the_same_schema(shape: str) -> None:
    """Only the place differs where a provider looks for it."""
    written = definitions(shape, "en")
    if shape == "openai":
        assert {one["type"] for one in written} == {"function"}
        written = [one["function"] for one in written]
    schemas = [one["parameters" if shape == "openai" else "input_schema"] for one in written]
    assert [one["name"] for one in written] == NAMES
    assert schemas == [one["input_schema"] for one in definitions("anthropic", "en")]
    assert all(schema["additionalProperties"] is False for schema in schemas)


def test_several_calls_in_one_need_nothing_outside() -> None:
    """What one call needs each of the items needs; the conversation stands outside."""
    save = definitions("anthropic", "en", with_channel=True)[1]["input_schema"]
    item = save["properties"]["items"]["items"]
    assert save["required"] == ["channel"]
    assert item["required"] == ["text"]
    assert "channel" not in item["properties"]
    assert "items" not in item["properties"]


def test_a_conversation_of_its_own_is_not_named() -> None:
    """The tools of one channel take none; those of a workspace need it."""
    for alone, named in zip(
        definitions("anthropic"), definitions("anthropic", with_channel=True), strict=True
    ):
        assert "channel" not in alone["input_schema"]["properties"]
        assert "channel" in named["input_schema"]["required"]


def test_an_alias_is_the_same_tool() -> None:
    """Another name is told which there are."""
    assert tool_named("extract_memory") is TOOLS["memory_save"]
    with pytest.raises(NothingFound, match="memory_search, memory_save"):
        tool_named("memory_erase")


def test_a_shape_and_a_language_that_are_none_are_refused() -> None:
    """In a sentence."""
    with pytest.raises(ArgumentError, match="shape must be openai or anthropic"):
        definitions("gemini")
    with pytest.raises(ArgumentError, match="language must be en or zh"):
        definitions("openai", "fr")
