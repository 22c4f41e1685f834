"""Talk, a message tried, costs and health, as a person looks at them; in both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.building import Viewer

View = Callable[..., Viewer]
PAGES = {
    "talk": ("/talk", {}),
    "search": ("/talk", {"q": "deploy Fridays"}),
    "around": ("/talk/around", {"message": "rr-043"}),
    "try": ("/playground", {"text": "2.4 什么时候发布？", "speaker": "Dana", "first": "1"}),
    "costs": ("/costs", {}),
    "health": ("/health", {}),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_page_is_accessible(view: View, name: str, language: str) -> None:
    """In light and dark, at a desk and on a phone: axe finds nothing, nothing is cut off."""
    path, query = PAGES[name]
    viewer = view(language=language, dark=language != "en", width=1100 if language == "en" else 390)
    page = viewer.open(path, **query)
    assert viewer.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    viewer.screenshot(f"{name}-{language}")
    assert viewer.problems == []


def test_why_the_bot_knew_it(view: View) -> None:
    """Within two clicks from the notes: the candidates, their bars, the block; the question kept."""
    viewer = view()
    page = viewer.open()
    page.get_by_role("link", name="Try a message").click()
    page.get_by_label("Message").fill("when do we release 2.4?")
    page.get_by_role("button", name="Ask memory").click()
    expect(page.locator(".candidate").first).to_contain_text("shown")
    assert page.locator(".candidate").first.locator("svg rect").count() > 1
    expect(page.locator("pre").last).to_contain_text("2.4")
    page.get_by_label("Words that must be found").fill("Thursday, 12 March")
    page.get_by_role("button", name="Keep the question").click()
    expect(page.locator("#status")).to_have_text("Kept.")
    kept = (viewer.root / "recall.must").read_text("utf-8")
    assert kept.splitlines()[-1] == "when do we release 2.4? => Thursday, 12 March"


def test_a_long_transcript_comes_as_one_scrolls(view: View) -> None:
    """The page begins with the newest hundred; scrolling brings the others, each once."""
    viewer = view()
    page = viewer.open("/talk")
    lines = page.locator("#transcript ol.talk > li")
    expect(lines).to_have_count(100)
    for _ in range(20):
        page.mouse.wheel(0, -4000)
        page.mouse.wheel(0, 200)
        page.mouse.wheel(0, -4000)
        page.wait_for_timeout(150)
        if not page.locator("[data-earlier]").count():
            break
    ids = page.locator("#transcript a[href*='message=']").evaluate_all(
        "all => all.map(a => a.href)"
    )
    assert len(ids) == len(set(ids)) > 100
    assert page.locator("[data-earlier]").count() == 0


def test_reading_works_without_scripts(view: View) -> None:
    """Search, earlier pages and a message tried."""
    viewer = view(scripts=False)
    page = viewer.open("/talk")
    page.get_by_role("link", name="Earlier").click()
    expect(page.get_by_role("link", name="Later")).to_be_visible()
    page.get_by_label("Words to look for").fill("deploy")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("mark").first).to_be_visible()
    viewer.open("/playground", text="when do we release 2.4?")
    expect(page.locator(".candidate").first).to_be_visible()
    expect(page.get_by_role("button", name="Keep the question")).to_be_hidden()
