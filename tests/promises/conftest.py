"""Short and long forms of the promises, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from tests.promises.libc_shim import require_shim
from tests.promises.lived_workspace import live
from tests.promises.trials import MODULES, Stages
from tests.promises.zygote import zygote

COUNTS: dict[str, int] = {}


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether the long form was asked for: `pytest tests/promises --long`."""
    return bool(request.config.getoption("--long"))


@pytest.fixture
def count_trials(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that adds up the trials of a test; the sums are printed at the end."""
    name = request.node.name

    def count(trials: int = 1) -> None:
        COUNTS[name] = COUNTS.get(name, 0) + trials

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many trials each promise had."""
    for name, trials in sorted(COUNTS.items()):
        terminalreporter.write_line(f"{trials:8,} trials  {name}")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    (tmp_path / "workspace" / "channels").mkdir(parents=True)
    return tmp_path / "workspace"


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with each file that pipimem keeps; tests damage copies of it."""
    root = tmp_path_factory.mktemp("lived") / "workspace"
    anyio.run(live, root)
    return root


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    """The journeys of the crash tests, prepared in a process that forks their trials."""
    require_shim()
    with zygote(*MODULES) as process:
        yield Stages(process, tmp_path_factory.mktemp("journeys"))
