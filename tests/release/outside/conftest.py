"""The wheel in environments of its own, which know nothing of this checkout.

`tests/release/run.sh` brings what these tests need: uv, pyright, zensical, and the network.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.release.conftest import ROOT, Built

collect_ignore_glob = [] if os.environ.get("PIPIMEM_TEST_RELEASE") else ["*"]

_LEFT = {"PYTHONPATH", "SOURCE_DATE_EPOCH"}
_PLAIN = {name: value for name, value in os.environ.items() if name not in _LEFT}


def called(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command that knows nothing of this checkout; it may fail."""
    return subprocess.run(command, cwd=cwd, env=_PLAIN, capture_output=True, text=True, check=False)


def uv(*arguments: str | Path, cwd: Path) -> str:
    """Returns what uv says; fails with it where uv fails."""
    done = called(sys.executable, "-m", "uv", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def installed(here: Built, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Makes an environment with the wheel and extras; returns its interpreter.

    The core has the versions that the tests ran with, an extra the newest that it allows.
    """

    def install(extras: str, python: str = sys.executable) -> Path:
        folder = tmp_path_factory.mktemp("outside")
        uv("venv", "--quiet", "--no-project", "--python", python, folder / "venv", cwd=folder)
        interpreter = folder / "venv/bin/python"
        pins = [] if extras else ["--constraint", ROOT / "requirements/wheel.txt"]
        what = f"pipimem{extras} @ {here.wheel.as_uri()}"
        uv("pip", "install", "--quiet", "--python", interpreter, *pins, what, cwd=folder)
        return interpreter

    return install
