"""Attacks on a server of this machine, as another page in the same browser makes them."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.building import CHANNEL, Viewer, stopped, viewing

View = Callable[..., Viewer]


@contextmanager
def evil_page(html: str = "<p>evil") -> Iterator[int]:
    """A page of somebody else on another port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_the_token_leaves_the_address_and_no_script_reads_the_cookie(view: View) -> None:
    """Neither stands in the history of the browser."""
    viewer = view()
    assert "token" not in viewer.page.url
    (cookie,) = viewer.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert str(urlsplit(viewer.origin).port) in cookie["name"]
    assert viewer.page.evaluate("document.cookie") == ""
    viewer.page.go_back()
    assert "token" not in viewer.page.url


def test_without_the_token_there_is_the_sign_in_alone(view: View, browser: Browser) -> None:
    """A wrong token says so; the right one leads to the page that was asked for."""
    viewer = view()
    context = browser.new_context(locale="en")
    page = context.new_page()
    page.goto(f"{viewer.origin}/channel?id={CHANNEL}")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#problem")).to_be_visible()
    page.get_by_label("Token").fill(viewer.token)
    page.get_by_label("Token").press("Enter")
    expect(page.locator("article.entry").first).to_be_visible()
    assert page.url == f"{viewer.origin}/channel?id={CHANNEL}"
    context.close()


def test_a_page_of_another_port_can_do_nothing(view: View) -> None:
    """The browser sends it our cookie's request: reads give it nothing, changes are refused."""
    viewer = view()
    before = viewer.file().read_bytes()
    with evil_page() as port:
        page = viewer.context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        address = f"{viewer.origin}/channel?id={CHANNEL}"
        script = """async ([url, how]) => {
            try { const a = await fetch(url, how); return `${a.status} ${await a.text()}`; }
            catch (error) { return 'refused'; } }"""
        for how in (
            {"credentials": "include"},
            {"credentials": "include", "mode": "no-cors"},
        ):
            assert page.evaluate(script, [address, how]) in ("refused", "0 ")
        for method in ("POST", "PUT"):
            change = {
                "method": method,
                "credentials": "include",
                "headers": {"Content-Type": "application/json", "If-Match": "*"},
                "body": '{"text": "Dana"}',
            }
            target = f"{viewer.origin}/channel/forget?id={CHANNEL}"
            assert page.evaluate(script, [target, change]) == "refused"
        form = """url => { const f = document.createElement('form'); f.method = 'POST'; f.action = url;
            f.enctype = 'text/plain'; document.body.append(f); f.submit(); }"""
        with page.expect_navigation() as told:
            page.evaluate(form, f"{viewer.origin}/channel/forget?id={CHANNEL}")
        assert told.value.status == 403
        page.close()
    assert viewer.file().read_bytes() == before


def test_no_page_is_shown_in_a_frame(view: View) -> None:
    """A click that somebody steals is none."""
    viewer = view()
    with evil_page(f"<iframe src='{viewer.origin}/channel?id={CHANNEL}'></iframe>") as port:
        page = viewer.context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_timeout(500)
        assert all(
            "Memory" not in (frame.content() if frame.url.startswith("http") else "")
            for frame in page.frames[1:]
        )
        page.close()


def test_a_name_that_is_resolved_to_this_machine_reaches_nothing(
    view: View, browser: Browser
) -> None:
    """DNS rebinding: the page's own name comes as Host, though it is the same address."""
    viewer = view()
    port = urlsplit(viewer.origin).port
    # Chromium resolves every name below localhost to loopback, as an attacker's name server would.
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"http://evil.localhost:{port}/")
    assert answer is not None
    assert answer.status == 421
    text = page.evaluate("async () => (await fetch('/sign-in', {method: 'POST'})).status")
    assert text == 421
    context.close()


HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "[click](javascript:window.hacked=1)",
    "![x](https://evil.example/x.png)",
    "<svg onload='window.hacked = 1'></svg>",
    "\u202egnp.exe",
    '" onmouseover="window.hacked=1" x="',
    "'; window.hacked = 1; '",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "</article></main><script>window.hacked = 1</script>",
]


def test_hostile_entries_do_nothing(view: View) -> None:
    """Not when they are shown, nor when they are edited, told of or forgotten."""
    viewer = view()
    lines = "".join(f"- {text}\n" for text in HOSTILE)
    file = viewer.file(channel="hostile")
    file.parent.mkdir()
    file.write_text(f"## {HOSTILE[0]}\n\n{lines}- {'x' * 1_000_000}\n", encoding="utf-8")
    outside: list[str] = []
    viewer.page.on("request", lambda one: outside.append(one.url))
    page = viewer.open(id="hostile")
    expect(page.locator("article.entry")).to_have_count(len(HOSTILE) + 1)
    for number in range(len(HOSTILE)):
        one = page.locator("article.entry").nth(number)
        one.hover()
        one.locator("[data-action=edit]").click()
        area = page.locator(".editor textarea")
        assert area.input_value() == HOSTILE[number]
        area.press("Escape")
        one.locator("[data-action=forget]").click()
        expect(page.locator("#forget [data-found] li").first).to_be_visible()
        page.locator("#forget [data-step=confirm] [data-close]").click()
        expect(page.locator("#forget")).to_be_hidden()
    expect(page.locator("article.entry").first).to_be_visible()
    page.get_by_role("link", name="Why?").nth(1).click()
    expect(page.get_by_role("heading", name="Why is this here?")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert [url for url in outside if not url.startswith(viewer.origin)] == []
    assert page.locator("main script, main img, main svg, main iframe").count() == 0
    assert "\u202e" not in page.content()


@pytest.mark.parametrize("options", [("--read-only",), ("--channel", CHANNEL)])
def test_what_a_view_may_not_do_it_does_not(view: View, options: tuple[str, ...]) -> None:
    """A link for one group, or to look only."""
    viewer = view(*options)
    page = viewer.open()
    expect(page.locator("article.entry").first).to_be_visible()
    buttons = page.locator("[data-edit-file]")
    if "--read-only" in options:
        expect(buttons).to_be_hidden()
        answer = viewer.context.request.put(
            f"{viewer.origin}/channel/file?id={CHANNEL}",
            headers={"If-Match": "*"},
            data={"draft": "", "base": ""},
        )
        assert answer.status == 403
    else:
        expect(buttons).to_be_visible()
        viewer.page.goto(f"{viewer.origin}/")
        assert viewer.page.url == f"{viewer.origin}/channel?id={CHANNEL}"
        assert viewer.context.request.get(f"{viewer.origin}/channel?id=other").status == 404


def test_the_server_stops_with_pages_open(view: View) -> None:
    """Its streams are ended; the page stays, and finds the server again by itself."""
    viewer = view()
    tabs = [viewer, viewer.new_tab(), viewer.new_tab()]
    for tab in tabs:
        tab.open()
        expect(tab.page.locator("article.entry").first).to_be_visible()
    viewer.page.wait_for_timeout(300)
    stopped(viewer.process)
    assert viewer.process.stderr is not None
    assert "Traceback" not in viewer.process.stderr.read()
    expect(viewer.page.locator("article.entry").first).to_be_visible()


def test_a_save_without_the_server_keeps_the_words(view: View, browser: Browser) -> None:
    """They are told to be kept, and are still there once it runs again."""
    viewer = view()
    page = viewer.open()
    page.locator("article.entry [data-action=edit]").first.click()
    area = page.locator(".editor textarea")
    area.fill("- typed while it stopped")
    stopped(viewer.process)
    area.press("Control+Enter")
    expect(page.locator(".editor [data-problem]")).to_contain_text("cannot be reached")
    expect(area).to_have_value("- typed while it stopped")
    with viewing(browser, viewer.root) as again:
        assert "typed while" not in again.file().read_text("utf-8")
