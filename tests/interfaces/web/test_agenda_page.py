"""The agenda, and contradictions that a person settles with a click."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.interfaces.web.building import browsing

pytestmark = pytest.mark.anyio

MEMORY = "## Facts\n\n- the gate opens at 8:00\n\n## Decisions\n\n- the gate opens at 9:00\n"


@pytest.mark.parametrize(("language", "overdue"), [("en", "overdue"), ("zh", "已过期")])
async def test_the_agenda_has_the_days_in_order(root: Path, language: str, overdue: str) -> None:
    """What is overdue says so; what has no day comes last."""
    today = date.today()  # noqa: DTZ011 - the day where the page is made
    async with browsing(root, language=language) as browser:
        assert overdue not in await browser.page("/agenda")
        await browser.channel.notes.remember("call Bo", due=today + timedelta(days=9))
        await browser.channel.notes.remember(
            "buy <b>cake</b>", due=today - timedelta(days=9), speaker="Ann"
        )
        page = (await browser.get("/agenda")).text
    assert page.index("cake") < page.index("call Bo")
    assert overdue in page
    assert "Ann" in page
    assert "<b>cake" not in page


async def test_a_pair_is_settled(root: Path) -> None:
    """The entry that is kept is named in If-Match."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        page = await browser.page("/conflicts")
        older, newer, _ = re.findall(r'data-settle="(\w+)"', page)
        body = {"keep": newer, "other": older, "both": False}
        assert (await browser.change("POST", "/conflicts", older, body)).status_code == 412
        assert (
            await browser.change("POST", "/conflicts", newer, body | {"both": "no"})
        ).status_code == 400
        assert browser.read() == MEMORY
        assert (await browser.change("POST", "/conflicts", newer, body)).json() == {"settled": 1}
        assert "8:00" not in browser.read()
        assert "data-settle" not in await browser.page("/conflicts")
        again = await browser.change("POST", "/conflicts", newer, body)
        assert again.status_code == 404


async def test_both_are_kept(root: Path) -> None:
    """The pair is shown no more, and the file stays as it is."""
    async with browsing(root) as browser:
        browser.write(MEMORY)
        older, newer, _ = re.findall(r'data-settle="(\w+)"', await browser.page("/conflicts"))
        body = {"keep": newer, "other": older, "both": True}
        assert (await browser.change("POST", "/conflicts", newer, body)).status_code == 200
        assert "data-settle" not in await browser.page("/conflicts")
        assert browser.read() == MEMORY


async def test_twenty_pairs_make_a_page(root: Path) -> None:
    """The others are a click away."""
    lines = [f"- locker A{number} costs {price} euros" for number in range(21) for price in (5, 6)]
    async with browsing(root) as browser:
        browser.write("\n".join(lines) + "\n")
        assert (await browser.page("/conflicts")).count("<article") == 20
        assert (await browser.page("/conflicts", **{"from": "20"})).count("<article") == 1
