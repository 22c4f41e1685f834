"""Apply each mutant to a copy of the tree and show that the short form of its promise fails.

usage: python -m tests.promises.mutants [--jobs N] [NAME…]

A mutant is a file `NAME.patch` beside this one: some lines `Promise: …` and `Test: …` (files or tests as
pytest names them, several allowed; no options, for the control runs all of them at once), then a unified
diff. Exit code 1 if a mutant survives or a patch no longer applies: whoever replaces the mechanism writes
a new one.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
_COPIED = ("pipimem", "prompts", "workspace-template", "tests", "examples", "pyproject.toml")
# pytest's exit codes: 1 means that tests failed; 5 that none was collected.
_TESTS_FAILED = 1
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: its name, the promise it breaks, the tests that must notice, the diff.

    Without a diff it is the control: the tree as it is.
    """

    name: str
    promise: str
    tests: tuple[str, ...]
    patch: Path | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: `killed`, `survived`, `stale` or `broken`, and pytest's last lines."""

    mutant: Mutant
    state: str
    output: str


def read_mutant(path: Path) -> Mutant:
    """Read a patch's header. Raises `ValueError` if it names no promise or no test."""
    promise, tests = "", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("diff --git"):
            break
        key, _, value = line.partition(": ")
        if key == "Promise":
            promise = value.strip()
        elif key == "Test":
            tests += shlex.split(value)
    if not promise or not tests:
        raise ValueError(f"{path}: a mutant begins with lines `Promise: …` and `Test: …`.")
    return Mutant(path.stem, promise, tuple(tests), path)


def try_mutant(mutant: Mutant, folder: Path) -> Outcome:
    """Run the mutant's tests on a patched copy of the tree in `folder`."""
    tree = folder / mutant.name
    tree.mkdir()
    for name in _COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, tree / name)
    if mutant.patch is not None:
        subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
        apply = ["git", "apply", str(mutant.patch)]
        applied = subprocess.run(apply, cwd=tree, capture_output=True, text=True, check=False)
        if applied.returncode:
            return Outcome(mutant, "stale", applied.stderr)
    options = ["-q", "-x", "-p", "no:cacheprovider", f"--basetemp={folder / 'tmp' / mutant.name}"]
    (folder / "tmp").mkdir(exist_ok=True)
    try:
        tested = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *mutant.tests],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Outcome(mutant, "broken", f"the tests ran for more than {_SECONDS} s")
    finally:
        shutil.rmtree(folder / "tmp" / mutant.name, ignore_errors=True)
        shutil.rmtree(tree, ignore_errors=True)
    states = {0: "survived", _TESTS_FAILED: "killed"}
    return Outcome(mutant, states.get(tested.returncode, "broken"), tested.stdout + tested.stderr)


def _by(output: str) -> str:
    """Return the first test that failed or broke, by pytest's output, as the end of a line."""
    failed = (line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    name = next(failed, "").partition(" ")[2].partition(" - ")[0]
    return f" by {name}" if name else ""


def main() -> int:
    """Print a row for each mutant; return the exit code."""
    parser = argparse.ArgumentParser(description="Faults that the promises must notice.")
    parser.add_argument("names", nargs="*", help="mutants by name; all without")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--folder", type=Path, help="where to work; memory if there is some")
    asked = parser.parse_args()
    mutants = [read_mutant(path) for path in sorted(HERE.glob("*.patch"))]
    if unknown := set(asked.names) - {mutant.name for mutant in mutants}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}")
    wanted = [mutant for mutant in mutants if not asked.names or mutant.name in asked.names]
    memory = Path("/dev/shm")
    place = asked.folder or (memory if memory.is_dir() else None)
    bad = 0
    with (
        tempfile.TemporaryDirectory(dir=place, prefix="pipimem-mutants-") as name,
        ThreadPoolExecutor(asked.jobs) as pool,
    ):
        tests = sorted({test for mutant in wanted for test in mutant.tests})
        control = try_mutant(Mutant("control", "", tuple(tests), None), Path(name))
        if control.state != "survived":
            print(f"The tests fail without any mutant:\n{control.output}")
            return 1
        for outcome in pool.map(lambda mutant: try_mutant(mutant, Path(name)), wanted):
            print(
                f"{outcome.state:9} promise {outcome.mutant.promise}: {outcome.mutant.name}"
                f"{_by(outcome.output)}",
                flush=True,
            )
            if outcome.state != "killed":
                bad += 1
                print("    " + "\n    ".join(outcome.output.splitlines()[-15:]), flush=True)
    print(f"\n{len(wanted)} mutants, {len(wanted) - bad} killed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
