"""The generated pages of docs/reference are up to date."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pipimem
import pytest

from tests.cases import each

ROOT = Path(__file__).parents[2]


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


# Looking at all members asks a struct whether it is a dataclass.
@pytest.mark.filterwarnings("ignore:.* is a msgspec struct now")
@each("name", pipimem.__all__)
def test_the_reference_of_python_is_complete(name: str) -> None:
    """Every public name, and every method of a class, its own or one it extends, with its text."""
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    assert f"\n## `{name}`\n" in page
    value = getattr(pipimem, name)
    if not inspect.isclass(value):
        return
    for member, found in inspect.getmembers(value):
        function = found.fget if isinstance(found, property) else found
        module = getattr(function, "__module__", None) or ""
        if member.startswith("_") or not inspect.isfunction(function):
            continue
        if module.startswith("pipimem."):
            assert f"`{name}.{member}" in page or f"await {name}.{member}(" in page
            assert inspect.getdoc(function), f"{name}.{member} says nothing"
