"""The token of the address becomes a cookie of this port and start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import table
from tests.interfaces.web.building import CHANNEL, JSON, PORT, TOKEN, browsing

pytestmark = pytest.mark.anyio


async def test_the_token_is_exchanged_for_a_cookie(root: Path) -> None:
    """That no script reads and no page of another site sends; it is not the token itself."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.sign_in()
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"pipimem-{PORT}=")
        assert TOKEN not in cookie
        for word in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert word in cookie
        assert (await browser.get("/channel")).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + " ", TOKEN[:-1], "密码"])
async def test_another_token_gets_none(root: Path, token: str) -> None:
    """401, and nothing is set."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.sign_in(token)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"token": 1}', r'{"token": "\ud800"}', "\xff"])
async def test_what_is_no_token_is_told(root: Path, body: str) -> None:
    """400; not an error of the server."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.client.post(
            "/sign-in", content=body.encode("latin-1"), headers={"Content-Type": JSON}
        )
        assert answer.status_code == 400


@pytest.mark.parametrize(
    ("wanted", "led"),
    table(__file__, "it_leads_to_a_page_of_ours"),
)
async def test_it_leads_to_a_page_of_ours(root: Path, wanted: str, led: str) -> None:
    """An address that somebody made leads nowhere else."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.client.get("/sign-in", params={"next": wanted})
        assert f'data-next="{led}"' in answer.text


async def test_the_way_back_is_the_page_that_was_asked_for(root: Path) -> None:
    """Whatever the id of its channel is."""
    async with browsing(root, signed_in=False) as browser:
        answer = await browser.get("/channel")
        page = await browser.client.get(answer.headers["location"])
        assert 'data-next="/channel?id=cid6KeBBLoveM%2FAZ%3D%3D"' in page.text
        assert CHANNEL not in page.text


async def test_whether_the_cookie_is_there_can_be_asked(root: Path) -> None:
    """A link in a chat is followed without it, and the sign-in then goes on by itself."""
    async with browsing(root, signed_in=False) as browser:
        assert (await browser.client.get("/sign-in/status")).status_code == 401
        await browser.sign_in()
        assert (await browser.client.get("/sign-in/status")).status_code == 204
