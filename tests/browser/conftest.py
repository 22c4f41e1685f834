"""A browser, and servers on copies of the workspace of the example; `run.sh` runs these tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.building import Viewer

collect_ignore_glob = [] if os.environ.get("PIPIMEM_TEST_BROWSER") else ["*"]

ROOT = Path(__file__).parents[2]
_SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium without a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(_SWITCHES)
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace that the example's ten days of talk become, by the offline rules."""
    root = tmp_path_factory.mktemp("example") / "bot"
    pipimem = [sys.executable, "-m", "pipimem"]
    words = ["--workspace", str(root), "--model", "offline", "replay", "release-room"]
    log = str(ROOT / "examples" / "release-room.jsonl")
    how = ["--kind", "group", "--compact-every", "60", "--maintain"]
    for command in ([*pipimem, "init", str(root)], [*pipimem, *words, log, *how]):
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return root


@pytest.fixture
def view(browser: Browser, example: Path, tmp_path: Path) -> Iterator[Callable[..., Viewer]]:
    """Starts a server on a copy of the example, and a browser that has signed in.

    Takes options of `pipimem ui`, and by name `language`, `dark`, `width`, `root`.
    """
    from tests.browser.building import viewing

    with ExitStack() as open_ones:

        def start(*options: str, root: Path | None = None, **how: object) -> Viewer:
            if root is None:
                root = tmp_path / "bot"
                if not root.exists():
                    shutil.copytree(example, root)
            return open_ones.enter_context(viewing(browser, root, *options, **how))  # type: ignore[arg-type]

        yield start
