"""Trees of the code, each driven through its command line and its public Python API.

The same interpreter runs every tree. `PYTHONPATH` names the tree and goes before an installed or
editable pipimem; prompts and template lie beside the package in a checkout.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).parent / "child"
T = TypeVar("T")
# Idle work beside a measure would count with it.
_SETTINGS = "[maintenance]\nenabled = false\n"
# A cold start without bytecode would measure the compiler.
_NOT_INHERITED = ("PIPIMEM", "OPENAI_API", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True, slots=True)
class Process:
    """The output of an ended process, its wall time and its processor time in milliseconds."""

    printed: str
    wall_ms: float
    processor_ms: float


@dataclass(frozen=True, slots=True)
class Tree:
    """A checkout of the code, named in the table by `label`, with a folder for its workspaces."""

    label: str
    path: Path
    scratch: Path

    def workspace(self, name: str) -> Path:
        """Return a workspace of this tree, made if it is missing."""
        folder = self.scratch / self.label / name
        if not folder.exists():
            self.command("init", str(folder))
            (folder / "pipimem.toml").write_text(_SETTINGS, encoding="utf-8")
            (folder / "channels").mkdir(exist_ok=True)
        return folder

    def command(self, *arguments: str, workspace: Path | None = None) -> Process:
        """Run `pipimem ARGUMENTS`; raises `RuntimeError` if it fails."""
        chosen = ("--workspace", str(workspace)) if workspace else ()
        return self.python("-P", "-m", "pipimem", *chosen, *arguments)

    def child(self, measure: str, **given: Any) -> Any:
        """Run a measure of `child/` on this tree and return its result."""
        done = self.python(str(CHILD), measure, text=json.dumps(given, default=str))
        return json.loads(done.printed.splitlines()[-1])

    def python(self, *arguments: str, text: str = "") -> Process:
        """Run Python on this tree; raises `RuntimeError` if it fails."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)
        }
        before, began = _children_ms(), time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments],
            input=text,
            capture_output=True,
            text=True,
            env={**inherited, "PYTHONPATH": str(self.path)},
            cwd=self.scratch,
            check=False,
        )
        wall = (time.perf_counter() - began) * 1000
        if done.returncode:
            raise RuntimeError(f"{self.label}: {' '.join(arguments)[:500]}: {done.stderr[-3000:]}")
        return Process(done.stdout, wall, _children_ms() - before)

    def check(self) -> None:
        """Compile the tree; raises `RuntimeError` if another pipimem would be imported."""
        self.python("-m", "compileall", "-q", str(self.path / "pipimem"))
        found = Path(self.python("-c", "import pipimem; print(pipimem.__file__)").printed.strip())
        if not found.is_relative_to(self.path):
            raise RuntimeError(f"{self.label}: {found} was imported, not {self.path}")

    def requirements(self) -> set[str]:
        """Return the requirements of the tree's pyproject.toml."""
        table = tomllib.loads((self.path / "pyproject.toml").read_text("utf-8"))
        return set(table["project"]["dependencies"])


def _children_ms() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def by_turns(trees: Sequence[Tree], rounds: int, work: Callable[[Tree], T]) -> dict[str, list[T]]:
    """Return the results of each tree by label; each round runs every tree, A B A B."""
    results: dict[str, list[T]] = {tree.label: [] for tree in trees}
    for _ in range(rounds):
        for tree in trees:
            results[tree.label].append(work(tree))
    return results


@contextmanager
def checked_out(against: str, folder: Path | None) -> Iterator[list[Tree]]:
    """Yield this tree and, if `against` names a commit, a worktree of it that is removed again."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        found = [Tree("here", ROOT, scratch)]
        if against:
            commit = _git("rev-parse", "--short", f"{against}^{{commit}}")
            found.append(Tree(commit, scratch / "trees" / commit, scratch))
            _git("worktree", "add", "--detach", "--quiet", str(found[1].path), commit)
        try:
            for tree in found:
                tree.check()
            yield found
        finally:
            if against:
                _git("worktree", "remove", "--force", str(found[1].path))


def describe(found: Sequence[Tree]) -> list[str]:
    """Return the commit of this tree, and the requirements that only one of the trees has."""
    lines = [f"here: {_git('describe', '--always', '--dirty')}"]
    for tree in found[1:]:
        here, there = found[0].requirements(), tree.requirements()
        for label, alone in (("here", here - there), (tree.label, there - here)):
            if alone:
                said = ", ".join(sorted(alone))
                lines.append(f"required by {label} alone: {said}; both run with what is installed")
    return lines


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
