"""A name stands once: classes in the whole house, modules within a floor, commands in a file of
their own.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import click
import pytest
from pipimem.cli.commands import pipimem as commands

HOUSE = Path(__file__).parents[2] / "pipimem"
FILES = sorted(HOUSE.rglob("*.py"))


@pytest.mark.slow
def test_a_public_class_name_stands_once() -> None:
    """Two classes of one name make a reader guess which one is meant."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(HOUSE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_a_module_name_stands_once_within_a_floor() -> None:
    """`recall/ranking.py` and `recall/transcript/ranking.py` would be found by the same search."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in FILES:
        relative = path.relative_to(HOUSE)
        if path.name != "__init__.py" and len(relative.parts) > 1:
            places[relative.parts[0], path.stem].append(str(relative))
    assert {key: files for key, files in places.items() if len(files) > 1} == {}


def test_a_command_stands_in_the_file_of_its_name() -> None:
    """`pipimem undo` is cli/commands/undo.py."""
    context = click.Context(commands)
    names = set(commands.list_commands(context))
    files = {path.stem for path in (HOUSE / "cli" / "commands").glob("*.py")} - {"__init__"}
    assert files == names


def test_every_module_says_in_one_sentence_what_it_is() -> None:
    """The docstring's first line, which ends with a full stop."""
    without = []
    for path in FILES:
        sentence = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0]
        if path.read_text("utf-8").strip() and not sentence.rstrip().endswith((".", "…`.")):
            without.append(str(path.relative_to(HOUSE)))
    assert without == []
