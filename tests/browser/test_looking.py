"""Talk, a message tried, costs and health, as a person looks at them; in both languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from pipimem.notes.usage import Usage
from pipimem.store.workspace import WorkspaceStore
from playwright.sync_api import Page, expect

from tests.browser.building import CHANNEL, Viewer

View = Callable[..., Viewer]
PAGES = {
    "channels": ("/", {}),
    "memory": ("/channel", {}),
    "memory-found": ("/channel", {"words": "dana", "trust": "inferred"}),
    "session": ("/channel", {"file": "SESSION.md"}),
    "history": ("/channel", {"file": "HISTORY.md"}),
    "changes": ("/changes", {}),
    "changes-found": ("/changes", {"words": "redis", "author": "model"}),
    "change": ("/change", {"number": "1"}),
    "notes-on-day": ("/notes-on-day", {"day": f"{datetime.now().astimezone():%Y-%m-%d}"}),
    "talk": ("/talk", {}),
    "talk-of-one": ("/talk", {"speaker": "Dana", "role": "user"}),
    "search": ("/talk", {"q": "deploy Fridays"}),
    "around": ("/talk/around", {"message": "rr-043"}),
    "playground": ("/playground", {}),
    "try": ("/playground", {"text": "2.4 什么时候发布？", "speaker": "Dana", "first": "1"}),
    "costs": ("/costs", {}),
    "health": ("/health", {}),
    "problem": ("/channel", {"id": "no-such-channel"}),
    "sign-in": ("/sign-in", {}),
}
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1100, 390)]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_page_is_accessible(view: View, language: str) -> None:
    """In light and dark, at a desk and on a phone: axe finds nothing, nothing is cut off."""
    viewer = view(language=language)
    spend(viewer)
    for name, (path, query) in PAGES.items():
        is_in = name != "sign-in"
        page = viewer.page if is_in else signed_out(viewer)
        # The script of the sign-in is another one.
        looked_at = replace(viewer, page=page, scripts=is_in)
        looked_at.open(path, **query)
        for scheme, width in LOOKS:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size({"width": width, "height": 800})
            assert looked_at.violations() == [], (name, scheme, width)
            fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert fits, (name, scheme, width)
            if scheme == "light" and width > 400:
                looked_at.screenshot(f"{name}-{language}")
    assert [one for one in viewer.problems if "404" not in one] == []


def signed_out(viewer: Viewer) -> Page:
    """A page of a browser that has no cookie of ours."""
    browser = viewer.context.browser
    assert browser is not None
    return browser.new_context(locale="en").new_page()


def test_the_page_of_an_entry_is_accessible(view: View) -> None:
    """In both looks, at a desk and on a phone; the key `Enter` leads to it."""
    viewer = view(language="zh-CN")
    page = viewer.open()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/entry?*")
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 800})
        assert viewer.violations() == [], (scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def spend(viewer: Viewer) -> None:
    """Calls of two models in the ledger, today and yesterday; one failed."""
    store = WorkspaceStore.open(viewer.root).usage_store
    for number in range(6):
        when = datetime.now().astimezone() - timedelta(days=number % 2)
        store.append(
            Usage(
                time=when.isoformat(),
                channel=CHANNEL,
                task=("consolidate", "tidy", "refresh")[number % 3],
                model=("openai/tiny", "openai/large")[number % 2],
                tokens_in=3_000 * (number + 1),
                tokens_out=400,
                tokens_cached=0,
                cost=0.004 * (number + 1),
                latency=1.0,
                outcome="failed" if number == 5 else "ok",
                correlation=f"call-{number}",
            )
        )


def test_what_yesterday_cost(view: View) -> None:
    """One click from the first page: a card says it, plots and tables tell of what for."""
    viewer = view()
    spend(viewer)
    page = viewer.open("/")
    page.get_by_role("link", name="Costs").click()
    yesterday = page.locator(".cards div", has_text="Yesterday")
    expect(yesterday.locator(".big")).to_have_text("$0.05")
    expect(yesterday).to_contain_text("1 failed")
    expect(page.locator(".bar", has_text="openai/large").first).to_contain_text("37,200")
    tasks = page.get_by_role("table", name="Task", exact=True)
    expect(tasks.get_by_role("row", name="tidy")).to_contain_text("$0.0280")
    viewer.screenshot("costs")


def test_on_a_phone_each_channel_is_a_card(view: View) -> None:
    """All that the list says of a channel is seen without scrolling sideways, with its name."""
    viewer = view(width=390)
    page = viewer.open("/")
    row = page.get_by_role("row", name="release-room")
    for name in ("Last talk", "Entries", "Backlog", "Due", "Health", "Today"):
        cell = row.locator(f"[data-name='{name}']")
        box = cell.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390
    expect(row.locator("[data-name='Last talk']")).to_have_text("2026-03-12 11:40")
    table = page.locator(".scroll")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    viewer.screenshot("channels-phone")


def test_talk_of_one_speaker_on_one_day(view: View) -> None:
    """By the form, with no word to look for; its pages go on the same way."""
    viewer = view()
    page = viewer.open("/talk")
    page.get_by_label("Said by").fill("Dana")
    page.get_by_label("From").fill("2026-03-10")
    page.get_by_label("Before").fill("2026-03-11")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**speaker=Dana*")
    lines = page.locator("#transcript ol.talk > li")
    expect(lines.first).to_contain_text("2026-03-10")
    assert all(text.startswith("Dana") for text in lines.all_inner_texts())


def test_the_channel_of_a_message_is_chosen(view: View) -> None:
    """Among those of the newest talk, by its id or title."""
    viewer = view()
    viewer.file(channel="other").parent.mkdir()
    viewer.file(channel="other").write_text("## Facts\n\n- the printer is on floor four\n", "utf-8")
    page = viewer.open("/playground")
    assert page.locator("datalist option").count() == 2
    page.get_by_role("combobox", name="Channel").fill("other")
    page.get_by_label("Message").fill("where is the printer?")
    page.get_by_role("button", name="Ask memory").click()
    expect(page.locator(".candidate").first).to_contain_text("floor four")
    expect(page.locator(".channel-name")).to_have_text("other")


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


def test_the_keyboard_goes_through_the_talk(view: View) -> None:
    """`j` and `k` from message to message, `Enter` to the talk around one."""
    viewer = view()
    page = viewer.open("/talk")
    lines = page.locator("#transcript ol.talk > li")
    for key in "jjjk":
        page.keyboard.press(key)
    expect(lines.nth(1)).to_be_focused()
    said = lines.nth(1).inner_text().splitlines()[-1]
    page.keyboard.press("Enter")
    page.wait_for_url("**/talk/around?*")
    expect(page.locator(".talk .meant")).to_contain_text(said)


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
