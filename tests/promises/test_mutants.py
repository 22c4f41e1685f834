"""The faults of `tests/promises/mutants/` apply to the code as it is, three or more to a promise.

`python -m tests.promises.mutants` shows that the promises notice them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.promises.mutants.__main__ import HERE, ROOT, read_mutant

MUTANTS = [read_mutant(path) for path in sorted(HERE.glob("*.patch"))]


def test_each_promise_has_three_faults() -> None:
    """Promises 1 to 8; what 9 promises is built later."""
    faults = Counter(mutant.promise for mutant in MUTANTS)
    assert [promise for promise in "12345678" if faults[promise] < 3] == []


def test_each_fault_names_tests_that_there_are() -> None:
    """A test that was renamed or moved kills nothing."""
    missing = []
    for mutant in MUTANTS:
        for test in mutant.tests:
            file, _, name = test.partition("::")
            function = f"def {name.partition('[')[0]}("
            if not (ROOT / file).is_file() or (name and function not in (ROOT / file).read_text()):
                missing.append(f"{mutant.name}: {test}")
    assert missing == []


def test_each_fault_applies(tmp_path: Path) -> None:
    """Whoever replaces a mechanism writes a new fault for it."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git applies the patches")
    copied = {path for mutant in MUTANTS for path in _changed_by(mutant.patch)}
    for path in sorted(copied):
        if (ROOT / path).is_file():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, tmp_path / path)
    subprocess.run([git, "init", "-q"], cwd=tmp_path, check=True)
    stale = []
    for mutant in MUTANTS:
        check = [git, "apply", "--check", str(mutant.patch)]
        if subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode:
            stale.append(mutant.name)
    assert stale == []


def _changed_by(patch: Path | None) -> list[str]:
    """Return the paths of the files that a patch changes."""
    lines = patch.read_text(encoding="utf-8").splitlines() if patch else []
    return [line.removeprefix("--- a/") for line in lines if line.startswith("--- a/")]
