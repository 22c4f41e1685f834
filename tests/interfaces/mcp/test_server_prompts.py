"""The prompts tell a model when to search, when to save, and when to stay silent."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from pipimem import resources
from pipimem.mcp.server import PROMPTS
from pipimem.runtime.tools.definitions import TOOLS

from tests.interfaces.mcp.building import served

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_prompts_are_listed_and_read_in_both_languages(root: Path, language: str) -> None:
    """Whatever the server's own language is."""
    async with served(root, language=language) as at:
        listed = (await at.client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == list(PROMPTS)
        for prompt in listed:
            own = await at.client.get_prompt(prompt.name)
            same = await at.client.get_prompt(prompt.name, {"language": language})
            other = await at.client.get_prompt(
                prompt.name, {"language": "zh" if language == "en" else "en"}
            )
            assert own.messages == same.messages
            assert own.messages != other.messages
            assert own.description == prompt.description


async def test_an_unknown_prompt_argument_or_language_is_told(root: Path) -> None:
    """With what there is."""
    async with served(root) as at:
        with pytest.raises(MCPError, match=r"no prompt 'poem'\. There are when_to_search"):
            await at.client.get_prompt("poem")
        with pytest.raises(MCPError, match="takes language alone, not tone"):
            await at.client.get_prompt("when_to_save", {"tone": "kind"})
        with pytest.raises(MCPError, match="language must be en or zh, not 'fr'"):
            await at.client.get_prompt("when_to_save", {"language": "fr"})


def test_both_languages_say_the_same_things() -> None:
    """The same tables and keys; each tool that they name is one."""
    folder = Path(resources.__file__).parent / "data" / "mcp"
    texts = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in folder.glob("*.toml")}
    assert texts.keys() == {"en", "zh"}
    assert {name: set(table) for name, table in texts["en"].items()} == {
        name: set(table) for name, table in texts["zh"].items()
    }
    for name in PROMPTS:
        named = [
            {tool for tool in TOOLS if f"`{tool}`" in texts[language][name]["text"]}
            for language in ("en", "zh")
        ]
        assert named[0] == named[1]
        assert named[0]
