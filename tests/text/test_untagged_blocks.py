"""Blocks of memory that come back without their tags."""

from __future__ import annotations

import pytest
from pipimem.text.fence import fenced
from pipimem.text.untagged_blocks import without_untagged_blocks

BLOCK = fenced(
    [("MEMORY: Constraints", ["tea is green", "two\nlines"]), ("transcript", ["Al 09:10: hi"])],
    b"a channel's key",
    end="(3 more not shown)",
)
LINES = BLOCK.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES[1:-1]),
        "\n".join(LINES[2:-1]),
        "> " + "\n> ".join(LINES[1:-1]),
        BLOCK.replace("<", "").replace(">", ""),
        "**" + BLOCK.replace("<", "").replace(">", "**"),
        "\r\n".join(LINES[2:5]),
    ],
    ids=["no tags", "no note", "cited", "no brackets", "bold", "in part"],
)
def test_lines_of_a_block_go_and_own_words_stay(text: str) -> None:
    """Whatever a host or a renderer left of the fence."""
    assert without_untagged_blocks(f"hello\n{text}\nmy own words").split() == [
        "hello",
        "my",
        "own",
        "words",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[MEMORY] is what the heading says",
        "[MEMORY: x]\nno bullet below it",
        "[TODO]\n- buy tea",
        "- a list\n- of my own",
        "Remembered data is what we call it",
    ],
)
def test_what_is_not_surely_ours_stays(text: str) -> None:
    """A person's own list is theirs."""
    assert without_untagged_blocks(text) == text
