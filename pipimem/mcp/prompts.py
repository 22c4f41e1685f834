"""The prompts of the MCP server: when a model is to search, to save, and to stay silent."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from pipimem.errors import ArgumentError, NothingFound, require_one_of
from pipimem.resources import mcp_texts
from pipimem.runtime.tools.definitions import LANGUAGES

PROMPTS = ("when_to_search", "when_to_save", "when_to_stay_silent")
_LANGUAGE = "language"


def listed_prompts(language: str) -> list[Prompt]:
    """The prompts, described in a language; each can be had in the other one, too."""
    texts = mcp_texts(language)
    argument = PromptArgument(name=_LANGUAGE, description=texts["prompts"][_LANGUAGE])
    return [
        Prompt(
            name=name,
            title=texts[name]["title"],
            description=texts[name]["about"],
            arguments=[argument],
        )
        for name in PROMPTS
    ]


def prompt_text(name: str, arguments: Mapping[str, str], language: str) -> GetPromptResult:
    """One prompt, in the language of the arguments, else in the server's.

    Raises `NothingFound` for an unknown prompt, `ArgumentError` for an unknown argument or
    language.
    """
    if name not in PROMPTS:
        raise NothingFound(f"There is no prompt {name!r}. There are {', '.join(PROMPTS)}.")
    unknown = [key for key in arguments if key != _LANGUAGE]
    if unknown:
        raise ArgumentError(f"{name} takes {_LANGUAGE} alone, not {', '.join(unknown)}.")
    chosen = arguments.get(_LANGUAGE, language)
    require_one_of(chosen, LANGUAGES, _LANGUAGE)
    texts = mcp_texts(chosen)[name]
    content = TextContent(text=texts["text"].strip())
    return GetPromptResult(
        description=texts["about"], messages=[PromptMessage(role="user", content=content)]
    )
