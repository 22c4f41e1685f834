"""What an operator installs beside the package: systemd units, the image, the compose file."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from pipimem.cli.commands import pipimem

from tests.cases import each
from tests.release.conftest import ROOT

UNITS = sorted((ROOT / "examples").glob("*.service"))
_INSTALLED = "/srv/bot/venv/bin/pipimem"
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]


def understood(arguments: list[str]) -> None:
    """Raises what click says of a command that it does not understand; runs nothing."""
    name, *options = arguments
    context = click.Context(pipimem, info_name="pipimem")
    command = pipimem.get_command(context, name)
    assert command is not None, name
    command.make_context(name, options, parent=context)


@each("unit", UNITS)
def test_a_unit_runs_a_command_that_there_is(unit: Path) -> None:
    """With its options."""
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
    program, *arguments = shlex.split(line)
    assert program == _INSTALLED
    understood(arguments)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_a_unit_and_finds_it_shut(unit: Path, tmp_path: Path) -> None:
    """Each key and value; an exposure of 2 of 10 at most, by systemd's own count."""
    text = unit.read_text("utf-8").replace(_INSTALLED, "/bin/true")
    copy = tmp_path / unit.name
    copy.write_text(text, encoding="utf-8")
    done = _systemd_analyze("verify", str(copy))
    assert (done.returncode, done.stderr) == (0, "")
    # 20 is 2.0.
    done = _systemd_analyze("security", "--offline=true", "--threshold=20", str(copy))
    assert done.returncode == 0, done.stdout.splitlines()[-1]
    copy.write_text(text.replace("NoNewPrivileges", "NoNewPrivilege"), encoding="utf-8")
    assert "NoNewPrivilege" in _systemd_analyze("verify", str(copy)).stderr


def _systemd_analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )


@each("name", SERVICES)
def test_a_service_runs_a_command_that_there_is(name: str) -> None:
    """And asks the address for its health that it serves it on."""
    service = SERVICES[name]
    understood(service["command"])
    address = service["command"][service["command"].index("--metrics") + 1]
    assert f"http://{address}/healthz" in service["healthcheck"]["test"][-1]


@each("name", SERVICES)
def test_a_service_may_do_no_more_than_it_must(name: str) -> None:
    """No root, no capability, nothing to write but the workspace; more time to stop than turns have."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service["user"].startswith("${BOT_IDS:-0")
    assert [volume.split(":")[-1] for volume in service["volumes"]] == ["/workspace"]
    assert int(service["stop_grace_period"].removesuffix("s")) > 20


def test_the_image_takes_nothing_that_is_not_there_and_all_that_is_asked_for() -> None:
    """What the Dockerfile copies is in the checkout, and is not ignored."""
    instructions = (ROOT / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", instructions, re.MULTILINE)
    wanted = {name for names in copied for name in names.split()}
    ignored = (ROOT / ".dockerignore").read_text("utf-8")
    assert {name for name in wanted if not (ROOT / name).exists()} == set()
    assert wanted == set(re.findall(r"^!(.+)$", ignored, re.MULTILINE))
    (entry,) = re.findall(r'^ENTRYPOINT \["(.+)"\]$', instructions, re.MULTILINE)
    (command,) = re.findall(r'^CMD \["(.+)"\]$', instructions, re.MULTILINE)
    assert entry == "pipimem"
    understood([command])
