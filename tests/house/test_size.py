"""The house stays small enough to be known: how long its modules are, how deep its imports go.

What these bounds hold is what was reached; a change that needs more says why, here. The other
figures of docs/design/architecture.md are printed by the commands there.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parents[2] / "pipimem"
FILES = sorted(HOUSE.rglob("*.py"))
MOST_LINES = 300
# Longer than that today: each is to be taken apart, and none may grow beyond this.
LONG = {
    "runtime/channel.py": 450,
    "runtime/maintenance/channel_jobs.py": 350,
    "runtime/maintenance/worker.py": 450,
    "runtime/pipimem.py": 400,
    "runtime/recall_service.py": 400,
}
LONGEST_CHAIN = 27


def _name(path: Path) -> str:
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in FILES}


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of ours that a module imports as it is loaded; what it imports later is free."""
    found = set()
    for node in ast.parse(MODULES[module].read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                found.add(below if below in MODULES else str(node.module))
    return tuple(sorted(found & MODULES.keys() - {module}))


@cache
def _chain(module: str) -> tuple[str, ...]:
    """The longest row of modules of which each imports the next."""
    longest = max((_chain(below) for below in _imports(module)), key=len, default=())
    return (module, *longest)


def test_no_module_is_too_long_to_be_read_at_once() -> None:
    """300 lines; those that are longer grow no more."""
    too_long = {}
    for path in FILES:
        name, lines = str(path.relative_to(HOUSE)), len(path.read_text("utf-8").splitlines())
        if lines > LONG.get(name, MOST_LINES):
            too_long[name] = lines
    assert too_long == {}


def test_imports_do_not_go_deeper() -> None:
    """A type that stands where it belongs makes the chain shorter; a detour makes it longer."""
    longest = max(map(_chain, MODULES), key=len)
    assert len(longest) <= LONGEST_CHAIN, "\n".join(longest)
