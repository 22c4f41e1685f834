"""PIPIMEM_LOG=json: everything on standard error is one JSON object a line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands.test_watch import left_over, quick
from tests.cli.conftest import Call

SECONDS = 60


@pytest.mark.parametrize("asked_by", ["setting", "variable"])
def test_watch_writes_json_alone(call: Call, bot: Path, conversation: Path, asked_by: str) -> None:
    """From its first line to its last; a job's line names no channel."""
    quick(bot)
    left_over(call, conversation, "cid7Marmalade")
    variables = dict(os.environ)
    if asked_by == "setting":
        settings = (bot / "pipimem.toml").read_text("utf-8")
        (bot / "pipimem.toml").write_text(f'{settings}[observability]\nlogs = "json"\n', "utf-8")
    else:
        variables["PIPIMEM_LOG"] = "json"
    words = [sys.executable, "-m", "pipimem", "--workspace", str(bot), "--model", "offline"]
    lines = []
    with subprocess.Popen(
        [*words, "watch"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    ) as daemon:
        try:
            assert daemon.stderr is not None
            while not any(line.get("operation") == "job" for line in lines):
                lines.append(json.loads(daemon.stderr.readline()))
            daemon.send_signal(signal.SIGTERM)
            out, rest = daemon.communicate(timeout=SECONDS)
        finally:
            daemon.kill()
    lines += [json.loads(line) for line in rest.splitlines()]
    assert (out, daemon.returncode) == ("", 0)
    assert lines[0]["message"].startswith("watching ")
    assert lines[-1]["message"] == "stopped; the files are whole"
    (job,) = [
        line for line in lines if line.get("task") == "consolidate" and line["operation"] == "job"
    ]
    assert (job["outcome"], len(job["correlation"])) == ("ok", 12)
    assert "Marmalade" not in json.dumps(lines)


def test_a_failure_is_a_line_too(bot: Path) -> None:
    """Exit 1, and the sentence as a message at ERROR."""
    words = [sys.executable, "-m", "pipimem", "--workspace", str(bot), "consolidate", "nobody"]
    ran = subprocess.run(
        words, env=os.environ | {"PIPIMEM_LOG": "json"}, capture_output=True, text=True, check=False
    )
    (line,) = [json.loads(each) for each in ran.stderr.splitlines()]
    assert (ran.returncode, line["level"]) == (1, "ERROR")
    assert "There is no channel 'nobody'" in line["message"]
