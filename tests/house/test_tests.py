"""Tests mirror the tree: each file stands where the module that it tests stands, and has its name.

`test_publish_archive.py` tests a part of `publish`. Tests of a whole floor, or of several, are in
`tests/journeys/`, those of parts that fail or are missing in `tests/faults/`, those of what a user
may rely on in `tests/promises/`.
"""

from __future__ import annotations

from pathlib import Path

from tests.cases import each

TESTS = Path(__file__).parents[1]
HOUSE = TESTS.parent / "pipimem"
ELSEWHERE = {
    "benchmarks",
    "browser",
    "faults",
    "house",
    "journeys",
    "promises",
    "release",
    "servers",
}
# Journeys through one floor, beside the fixtures that they need.
JOURNEYS = {
    "cli/test_bad_input.py",
    "cli/test_calendar.py",
    "interfaces/promises/test_servers.py",
    "interfaces/test_fastapi_bot.py",
    "recall/test_cases.py",
    "recall/test_generalities.py",
    "sidecar/replies/test_replies.py",
    "sidecar/rules/test_offline.py",
    "test_front_door.py",
}
FILES = sorted(
    path.relative_to(TESTS)
    for path in TESTS.rglob("test_*.py")
    if path.relative_to(TESTS).parts[0] not in ELSEWHERE
)


def _modules(folder: Path) -> set[str]:
    """The names of the modules in a folder, and of the folder itself."""
    found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return found | {folder.name} | {path.name for path in folder.iterdir() if path.is_dir()}


@each("file", FILES)
def test_a_test_has_the_name_of_a_module(file: Path) -> None:
    """Who changes a module finds its tests, and no test outlives its module."""
    if str(file) in JOURNEYS:
        return
    # Their tests need environments of their own, and have the tree once more.
    apart = file.parts[0] in ("fleet", "interfaces")
    folder = HOUSE / file.parent.relative_to(file.parts[0] if apart else ".")
    assert folder.is_dir()
    name = file.stem.removeprefix("test_")
    named = [each for each in _modules(folder) if name == each or name.startswith(f"{each}_")]
    assert named, f"{file} names no module in {folder}"


def test_the_list_of_journeys_is_up_to_date() -> None:
    """A journey that was moved or renamed leaves no line behind."""
    assert {name for name in JOURNEYS if not (TESTS / name).exists()} == set()
