"""The wheel does its main job on every Python that it says it runs on, where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.release.conftest import ROOT, Built, copied
from tests.release.outside.conftest import called, uv

_CLASSIFIERS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
_PREFIX = "Programming Language :: Python :: 3."
_NAMED = ["3." + line.removeprefix(_PREFIX) for line in _CLASSIFIERS if line.startswith(_PREFIX)]
# Named in pyproject.toml once it has been seen to pass.
VERSIONS = [*_NAMED, "3.15"]
_IMPORTS = """\
import importlib, pkgutil, sys, warnings
warnings.simplefilter("error", DeprecationWarning)
import pipimem
for name in pipimem.__all__:
    getattr(pipimem, name)
apart = ("mcp", "web", "serving", "bots", "adapters", "runtime.observability.opentelemetry_spans")
apart = tuple("pipimem." + name for name in apart)
for module in pkgutil.walk_packages(pipimem.__path__, "pipimem."):
    if not module.name.startswith(apart):
        importlib.import_module(module.name)
print(*sys.version_info[:2], sep=".")
"""


def _interpreter(version: str) -> str | None:
    """Returns one of this version: on the path, or kept by pyenv."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in [sys.executable, f"python{version}", *map(str, kept)]:
        found = shutil.which(candidate)
        if found and _is(found, version):
            return found
    return None


def _is(python: str, version: str) -> bool:
    told = "import sys; print(*sys.version_info[:2], sep='.')"
    done = subprocess.run([python, "-c", told], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


@pytest.mark.parametrize("version", VERSIONS)
def test_another_python_builds_the_same_bytes(version: str, here: Built, tmp_path: Path) -> None:
    """Its tables of characters, its JSON and its order of sets do not show in what is published."""
    interpreter = _interpreter(version)
    if not interpreter:
        pytest.skip(f"no Python {version} here")
    uv("venv", "--quiet", "--no-project", "--python", interpreter, tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv/bin/python"
    locked = ROOT / "requirements" / "run.txt"
    uv("pip", "install", "--quiet", "--python", python, "--requirements", locked, cwd=tmp_path)
    tree = copied(tmp_path / "tree")
    done = called(python, "-m", "hatchling", "build", "-d", "dist", cwd=tree)
    assert done.returncode == 0, done.stderr
    for file in here:
        made = (tree / "dist" / file.name).read_bytes()
        assert sha256(made).digest() == sha256(file.read_bytes()).digest(), file.name


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_does_the_main_job(
    version: str, installed: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """All modules of the core import without a deprecation; ten days of talk become memory."""
    interpreter = _interpreter(version)
    if not interpreter:
        pytest.skip(f"no Python {version} here")
    python = installed("", interpreter)
    done = called(python, "-c", _IMPORTS, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (f"{version}\n", "")
    shutil.copy(ROOT / "examples" / "release-room.jsonl", tmp_path)
    pipimem = python.with_name("pipimem")
    replay = ["replay", "release-room", "release-room.jsonl", "--kind", "group"]
    for command in (
        ["init", "bot"],
        ["--workspace", "bot", *replay, "--compact-every", "60", "--maintain"],
        ["--workspace", "bot", "doctor"],
    ):
        done = called(pipimem, *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    asked = ["recall", "release-room", "2.4 什么时候发布？", "--json"]
    done = called(pipimem, "--workspace", "bot", *asked, cwd=tmp_path)
    assert "12 March" in done.stdout
    assert json.loads(done.stdout.splitlines()[0])
