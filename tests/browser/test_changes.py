"""Who changed what, and how it is taken back, as a person finds out."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.building import Viewer

View = Callable[..., Viewer]


def test_who_changed_it_and_how_to_take_it_back(view: View) -> None:
    """From the notes: Changes, the newest of them, what it did, a look at the undo, the button."""
    viewer = view()
    before = viewer.file().read_text("utf-8")
    page = viewer.open()
    page.locator("article.entry [data-action=edit]").first.click()
    page.locator(".editor textarea").fill("- Dana runs the release alone")
    page.locator(".editor textarea").press("Control+Enter")
    expect(page.locator("#status")).to_have_text("Saved.")
    page.get_by_role("link", name="Changes").click()
    newest = page.locator(".timeline > li").first
    expect(newest).to_contain_text("Dana runs the release alone")
    expect(newest).to_contain_text("a person")
    viewer.screenshot("changes")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".lines").first.locator("ins")).to_contain_text("alone")
    viewer.screenshot("change")
    assert viewer.violations() == []
    page.get_by_role("button", name="Take it back").click()
    page.wait_for_url(re.compile("number="))
    expect(page.get_by_text("takes back")).to_be_visible()
    assert viewer.file().read_text("utf-8") == before
    assert viewer.problems == []


def test_who_changed_something_is_found_by_its_words(view: View) -> None:
    """`/`, a word of it, Enter: the changes that did it, each with the way back beside it."""
    viewer = view()
    page = viewer.open("/changes")
    page.keyboard.press("/")
    page.keyboard.type("redis")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("words=redis"))
    first = page.locator(".timeline > li").first
    expect(first).to_contain_text("Redis")
    first.get_by_role("link", name="Take it back").click()
    expect(page.get_by_role("heading", name="Taking it back")).to_be_in_viewport()


def test_an_undo_on_an_old_page_asks_to_look_again(view: View) -> None:
    """Something was written since its preview."""
    viewer = view()
    page = viewer.open("/changes")
    page.locator(".timeline a").first.click()
    button = page.get_by_role("button", name="Take it back")
    expect(button).to_be_visible()
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(f"{text}- by hand\n", encoding="utf-8")
    button.click()
    expect(page.locator("#undo-problem")).to_contain_text("Look at it again")
    assert viewer.file().read_text("utf-8").endswith("- by hand\n")


def test_the_notes_as_they_stood_on_a_day(view: View) -> None:
    """By the field of a form, without scripts as well."""
    viewer = view(scripts=False)
    page = viewer.open("/changes")
    day = page.locator(".timeline time").first.get_attribute("datetime")
    assert day
    page.get_by_role("link", name="The notes as they stood on a day").click()
    page.get_by_label("Day").fill(day[:10])
    page.get_by_role("button", name="Look").click()
    expect(page.get_by_role("heading", name="Memory")).to_be_visible()
    expect(page.locator(".note-that-day").first).to_contain_text("# ")
