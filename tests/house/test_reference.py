"""The generated pages of docs/reference are up to date, complete, and their examples run."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.cases import each
from tests.public_names import PUBLIC

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
HEADINGS = re.findall(r"^###+ `(?:pipimem\.)?(?:[a-z]+\.)?([\w.]+)`$", PAGE, re.MULTILINE)
ERRORS = [name for name, value in PUBLIC.items() if issubclass(value, BaseException)]


def test_the_generated_pages_are_up_to_date() -> None:
    """`python docs/generate.py` would change nothing."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_of_python_has_each_public_name_once() -> None:
    """And no other; the errors are a tree."""
    assert sorted(name for name in HEADINGS if "." not in name) == sorted(PUBLIC.keys() - ERRORS)
    tree = PAGE.split("\n## Errors\n")[1].split("\n## ")[0]
    assert [name for name in ERRORS if name not in tree] == []


# Looking at all members asks a struct whether it is a dataclass.
@pytest.mark.filterwarnings("ignore:.* is a msgspec struct now")
@each("name", sorted(PUBLIC.keys() - ERRORS))
def test_the_reference_has_each_method(name: str) -> None:
    """Its own and those it extends, each once and with its text."""
    described = [heading for heading in HEADINGS if heading.startswith(f"{name}.")]
    assert len(described) == len(set(described))
    for member, found in inspect.getmembers(PUBLIC[name]):
        function = found.fget if isinstance(found, property) else found
        module = getattr(function, "__module__", None) or ""
        if member.startswith("_") or not inspect.isfunction(function):
            continue
        if module.startswith("pipimem."):
            assert f"{name}.{member}" in described
            assert inspect.getdoc(function), f"{name}.{member} has no docstring"


@pytest.mark.slow
def test_the_examples_of_the_reference_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, on a new workspace."""
    shutil.copytree(ROOT / "workspace-template", tmp_path / "workspace")
    monkeypatch.chdir(tmp_path)
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", _template(), re.MULTILINE | re.DOTALL))
    code = compile(source, "api.in.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def run() -> None:
        await eval(code, {"__name__": "example"})

    anyio.run(run)


def _template() -> str:
    return (ROOT / "docs" / "reference" / "api.in.md").read_text("utf-8")
