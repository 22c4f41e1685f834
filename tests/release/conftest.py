"""What is built of the checkout, once for all tests of a release."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]


class Built(NamedTuple):
    """The two files that are published."""

    wheel: Path
    sdist: Path


def copied(to: Path) -> Path:
    """What the sdist takes of the checkout, and nothing that happens to lie beside it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    to.mkdir(parents=True)
    names = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in ["pyproject.toml", ".gitignore", *names]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, to / name)
    return to


def built(tree: Path, **environment: str) -> Built:
    """Builds both in a process of its own, which knows nothing of this checkout."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    plain.pop("SOURCE_DATE_EPOCH", None)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", "dist"],
        cwd=tree,
        env=plain | environment,
        check=True,
        capture_output=True,
    )
    (wheel,), (sdist,) = (tree / "dist").glob("*.whl"), (tree / "dist").glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A build of a copy of the checkout."""
    return built(copied(tmp_path_factory.mktemp("here") / "pipimem"), PYTHONHASHSEED="1")
