"""A server in a process of its own, and a browser that looks at it as a person does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, Page, expect

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "docs" / "guide" / "ui"
AXE = ROOT / ".cache" / "axe-core" / "node_modules" / "axe-core" / "axe.min.js"
CHANNEL = "release-room"
# Of WCAG 2.2 AA, and what axe calls good practice.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_SECONDS = 20

expect.set_options(timeout=10_000)


@dataclass
class Viewer:
    """A page of a server; `problems` are what the browser complained of."""

    root: Path
    address: str
    page: Page
    context: BrowserContext
    process: subprocess.Popen[str]
    problems: list[str] = field(default_factory=list)
    scripts: bool = True

    @property
    def origin(self) -> str:
        return self.address.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.address.partition("#token=")[2]

    def file(self, name: str = "MEMORY.md", channel: str = CHANNEL) -> Path:
        """A file of the channel."""
        return self.root / "channels" / channel / name

    def open(self, path: str = "/channel", **query: str) -> Page:
        """Goes to a page, by default that of the example's channel."""
        said = urlencode({"id": CHANNEL} | query if path != "/" else query)
        self.page.goto(f"{self.origin}{path}?{said}")
        if self.scripts:
            self.page.wait_for_selector("html.scripts")
        return self.page

    def new_tab(self) -> Viewer:
        """Another tab of the same browser."""
        page = self.context.new_page()
        tab = Viewer(self.root, self.address, page, self.context, self.process, self.problems)
        _listen(page, self.problems)
        return tab

    def screenshot(self, name: str) -> None:
        """Keeps a picture for the guide, where PIPIMEM_SCREENSHOTS says so."""
        if os.environ.get("PIPIMEM_SCREENSHOTS"):
            SCREENSHOTS.mkdir(exist_ok=True)
            self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def violations(self) -> list[str]:
        """What axe finds on the page; nothing where it is not installed."""
        if not AXE.exists():
            return []
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate(
            "rules => axe.run(document, {runOnly: rules}).then(r => r.violations.flatMap("
            "v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 150)} ${n.failureSummary}`)))",
            _RULES,
        )
        return list(found)


def _listen(page: Page, problems: list[str]) -> None:
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type == "error" else None,
    )


@contextmanager
def serving(root: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pipimem", "--workspace", str(root), "--model", "offline", "ui", "--port", "0", "--no-browser", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        told = ""
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, told
            told += line
            found = re.search(r"http://\S+", line)
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def viewing(
    browser: Browser,
    root: Path,
    *options: str,
    language: str = "en",
    dark: bool = False,
    width: int = 1100,
    scripts: bool = True,
) -> Iterator[Viewer]:
    """A server, and a browser that has signed in by its address."""
    with serving(root, *options) as (process, address):
        context = browser.new_context(
            locale=language,
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": 800},
            java_script_enabled=scripts,
        )
        page = context.new_page()
        viewer = Viewer(root, address, page, context, process, scripts=scripts)
        _listen(page, viewer.problems)
        if scripts:
            page.goto(address)
            page.wait_for_url(lambda url: "sign-in" not in url)
        else:
            sign_in(context, viewer)
        yield viewer
        context.close()


def sign_in(context: BrowserContext, viewer: Viewer) -> None:
    """As the script of the page does, for a browser that runs none."""
    answer = context.request.post(f"{viewer.origin}/sign-in", data={"token": viewer.token})
    assert answer.status == 204


def stopped(process: subprocess.Popen[str]) -> None:
    """Ends a server by a signal."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=_SECONDS) == 0


def until(done: Callable[[], bool], page: Page, seconds: float = 5) -> float:
    """Waits for something outside the page; how many seconds that took."""
    began = time.perf_counter()
    while not done():
        assert time.perf_counter() - began < seconds
        page.wait_for_timeout(10)
    return time.perf_counter() - began
