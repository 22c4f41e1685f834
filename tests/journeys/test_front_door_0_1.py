"""A host, a script and a workspace of 0.1 find what they use: names, parameters, commands, settings.

`front-door-0.1.json` has what 0.1 offered. What went since is told in the guide to upgrading.
"""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import fields, is_dataclass
from enum import EnumType
from pathlib import Path
from typing import Any

import click
import pipimem
import pytest
from pipimem.cli.commands import pipimem as commands
from pipimem.errors import SettingsError
from pipimem.settings import Settings, settings_from

from tests.cases import each

ROOT = Path(__file__).parents[2]
BEFORE: dict[str, Any] = json.loads(
    (ROOT / "tests" / "fixtures" / "front-door-0.1.json").read_text("utf-8")
)
# The runtime's own attributes of a channel, which no document named. `notes` and `maintain` are
# there again, and are something else.
GONE = {
    *("ahead", "clock", "fill_holes", "is_awake", "keep_search", "nonce"),
    *("reading", "rest", "settings", "settle", "store", "thoughts", "touched", "used", "wanted"),
}


def _missing(name: str) -> set[str]:
    """The members of a public class of 0.1 that are not there, and parameters as `member(name)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # names that moved work until 0.4.0
        value = getattr(pipimem, name)
    there = {field.name for field in fields(value)} if is_dataclass(value) else set()
    there |= set(dir(value))
    missing = set()
    for member, parameters in BEFORE["members"][name].items():
        if member not in there:
            missing.add(member)
        elif parameters and not (isinstance(value, EnumType) and member == "__init__"):
            # That one is Python's own, and another since 3.14.
            now = inspect.signature(getattr(value, member)).parameters
            missing |= {f"{member}({each})" for each in parameters if each not in now}
    return missing


@each("name", BEFORE["names"])
def test_a_public_name_of_0_1_has_what_it_had(name: str) -> None:
    """Attributes, methods and their parameters, but for what the guide names."""
    went = {"Channel": GONE, "Turn": {"__init__(context)"}}.get(name, set())
    assert _missing(name) == went


@each("name", BEFORE["commands"])
def test_a_command_of_0_1_takes_what_it_took(name: str) -> None:
    """With the same options."""
    context = click.Context(commands)
    command = commands.get_command(context, name)
    assert command is not None
    now = {word for part in command.params for word in (*part.opts, *part.secondary_opts)}
    assert set(BEFORE["commands"][name]) - now == set()


def test_the_options_before_a_command_are_there() -> None:
    """As scripts write them."""
    now = {word for part in commands.params for word in part.opts}
    assert set(BEFORE["options"]) - now == set()


def test_every_setting_of_0_1_is_understood_or_says_what_to_write_instead() -> None:
    """One is refused, with a sentence."""
    refused = []
    defaults = Settings()
    for section, keys in BEFORE["settings"].items():
        for key in keys:
            value = getattr(getattr(defaults, section), key, None)
            if value is None:
                refused.append(f"[{section}] {key}")
            else:
                text = json.dumps(list(value) if isinstance(value, tuple) else value)
                assert settings_from(f"[{section}]\n{key} = {text}") == defaults
    assert refused == ["[recall] repeat"]
    with pytest.raises(SettingsError, match=r"repeat is replaced by keeps_context: .* Take the"):
        settings_from("[recall]\nrepeat = true")


@each("page", ["upgrading.md", "zh-CN/upgrading.md"])
def test_the_guide_names_all_that_went(page: str) -> None:
    """Who upgrades finds each word of it."""
    text = (ROOT / "docs" / "guide" / page).read_text("utf-8")
    for name in GONE | {"repeat", "Turn(context"}:
        assert f"`{name}" in text or f"Channel.{name}`" in text or f"] {name}`" in text, name
