"""Which tools there are, what they take, and how providers want that written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import NothingFound, require_one_of
from pipimem.notes.kinds import Kind
from pipimem.resources import tool_texts

Shape = Literal["openai", "anthropic"]
Language = Literal["en", "zh"]
SHAPES, LANGUAGES = get_args(Shape), get_args(Language)
CHANNEL = "channel"
# Other names under which models know a tool.
ALIASES = {"extract_memory": "memory_save"}


class Type(StrEnum):
    """The JSON type of an argument."""

    TEXT = "string"
    COUNT = "integer"
    FLAG = "boolean"
    TEXTS = "array"
    ITEMS = "items"  # several calls in one, each with the tool's other arguments


class Parameter(Struct, frozen=True):
    """One argument of a tool. `required` counts outside of `items` as well as in each of them."""

    name: str
    type: Type = Type.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()


class Tool(Struct, frozen=True):
    """One tool: its arguments, and what a call does to memory.

    `needs_one_of` are names of which a call gives exactly one. With `idempotent` a second call with
    the same arguments changes nothing.
    """

    name: str
    parameters: tuple[Parameter, ...]
    needs_one_of: tuple[str, ...] = ()
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = True

    @property
    def takes_items(self) -> bool:
        """Whether several calls may be given in one."""
        return any(parameter.type is Type.ITEMS for parameter in self.parameters)


_KIND = Parameter("kind", choices=tuple(str(kind) for kind in Kind))
_ITEMS = Parameter("items", Type.ITEMS)
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "memory_search",
            (
                Parameter("query"),
                Parameter("around"),
                Parameter("ids", Type.TEXTS),
                Parameter("count", Type.COUNT),
                Parameter("where", choices=("all", "notes", "log")),
                Parameter("after"),
                Parameter("before"),
                Parameter("speaker"),
            ),
            needs_one_of=("query", "around", "ids"),
            reads_only=True,
        ),
        Tool(
            "memory_save",
            (
                Parameter("text", required=True),
                _KIND,
                Parameter("title"),
                Parameter("tags", Type.TEXTS),
                Parameter("speaker"),
                Parameter("until"),
                Parameter("supersedes", Type.TEXTS),
                _ITEMS,
            ),
        ),
        Tool(
            "memory_update",
            (
                Parameter("id", required=True),
                Parameter("text", required=True),
                _KIND,
                _ITEMS,
            ),
            destructive=True,
        ),
        Tool(
            "memory_forget",
            (Parameter("query"), Parameter("ids", Type.TEXTS)),
            needs_one_of=("query", "ids"),
            destructive=True,
        ),
        Tool(
            "memory_feedback",
            (
                Parameter("id", required=True),
                Parameter("helpful", Type.FLAG, required=True),
                _ITEMS,
            ),
            idempotent=False,  # its probation begins anew
        ),
    )
}


def tool_named(name: str, *, with_channel: bool = False) -> Tool:
    """The tool of a name or of an alias; `with_channel` it takes the id of a conversation too.

    Raises `NothingFound` for another name.
    """
    tool = TOOLS.get(ALIASES.get(name, name))
    if tool is None:
        raise NothingFound(f"There is no tool {name!r}. There are {', '.join(TOOLS)}.")
    if not with_channel:
        return tool
    return replace(tool, parameters=(Parameter(CHANNEL, required=True), *tool.parameters))


def definitions(
    shape: str = "openai", language: str = "en", *, with_channel: bool = False
) -> list[dict[str, Any]]:
    """All tools as a provider takes them.

    Raises `ArgumentError` for an unknown shape or language.
    """
    require_one_of(shape, SHAPES, "shape")
    require_one_of(language, LANGUAGES, "language")
    texts = tool_texts(language)
    return [_written(tool_named(name, with_channel=with_channel), texts, shape) for name in TOOLS]


def _written(tool: Tool, texts: Mapping[str, Mapping[str, str]], shape: str) -> dict[str, Any]:
    words = {**texts["shared"], **texts[tool.name]}
    schema = schema_of(tool, words)
    if shape == "anthropic":
        return {"name": tool.name, "description": words["about"], "input_schema": schema}
    function = {"name": tool.name, "description": words["about"], "parameters": schema}
    return {"type": "function", "function": function}


def schema_of(tool: Tool, words: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of a call's arguments; `words` describe them by their names."""
    single = [one for one in tool.parameters if one.type is not Type.ITEMS]
    if not tool.takes_items:
        return _object(single, words)
    # Either one call or several: what each needs is needed of none outside.
    schema = _object(single, words)
    schema["properties"]["items"] = {
        "type": "array",
        "items": _object([one for one in single if one.name != CHANNEL], words),
        "minItems": 1,
        "description": words["items"],
    }
    schema["required"] = [name for name in schema["required"] if name == CHANNEL]
    return schema


def _object(parameters: Sequence[Parameter], words: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {one.name: _property(one, words) for one in parameters},
        "required": [one.name for one in parameters if one.required],
        "additionalProperties": False,
    }


def _property(parameter: Parameter, words: Mapping[str, str]) -> dict[str, Any]:
    written: dict[str, Any] = {
        "type": str(parameter.type),
        "description": words[parameter.name],
    }
    if parameter.type is Type.TEXTS:
        written["items"] = {"type": "string"}
    if parameter.type is Type.COUNT:
        written["minimum"] = 1
    if parameter.choices:
        written["enum"] = list(parameter.choices)
    return written
