"""Checkers of types see the installed wheel as its own tests do."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pipimem
import pytest

from tests.release.outside.conftest import called

HERE = Path(__file__).parent
# By line of `wrong_bot.py`.
_WRONG = [9, 10, 11]


@pytest.fixture(scope="module")
def python(installed: Callable[[str], Path]) -> Path:
    return installed("")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Somebody else's project."""
    shutil.copyfile(HERE / "bot.py", tmp_path / "bot.py")
    shutil.copyfile(HERE / "wrong_bot.py", tmp_path / "wrong_bot.py")
    settings = {"typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return tmp_path


def _pyright(python: Path, folder: Path, name: str) -> list[dict[str, Any]]:
    done = called(
        *(sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", python, name),
        cwd=folder,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["generalDiagnostics"]
    return found


def test_mypy_finds_nothing_in_a_bot(python: Path, folder: Path) -> None:
    """Strict, from an environment that has not this checkout."""
    done = called(
        *(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "bot.py"),
        cwd=folder,
    )
    assert (done.stdout, done.returncode) == ("Success: no issues found in 1 source file\n", 0)


def test_mypy_finds_what_is_wrong(python: Path, folder: Path) -> None:
    """Each wrong line, and no other."""
    done = called(
        *(sys.executable, "-m", "mypy", "--strict", "--python-executable", python),
        "wrong_bot.py",
        cwd=folder,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == _WRONG


def test_pyright_finds_nothing_in_a_bot(python: Path, folder: Path) -> None:
    """Strict; it needs no stub and no private name."""
    assert _pyright(python, folder, "bot.py") == []


def test_pyright_finds_what_is_wrong(python: Path, folder: Path) -> None:
    """Each wrong line, and no other."""
    found = _pyright(python, folder, "wrong_bot.py")
    assert [each["range"]["start"]["line"] + 1 for each in found] == _WRONG


def test_every_public_name_has_a_type(python: Path, folder: Path) -> None:
    """Of what `from pipimem import …` offers no checker has to guess a type, of no attribute either."""
    done = called(
        # With `--verifytypes` it asks the first interpreter on the path, whatever `--pythonpath` says.
        *("env", f"PATH={python.parent}:{os.environ['PATH']}"),
        *(sys.executable, "-m", "pyright", "--outputjson"),
        *("--verifytypes", "pipimem", "--ignoreexternal"),
        cwd=folder,
    )
    told = json.loads(done.stdout)["typeCompleteness"]
    assert told["pyTypedPath"].endswith("site-packages/pipimem/py.typed")
    public = [symbol for symbol in told["symbols"] if symbol["name"].count(".") == 1]
    assert len(public) > len(pipimem.__all__)
    assert [symbol["name"] for symbol in public if not symbol["isTypeKnown"]] == []
