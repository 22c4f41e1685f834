"""README as a reader follows it: calls of pipimem, and the workspace that they make."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pipimem.cli.commands import pipimem

ROOT = Path(__file__).parents[2]
# What the pages take for granted: the workspace that README makes.
_BEFORE = (
    "pipimem init",
    "pipimem replay release-room examples/release-room.jsonl --kind group --compact-every 60 "
    "--maintain",
)


def run(call: list[str]) -> Result:
    """Whatever is asked is answered with yes; a chat is left."""
    typed = "/quit\n" if "chat" in call else "y\n" * 9
    return CliRunner().invoke(pipimem, call[1:], input=typed)


@pytest.fixture(scope="session")
def readme_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the pages are read in: a checkout with the workspace of README."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "examples", folder / "examples")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.delenv("PIPIMEM_MODEL", raising=False)
        patched.setenv("PIPIMEM_WORKSPACE", "workspace")
        for line in _BEFORE:
            assert run(shlex.split(line)).exit_code == 0
    return folder
