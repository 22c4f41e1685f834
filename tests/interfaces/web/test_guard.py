"""Who may ask: hosts, origins, cookies, preconditions; and what every answer tells the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.web.building import JSON, ORIGIN, PORT, browsing

pytestmark = pytest.mark.anyio

CHANGES = [
    ("PUT", "/channel/file"),
    ("PUT", "/channel/entry"),
    ("POST", "/channel/pin"),
    ("POST", "/channel/move"),
    ("POST", "/channel/remember"),
    ("POST", "/channel/forget"),
]
READING = ["/", "/channel", "/channel/source", "/entry", "/events", "/channel/forget"]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/static/app.js", "/nothing"])
async def test_a_foreign_host_gets_nothing(root: Path, path: str) -> None:
    """A page that has its own name resolved to this machine sends that name, cookie or not."""
    async with browsing(root) as browser:
        for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1", "0.0.0.0:8378", ""):
            answer = await browser.client.get(path, headers={"Host": host})
            assert answer.status_code == 421, host


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), *CHANGES])
async def test_a_page_of_another_origin_gets_nothing(root: Path, method: str, path: str) -> None:
    """Also of another port of this machine, to which the browser sends our cookie."""
    async with browsing(root) as browser:
        for origin in (
            "http://evil.example",
            "null",
            f"https://127.0.0.1:{PORT}",
            "http://127.0.0.1:1",
        ):
            answer = await browser.client.request(
                method, path, headers={"Origin": origin, "If-Match": "*", "Content-Type": JSON}
            )
            assert answer.status_code == 403, origin


async def test_what_a_page_of_another_port_loads_for_itself_is_refused(root: Path) -> None:
    """A link that a person follows is not."""
    async with browsing(root) as browser:
        same_site = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
        assert (await browser.client.get("/", headers=same_site)).status_code == 403
        followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert (await browser.client.get("/", headers=followed)).status_code == 200


async def test_a_save_after_the_server_began_anew_is_refused_in_the_page_s_language(
    root: Path,
) -> None:
    """The cookie of the start before is none of this one; the page shows the sentence."""
    for language, words in (("en", "Sign in with the address"), ("zh-CN", "显示的地址登录")):
        async with browsing(root, language=language, signed_in=False) as browser:
            answer = await browser.client.put(
                "/channel/file",
                headers={"Accept": JSON, "Origin": ORIGIN, "If-Match": "*", "Content-Type": JSON},
                content="{}",
            )
            assert answer.status_code == 401
            assert words in answer.text


@pytest.mark.parametrize("path", READING)
async def test_without_signing_in_nothing_is_shown(root: Path, path: str) -> None:
    """A page leads to the sign-in and back; a script is told."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/sign-in?next=")
        told = await browser.client.get(path, headers={"Accept": JSON})
        assert told.status_code == 401


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_without_signing_in_nothing_is_changed(root: Path, method: str, path: str) -> None:
    """Whatever it says besides."""
    async with browsing(root, signed_in=False) as browser:
        assert (await browser.change(method, path, "*", {})).status_code == 401


async def test_a_cookie_that_is_not_the_one(root: Path) -> None:
    """Neither one of another start, nor two, nor one of another port."""
    async with browsing(root) as browser:
        good = browser.client.cookies[f"pipimem-{PORT}"]
        browser.client.cookies.clear()
        for cookie in (
            f"pipimem-{PORT}=other",
            f"pipimem-{PORT}={good}; pipimem-{PORT}=other",
            f"pipimem-1={good}",
            f"pipimem-{PORT}=",
            "\xff=\xff",
        ):
            headers = {"Accept": JSON, "Cookie": cookie.encode("latin-1")}
            answer = await browser.client.get("/channel", headers=headers)
            assert answer.status_code == 401, cookie
        headers = {"Cookie": f"pipimem-{PORT}={good}"}
        assert (await browser.client.get("/", headers=headers)).status_code == 200


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_a_change_says_what_it_changes(root: Path, method: str, path: str) -> None:
    """Without If-Match 428, as a form or without a type 415: neither needs a preflight."""
    async with browsing(root) as browser:
        query = {"id": browser.channel.id}
        without = await browser.client.request(
            method, path, params=query, json={}, headers={"Origin": ORIGIN}
        )
        assert without.status_code == 428
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            form = await browser.client.request(
                method, path, params=query, headers={"If-Match": "*", "Content-Type": kind}
            )
            assert form.status_code == 415


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_a_view_that_is_read_only_changes_nothing(root: Path, method: str, path: str) -> None:
    """Whatever the page offers."""
    async with browsing(root, read_only=True) as browser:
        assert (await browser.change(method, path, "*", {})).status_code == 403
        assert "Read-only" in await browser.page("/channel")


async def test_every_answer_keeps_the_browser_safe(root: Path) -> None:
    """No script but ours, no frame, no referrer, nothing of a memory kept; refusals too."""
    async with browsing(root) as browser:
        answers = [
            await browser.get("/channel"),
            await browser.client.get("/static/app.js"),
            await browser.client.get("/static/nothing.js"),
            await browser.client.get("/nothing"),
            await browser.client.get("/", headers={"Host": "evil.example"}),
        ]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            is_kept = answer.request.url.path == "/static/app.js"
            kept = "private, max-age=60" if is_kept else "no-store"
            assert answer.headers["cache-control"] == kept
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert "access-control-allow-origin" not in answer.headers


async def test_no_page_has_a_script_or_style_in_it(root: Path) -> None:
    """The policy would refuse it."""
    async with browsing(root) as browser:
        for path in ("/", "/channel", "/sign-in", "/nothing"):
            html = (await browser.get(path)).text
            assert "<style" not in html
            assert " style=" not in html
            assert "<script>" not in html
            assert " onclick" not in html
