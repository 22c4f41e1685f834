"""Print the tests of the floors that changed since the branch left main, for `tests/run.sh loop`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# Files without a floor of their own are tested where they are read; the first match counts.
READ_BY = {
    "benchmarks": "tests/benchmarks",
    "pipimem/data/recall": "tests/recall",
    "pipimem/data/rules": "tests/sidecar tests/text/talk",
    "pipimem/data/synonyms": "tests/recall",
    "pipimem/data": "tests/text",
    "pipimem": "tests/test_*.py",
    "prompts": "tests/sidecar",
    "workspace-template": "tests/store/test_workspace.py",
}
# These need environments of their own: each has a run.sh.
APART = ("tests/browser", "tests/fleet", "tests/interfaces", "tests/release/outside")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines()


def changed_files() -> list[str]:
    """Return the files changed since the branch left main; on main, those of the last commit."""
    head = _git("rev-parse", "HEAD")
    base = _git("merge-base", "HEAD", "main") or _git("merge-base", "HEAD", "origin/main") or head
    edited = _git("diff", "--name-only", "HEAD") + _git(
        "ls-files", "--others", "--exclude-standard"
    )
    if base == head and not edited:
        base = ["HEAD~1"]
    return sorted({*edited, *_git("diff", "--name-only", base[0], "HEAD")})


def tests_of(file: str) -> set[str]:
    """Return the files and folders of the tests of a changed file."""
    path = Path(file)
    if path.parts[0] == "tests":
        is_ours = path.match("test_*.py") and not any(map(path.is_relative_to, APART))
        return {file} if is_ours and (ROOT / path).exists() else set()
    for folder, patterns in READ_BY.items():
        # A module right in pipimem/ has no floor; those of the floors are handled below.
        if path.is_relative_to(folder) and (folder != "pipimem" or len(path.parts) == 2):
            return {
                str(found.relative_to(ROOT))
                for pattern in patterns.split()
                for found in ROOT.glob(pattern)
            }
    floor = TESTS / path.parts[1] if path.parts[0] == "pipimem" else TESTS / "house"
    return {str(floor.relative_to(ROOT))} if floor.is_dir() else set()


def main() -> None:
    """Print a file or folder a line, none inside another; tests/house is always among them."""
    wanted = {"tests/house"}.union(*map(tests_of, changed_files()))
    for name in sorted(wanted):
        if not any(Path(name).is_relative_to(other) for other in wanted - {name}):
            sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
