"""Which workspace and model a command takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_a_command_runs_inside_the_nearest_workspace(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who stands in a bot's folder need not name it."""
    monkeypatch.chdir(bot / "channels")
    from click.testing import CliRunner
    from pipimem.cli.commands import pipimem

    told = CliRunner().invoke(pipimem, ["status", "--json"])
    assert (told.exit_code, str(bot) in told.stdout) == (0, True)


def test_the_model_of_the_environment_counts_unless_one_is_named(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--model` wins over PIPIMEM_MODEL, which wins over pipimem.toml."""
    assert call("status", "--json").object["model"] == "offline"
    monkeypatch.setenv("PIPIMEM_MODEL", "openai/from-the-environment")
    assert call("status", "--json").object["model"] == "openai/from-the-environment"
    assert call("status", "--json", model="openai/named").object["model"] == "openai/named"
