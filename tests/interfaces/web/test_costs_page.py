"""The pages of what was spent, and of what is wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.notes.usage import Usage

from tests.interfaces.web.building import CHANNEL, Browser, browsing

pytestmark = pytest.mark.anyio


def spend(browser: Browser, channel: str, tokens: int, days_ago: int = 0) -> None:
    """A call in the ledger."""
    when = datetime.now().astimezone() - timedelta(days=days_ago)
    call = Usage(
        time=when.isoformat(),
        channel=channel,
        task="consolidate",
        model="openai/tiny",
        tokens_in=tokens,
        tokens_out=7,
        tokens_cached=0,
        cost=0.25,
        latency=1.0,
        outcome="ok",
        correlation=f"call-{tokens}",
    )
    browser.pipimem.store.usage_store.append(call)


async def test_costs_by_day_task_model_and_channel(root: Path) -> None:
    """As plots with a table behind them; what is older than the days asked for is left out."""
    async with browsing(root) as browser:
        spend(browser, CHANNEL, 1234)
        spend(browser, "other", 2000, days_ago=3)
        spend(browser, "other", 9_999_999, days_ago=60)
        html = await browser.page("/costs")
        for words in ("3,234", "consolidate", "openai/tiny", CHANNEL, "other", "$0.5000", "<rect"):
            assert words in html
        assert "9,999,999" not in html
        assert "9,999,999" in await browser.page("/costs", days="90")
        assert (await browser.get("/costs", days="-1")).status_code == 400


async def test_plots_by_task_model_and_channel(root: Path) -> None:
    """The highest eight as bars, of the rest how many; the tables name them all."""
    async with browsing(root) as browser:
        for number in range(11):
            spend(browser, f"room-{number}", 1_000 * (number + 1))
        html = await browser.page("/costs")
        channels = html.partition("By Channel")[2]
        plots, _, table = channels.partition("<table>")
        assert plots.count('class="bar"') == 16  # tokens and money; none failed
        assert plots.index("room-10") < plots.index("room-9")
        assert plots.count("+ 3 more") == 2
        assert 'width="300.0"' in plots
        assert table.count('<th scope="row">') == 11


async def test_today_yesterday_and_the_week_stand_first(root: Path) -> None:
    """Whatever time the plots are of; and what is left of today's budget, in words of the page."""
    async with browsing(root, language="zh") as browser:
        for days_ago, tokens in enumerate((1_000, 20_000, 300_000)):
            spend(browser, CHANNEL, tokens, days_ago=days_ago)
        spend(browser, CHANNEL, 4_000_000, days_ago=7)
        html = await browser.page("/costs", days="1")
        cards = html.partition('<dl class="cards">')[2].partition("</dl>")[0].split("<dt>")[1:]
        told = [(card[:2], card.partition("$")[2][:4]) for card in cards]
        assert told == [("今天", "0.25"), ("昨天", "0.25"), ("7 ", "0.75")]
        for card, tokens in zip(cards, ("1,007", "20,007", "321,021"), strict=True):
            assert tokens in card
        assert "个 token 中的 1,007 个" in html
        assert "today the workspace" not in html


async def test_one_channel_sees_its_own_costs(root: Path) -> None:
    """And nothing of the workspace: no other channel's, no budgets, no health."""
    async with browsing(root, only="room") as browser:
        spend(browser, "room", 1234)
        spend(browser, "other", 5555)
        html = await browser.page("/costs")
        assert "1,234" in html
        assert "5,555" not in html
        assert "other" not in html
        assert (await browser.get("/health")).status_code == 404


async def test_health_names_what_is_wrong_and_what_to_do(root: Path) -> None:
    """As `pipimem doctor` does, the wrong ones first."""
    async with browsing(root) as browser:
        browser.write("## Facts\n\n- the password is hunter2-Xk9\n")
        html = await browser.page("/health")
        assert "hunter2" not in html
        assert "pip install" in html  # the recommended embedder: worth knowing, not wrong
        assert '"badge">note' in html
        (root / "pipimem.toml").write_text("[nonsense]\n")
        html = await browser.page("/health")
        assert "nonsense" in html
        first = html.partition("<tbody>")[2].partition("</tr>")[0]
        assert '"badge wrong">wrong' in first
        assert "To fix: " in html
