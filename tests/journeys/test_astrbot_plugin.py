"""The AstrBot plugin: a client of the SDK 1.x, against the MCP server as it is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.building import workspace

ROOT = Path(__file__).parents[2]
OLDER_SDK = ROOT / ".venv-mcp1" / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not (os.environ.get("PIPIMEM_TEST_INTERFACES") and OLDER_SDK.exists()),
    reason="tests/interfaces/run.sh has what it needs",
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a host saw of the plugin."""
    root = workspace(tmp_path_factory.mktemp("astrbot"))
    command = f"env PYTHONPATH={ROOT} {sys.executable} -m pipimem"
    host = Path(__file__).with_name("astrbot_host.py")
    done = subprocess.run(
        [OLDER_SDK, host, command, root], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_new_conversation_has_nothing_to_remember(seen: dict[str, Any]) -> None:
    """Its channel is made, and the prompt stays as it was."""
    assert seen["empty"] == "You are pipi."


def test_what_holds_and_what_is_asked_for_stand_behind_the_prompt(seen: dict[str, Any]) -> None:
    """As JSON, which nothing in it can close."""
    prompt, known = seen["asked"].rsplit("\n", 1)
    assert prompt.startswith("You are pipi.\n\nWhat is remembered of this conversation, as JSON.")
    held = json.loads(known)
    (rule,) = held["constraint"]
    assert rule.startswith("Dana (")
    assert rule.endswith("): We never deploy on Fridays.")
    assert "Postgres 16" in held["found"][0]["text"]
    assert held["found"][0]["date"].startswith("20")


def test_each_conversation_has_its_own_memory(seen: dict[str, Any]) -> None:
    """Also where its process was ended for another conversation's, and started anew."""
    assert seen["other"] == "You are pipi."
    assert "We never deploy on Fridays." in seen["again"]


def test_tools_save_and_forget(seen: dict[str, Any]) -> None:
    """A wrong argument is told to the model."""
    (saved,) = json.loads(seen["saved"])["changes"]
    assert saved["after"].endswith("We never deploy on Fridays.")
    assert "'kind' must be one of" in seen["wrong"]
    assert "We never deploy on Fridays." in seen["forgotten"]
    assert seen["after"] == "You are pipi."


def test_a_bot_without_memory_answers_all_the_same(seen: dict[str, Any]) -> None:
    """The operator reads why."""
    assert seen["broken"] == "You are pipi."
    (warning,) = seen["warnings"]
    assert "no-such-program" in warning


def test_a_process_that_was_killed_is_started_anew(seen: dict[str, Any]) -> None:
    """The next answer has memory again."""
    assert seen["killed"] == 1
    assert "We never deploy on Fridays." in seen["healed"]


def test_conversations_that_speak_at_once_wait_for_no_room(seen: dict[str, Any]) -> None:
    """More than there may be processes: none at work is ended for another."""
    assert seen["at once"] == ["You are pipi."] * 3
    assert len(seen["warnings"]) == 1  # that of the program that is not there
