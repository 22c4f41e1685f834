"""Trees of the code, each driven through its command line and its public Python API.

The same interpreter runs every tree. `PYTHONPATH` names the tree and goes before an installed or
editable pipimem, whose prompts and template lie beside the package in a checkout.
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

    def environment(self, **more: str) -> dict[str, str]:
        """Return the variables for a process of this tree: none of pipimem's own is inherited."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("PIPIMEM")}
        for name in ("PYTHONDONTWRITEBYTECODE", "OPENAI_API_BASE", "OPENAI_API_KEY"):
            own.pop(name, None)  # a cold start without bytecode would measure the compiler
        return {**own, "PYTHONPATH": str(self.path), **more}

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
        return self.python("-m", "pipimem", *chosen, *arguments)

    def python(self, *arguments: str, text: str = "") -> Process:
        """Run Python on this tree; raises `RuntimeError` if it fails."""
        before, began = _children_ms(), time.perf_counter()
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, env=self.environment(), check=False
        )
        wall = (time.perf_counter() - began) * 1000
        if done.returncode:
            raise RuntimeError(f"{self.label}: {' '.join(arguments[:8])}: {done.stderr[-2000:]}")
        return Process(done.stdout, wall, _children_ms() - before)

    def child(self, measure: str, **given: Any) -> Any:
        """Run a measure of `child/` on this tree and return what it printed last, as JSON."""
        command = [sys.executable, str(CHILD), measure]
        done = subprocess.run(
            command,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            env=self.environment(),
            check=False,
            cwd=self.scratch,
        )
        if done.returncode:
            raise RuntimeError(f"{self.label}: {measure}: {done.stderr[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def check(self) -> None:
        """Compile the tree; raises `RuntimeError` if another pipimem would be imported."""
        self.python("-m", "compileall", "-q", str(self.path / "pipimem"))
        found = Path(self.python("-c", "import pipimem; print(pipimem.__file__)").printed.strip())
        if not found.is_relative_to(self.path):
            raise RuntimeError(f"{self.label}: {found} was imported, not {self.path}")

    def dependencies(self) -> list[str]:
        """Return the requirements of the tree's pyproject.toml."""
        table = tomllib.loads((self.path / "pyproject.toml").read_text("utf-8"))
        return list(table["project"]["dependencies"])


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
def trees(against: str, folder: Path | None) -> Iterator[list[Tree]]:
    """Yield this tree and, if `against` names a commit, a worktree of it that is removed again."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        found = [Tree("here", ROOT, scratch)]
        if against:
            commit = _git("rev-parse", "--short", f"{against}^{{commit}}")
            path = scratch / "tree" / commit
            _git("worktree", "add", "--detach", "--quiet", str(path), commit)
            found.append(Tree(commit, path, scratch))
        try:
            for tree in found:
                tree.check()
            yield found
        finally:
            if against:
                _git("worktree", "remove", "--force", str(found[-1].path))


def describe(found: Sequence[Tree]) -> list[str]:
    """Return a line for each tree, and one for requirements that differ between trees."""
    commit = _git("describe", "--always", "--dirty")
    lines = [f"here: {commit}", *(f"{tree.label}: a worktree" for tree in found[1:])]
    for tree in found[1:]:
        here, there = set(found[0].dependencies()), set(tree.dependencies())
        if here != there:
            lines.append(f"requirements of here alone: {', '.join(sorted(here - there)) or 'none'}")
            lines.append(f"requirements of {tree.label} alone: {', '.join(sorted(there - here))}")
            lines.append("both run with what is installed for the interpreter")
    return lines


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()
