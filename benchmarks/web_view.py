"""How soon `pipimem ui` shows a page, and what it holds: `python -m benchmarks.web_view`.

A channel of 5,000 entries is opened in chromium: right after the server started, with its notes
read before as those of a channel with new talk are (`read before`) and not (`unread`), and again.
The time is the browser's own, from the request to the first painted text; beside it stands the
processor time of the server, to which other programs add nothing. Then the memory of the
server beside that of a process that has the library and the same channel open; then the list of
20,000 channels. Before them the size of the scripts, what the page of a tried message takes above
`Channel.preview`, how soon an open page shows what an editor saves, and how soon a server with
three open pages ends. Needs `pipimem[ui]`, playwright and chromium.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from pipimem.resources import web_folder
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.machine import heading, quantile

_ENTRIES = 5_000
_OTHERS = 6
# So often a page is asked for again.
_AGAIN = 9
_BIG = "big"
_SECTIONS = ("Facts", "Decisions", "Preferences", "Lessons", "Constraints")
_WORDS = [
    "deploy",
    "port",
    "host",
    "release",
    "staging",
    "billing",
    "Tuesday",
    "Alice",
    "Bob",
    "Carol",
    "token",
    "cache",
    "queue",
    "worker",
    "schema",
    "index",
    "backup",
    "restore",
    "部署",
    "端口",
    "发布",
    "周二",
    "值班",
    "备份",
]
_SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
# The library with a channel open, as a bot has it, and nothing else.
_LIBRARY = """\
import asyncio, sys
from pipimem import File, Pipimem
async def main():
    async with Pipimem(sys.argv[1], "offline") as pipimem:
        for name in sys.argv[2:]:
            channel = await pipimem.channel(name, create=False)
            await channel.files.view(File.MEMORY, count=0)
        print("ready", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--channels", type=int, default=20_000)
    chosen = parser.parse_args()
    print(heading("The web view", "starlette", "uvicorn", "jinja2"))
    print(f"load {os.getloadavg()[0]:.1f}\n\n| what | figure |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "bot"
        _filled(root)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=list(_SWITCHES)
            )
            _scripts()
            _paints(browser, root, chosen.runs)
            _tried(browser, root)
            _heard(browser, root)
            _ends(browser, root)
            _memory(root)
            many = Path(folder) / "many"
            _many(many, chosen.channels)
            _lists(browser, many, chosen.channels)
            browser.close()


def _row(what: str, figure: str) -> None:
    print(f"| {what} | {figure} |", flush=True)


def _paints(browser: Browser, root: Path, runs: int) -> None:
    for what, options in (("unread", ()), ("read before", ("--channel", _BIG))):
        first, again, spent, spent_again = [], [], [], []
        for _ in range(runs):
            with (
                _serving(root, *options) as (server, address),
                _signed_in(browser, address) as page,
            ):
                _wait_until_idle(server.pid)
                target = f"{_origin(address)}/channel?id={_BIG}"
                before = _processor(server.pid)
                first.append(_painted(page, target))
                between = _processor(server.pid)
                again += [_painted(page, target) for _ in range(_AGAIN)]
                spent.append(between - before)
                spent_again.append((_processor(server.pid) - between) / _AGAIN)
        _row(f"first page after the start, {what}, ms", _spread(first))
        _row("… processor time of the server", _spread(spent))
        _row(f"the same page again, {what}, ms", _spread(again))
        _row("… processor time of the server", _spread(spent_again))


def _wait_until_idle(process: int) -> None:
    """Until a server has read what it reads before anybody asks."""
    before, now = -1.0, _processor(process)
    while before != now:
        time.sleep(1)
        before, now = now, _processor(process)


def _processor(process: int) -> float:
    """The processor time of a process and its threads so far, in ms; other programs add nothing."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _scripts() -> None:
    sizes = [len(gzip.compress(one.read_bytes())) for one in web_folder("static").glob("*.js")]
    _row("all scripts, zipped one by one, KB", f"{sum(sizes) / 1024:.1f}")


_QUESTION = "deploy the billing port on Tuesday"
_TRIES = 40


# Tells for each line that it reads how long a preview took, in milliseconds.
_PREVIEW = """\
import asyncio, sys, time
from pipimem import Pipimem
async def main():
    async with Pipimem(sys.argv[1], "offline") as pipimem:
        channel = await pipimem.channel(sys.argv[2], create=False)
        for line in sys.stdin:
            began = time.perf_counter()
            await channel.preview(line.strip(), first=False)
            print((time.perf_counter() - began) * 1000, flush=True)
asyncio.run(main())
"""


def _tried(browser: Browser, root: Path) -> None:
    """The page and `preview` in turns, so that other programs slow both."""
    whole, own = [], []
    command = [sys.executable, "-c", _PREVIEW, str(root), _BIG]
    with (
        _serving(root, "--channel", _BIG) as (_, address),
        _signed_in(browser, address) as page,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as library,
    ):
        assert library.stdin is not None
        assert library.stdout is not None
        for _ in range(_TRIES):
            began = time.perf_counter()
            asked = {"id": _BIG, "text": _QUESTION}
            page.context.request.get(f"{_origin(address)}/playground", params=asked).text()
            whole.append((time.perf_counter() - began) * 1000)
            print(_QUESTION, file=library.stdin, flush=True)
            own.append(float(library.stdout.readline()))
        library.stdin.close()
    whole, own = whole[2:], own[2:]  # the first ones read the notes
    _row("a tried message: the page, ms", _spread(whole))
    _row("a tried message: `Channel.preview` alone, ms", _spread(own))
    _row("above it, ms", f"p50 {quantile(whole, 0.5) - quantile(own, 0.5):,.0f}")


_WATCH = """() => { window.seen = 0; new MutationObserver(() => {
    if (document.body.textContent.includes(window.awaited)) window.seen ||= Date.now(); })
    .observe(document.body, {childList: true, subtree: true}); }"""
_SAVES = 15


def _heard(browser: Browser, root: Path) -> None:
    for name in ("other-0", _BIG):
        file = root / "channels" / name / "MEMORY.md"
        text = file.read_text("utf-8")
        took = []
        with _serving(root) as (_, address), _signed_in(browser, address) as page:
            page.goto(f"{_origin(address)}/channel?id={name}")
            page.wait_for_selector("html.scripts")
            page.evaluate(_WATCH)
            for number in range(_SAVES):
                time.sleep(0.5)
                page.evaluate("w => { window.awaited = w; window.seen = 0; }", f"save {number}.")
                saved = time.time()
                heading, _, rest = text.partition("\n")
                file.write_text(f"{heading}\n\n- save {number}.\n{rest}", "utf-8")
                page.wait_for_function("() => window.seen")
                took.append(page.evaluate("() => window.seen") - saved * 1000)
        file.write_text(text, "utf-8")
        entries = f"{_ENTRIES:,} entries" if name == _BIG else "1 entry"
        _row(f"a save by an editor is shown, {entries}, ms", _spread(took))


def _ends(browser: Browser, root: Path) -> None:
    took = []
    for _ in range(3):
        with _serving(root) as (process, address), _signed_in(browser, address) as page:
            for tab in (page, page.context.new_page(), page.context.new_page()):
                tab.goto(f"{_origin(address)}/channel?id=other-0")
                tab.wait_for_selector("html.scripts")
            time.sleep(1)
            began = time.perf_counter()
            process.send_signal(signal.SIGTERM)
            process.wait()
            took.append((time.perf_counter() - began) * 1000)
    _row("the server ends with three pages open, ms", _spread(took))


def _lists(browser: Browser, root: Path, channels: int) -> None:
    with _serving(root) as (server, address), _signed_in(browser, address) as page:
        began = time.perf_counter()
        _painted(page, f"{_origin(address)}/")
        took = (time.perf_counter() - began) * 1000
        _row(f"list of {channels:,} channels right after the start, ms", f"{took:,.0f}")
        _wait_until_idle(server.pid)
        before = _processor(server.pid)
        _row(
            "the list again, ms",
            _spread([_painted(page, f"{_origin(address)}/") for _ in range(_AGAIN)]),
        )
        spent = (_processor(server.pid) - before) / _AGAIN
        _row("… processor time of the server, looking through all again as well", f"{spent:.0f}")


def _painted(page: Page, address: str) -> float:
    page.goto(address)
    painted = 0.0
    while not painted:
        painted = float(page.evaluate(_PAINTED))
    return painted


def _spread(values: list[float]) -> str:
    return f"p50 {quantile(values, 0.5):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


def _memory(root: Path) -> None:
    for what, names in (("no channel", ()), (f"{_ENTRIES:,} entries open", (_BIG,))):
        options = ("--channel", *names) if names else ()
        command = [sys.executable, "-c", _LIBRARY, str(root), *names]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as library:
            assert library.stdout is not None
            library.stdout.readline()
            alone = _held(library.pid)
            library.kill()
        empty = root if names else root.parent / "empty"
        if not names:
            _run("init", str(empty))
        with _serving(empty, *options) as (process, _):
            time.sleep(5)
            served = _held(process.pid)
        told = f"{served:.0f}, of them {alone:.0f} the library: {served - alone:.0f} over it"
        _row(f"memory of the idle server, {what}, MB", told)


def _held(process: int) -> float:
    """The memory that is the process's own share, in MB."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    return int(re.findall(r"^Pss:\s+(\d+)", text, re.MULTILINE)[0]) / 1024


def _run(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pipimem", *words], check=True, capture_output=True)


def _filled(root: Path) -> None:
    """A workspace whose channel `big` has learnt 5,000 entries, and others with newer talk."""
    random, source = Random(1), root.parent / "claw"
    (source / "memory").mkdir(parents=True)
    lines = ["# Memory"]
    for number in range(_ENTRIES):
        if number % (_ENTRIES // len(_SECTIONS)) == 0:
            lines.append(f"\n## {_SECTIONS[number * len(_SECTIONS) // _ENTRIES]}\n")
        said = " ".join(random.choice(_WORDS) for _ in range(random.randint(8, 20)))
        lines.append(f"- item {number}: {said}")
    (source / "MEMORY.md").write_text("\n".join(lines) + "\n", "utf-8")
    _run("init", str(root))
    offline = ("--workspace", str(root), "--model", "offline")
    _run(*offline, "import", str(source), "--from", "openclaw", "--channel", _BIG)
    for number in range(_OTHERS):
        folder = root / "channels" / f"other-{number}"
        folder.mkdir()
        (folder / "MEMORY.md").write_text("- a fact\n", "utf-8")
        (folder / "log.jsonl").write_text(_MESSAGE, "utf-8")


_MESSAGE = (
    '{"id": "m1", "n": 1, "ts": "2026-03-02T09:00:00+00:00", "role": "user", "name": "Ann", '
    '"content": "hello"}\n'
)


def _many(root: Path, channels: int) -> None:
    _run("init", str(root))
    _run("--workspace", str(root), "--model", "offline", "remember", "room-0", "a fact")
    identity = (root / "channels" / "room-0" / ".pipimem" / "channel.json").read_text("utf-8")
    for number in range(1, channels):
        folder = root / "channels" / f"room-{number}"
        (folder / ".pipimem").mkdir(parents=True)
        own = identity.replace('"room-0"', f'"room-{number}"')
        (folder / ".pipimem" / "channel.json").write_text(own, "utf-8")
        (folder / "MEMORY.md").write_text("- a fact\n", "utf-8")
        (folder / "log.jsonl").write_text(_MESSAGE, "utf-8")


@contextmanager
def _serving(root: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "pipimem", "--workspace", str(root), "--model", "offline"]
    process = subprocess.Popen(
        [*command, "ui", "--port", "0", "--no-browser", *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        told = None
        while told is None:
            told = re.search(r"http://\S+", process.stderr.readline())
        yield process, told[0]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def _signed_in(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(locale="en")
    token = address.partition("#token=")[2]
    context.request.post(f"{_origin(address)}/sign-in", data={"token": token})
    page = context.new_page()
    page.goto("about:blank")
    yield page
    context.close()


def _origin(address: str) -> str:
    return address.partition("/#")[0]


if __name__ == "__main__":
    main()
