"""A channel's notes as a person reads and edits them, beside an editor, a bot and another tab."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.building import CHANNEL, ROOT, Viewer

View = Callable[..., Viewer]

QA = "I'm Dana, I do QA"


def entry(page: Page, words: str) -> Locator:
    return page.locator("article.entry", has_text=words).first


def action(page: Page, words: str, name: str) -> None:
    entry(page, words).locator(f"[data-action={name}]").click()


def edited(page: Page, words: str, text: str) -> None:
    """Opens the editor of an entry and types another text; it is not saved."""
    action(page, words, "edit")
    page.locator(".editor textarea").fill(text)


def pipimem(viewer: Viewer, *words: str) -> None:
    """A command beside the server, as a bot writes."""
    told = [sys.executable, "-m", "pipimem", "--workspace", str(viewer.root), "--model", "offline"]
    subprocess.run([*told, *words], check=True, cwd=ROOT, capture_output=True)


def test_an_entry_is_edited_in_place(view: View) -> None:
    """`j`, `e`, typing, Ctrl+Enter: the file has it, and the page shows it."""
    viewer = view()
    page = viewer.open()
    page.keyboard.press("j")
    expect(entry(page, QA)).to_be_focused()
    page.keyboard.press("e")
    area = page.locator(".editor textarea")
    expect(area).to_be_focused()
    assert area.input_value().startswith("Dana (2026-03-02)")
    area.fill("Dana does QA and runs the release")
    viewer.screenshot("edit")
    area.press("Control+Enter")
    expect(page.locator("#status")).to_have_text("Saved.")
    expect(entry(page, "Dana does QA and runs")).to_be_visible()
    expect(page.locator(".editor")).to_have_count(0)
    text = viewer.file().read_text("utf-8")
    assert "- Dana does QA and runs the release\n" in text
    assert QA not in text
    assert viewer.problems == []


def test_other_words_for_an_entry_leave_its_neighbours_alone(view: View) -> None:
    """Everything in the field is replaced, by keys: the entries around keep who said them."""
    viewer = view()
    page = viewer.open()
    before = viewer.file().read_text("utf-8").splitlines(keepends=True)
    (line,) = [line for line in before if QA in line]
    shown = page.locator("article.entry .facts").all_inner_texts()
    action(page, QA, "edit")
    expect(page.locator(".editor textarea")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Dana has run releases for 4 years")
    page.keyboard.press("Control+Enter")
    expect(entry(page, "Dana has run releases")).to_be_visible()
    place = before.index(line)
    before[place] = "- Dana has run releases for 4 years\n"
    assert viewer.file().read_text("utf-8") == "".join(before)
    now = page.locator("article.entry .facts").all_inner_texts()
    assert len(now) == len(shown)
    assert sum(old != new for old, new in zip(shown, now, strict=True)) == 1
    assert viewer.problems == []


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        ("", "an entry needs words. To remove the entry, use “Take out”"),
        ("## A heading typed into an entry", "a heading in an entry would begin a section"),
        ("- one\n- two", "the text would be several entries"),
        ("```\nno end", "the text would not stay one entry"),
    ],
)
def test_a_draft_that_would_be_no_entry_is_refused(view: View, draft: str, why: str) -> None:
    """The sentence says why, the draft stays in its field, and nothing is written."""
    viewer = view()
    page = viewer.open()
    text = viewer.file().read_text("utf-8")
    edited(page, QA, draft)
    page.locator(".editor textarea").press("Control+Enter")
    expect(page.locator(".editor [data-problem]")).to_contain_text(f"Nothing was saved: {why}")
    expect(page.locator(".editor textarea")).to_have_value(draft)
    assert viewer.violations() == []
    assert viewer.file().read_text("utf-8") == text
    page.locator(".editor textarea").fill("Dana does QA again")
    page.locator(".editor textarea").press("Control+Enter")
    expect(entry(page, "Dana does QA again")).to_be_visible()
    assert viewer.file().read_text("utf-8") != text


@pytest.mark.parametrize("by", ["editor", "bot"])
def test_an_open_page_shows_what_others_write(view: View, by: str) -> None:
    """Without a reload, whoever writes."""
    viewer = view()
    page = viewer.open()
    expect(page.locator("article.entry").first).to_be_visible()
    page.wait_for_timeout(300)
    if by == "bot":
        pipimem(viewer, "remember", CHANNEL, "the door is blue")
        expect(entry(page, "the door is blue")).to_be_visible()
        return
    text = viewer.file().read_text("utf-8")
    for attempt, words in enumerate(("the door is blue", "the door is green", "the door is red")):
        viewer.file().write_text(f"{text}- {words} {attempt}\n", encoding="utf-8")
        expect(entry(page, f"{words} {attempt}")).to_be_visible()


def test_text_that_is_not_saved_survives_what_others_write(view: View) -> None:
    """The page says that the file changed, and leaves the field alone; so does a reload."""
    viewer = view()
    page = viewer.open()
    edited(page, QA, "my unsaved words")
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(f"{text}- written by an editor\n", encoding="utf-8")
    expect(page.locator("#stale")).to_be_visible()
    expect(page.locator(".editor textarea")).to_have_value("my unsaved words")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(entry(page, "written by an editor")).to_be_visible()
    action(page, QA, "edit")
    expect(page.locator(".editor textarea")).to_have_value("my unsaved words")
    page.locator(".editor [data-save]").click()
    expect(entry(page, "my unsaved words")).to_be_visible()
    saved = viewer.file().read_text("utf-8")
    assert "- written by an editor\n" in saved
    assert "- my unsaved words\n" in saved


def test_escape_asks_before_it_drops_what_was_typed(view: View) -> None:
    """A no keeps the field and its words; a yes drops them; without a change nothing is asked."""
    viewer = view()
    page = viewer.open()
    action(page, QA, "edit")
    page.locator(".editor textarea").press("Escape")
    expect(page.locator(".editor")).to_have_count(0)
    edited(page, QA, "my unsaved words")
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.locator(".editor textarea").press("Escape")
    expect(page.locator(".editor textarea")).to_have_value("my unsaved words")
    assert asked == ["There is unsaved text. Throw it away?"]
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator(".editor textarea").press("Escape")
    expect(page.locator(".editor")).to_have_count(0)
    expect(entry(page, QA)).to_be_visible()
    assert "unsaved" not in viewer.file().read_text("utf-8")


def test_escape_in_a_conflict_asks_for_what_was_put_right(view: View) -> None:
    """The draft stays in its field whatever is answered."""
    viewer = view()
    page = viewer.open()
    edited(page, QA, "Dana does QA in Bonn")
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(text.replace(QA, "I am Dana, I do QA"), encoding="utf-8")
    page.locator(".editor textarea").press("Control+Enter")
    merged = page.locator("#conflict [data-merged]")
    merged.fill(merged.input_value() + "- put right by hand\n")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.keyboard.press("Escape")
    expect(page.locator("#conflict")).to_be_visible()
    assert "put right by hand" in merged.input_value()
    page.once("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("Escape")
    expect(page.locator("#conflict")).to_be_hidden()
    expect(page.locator(".editor textarea")).to_have_value("Dana does QA in Bonn")


def test_a_draft_of_an_entry_that_is_gone_is_shown(view: View) -> None:
    """The page was loaded anew after somebody reworded the entry: the words typed are not lost."""
    viewer = view()
    page = viewer.open()
    edited(page, QA, "my words of before")
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(text.replace(QA, "I am Dana, I do QA"), encoding="utf-8")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    left = page.locator("#left-drafts")
    expect(left.locator("pre")).to_have_text("my words of before")
    assert viewer.violations() == []
    left.get_by_role("button", name="Throw it away").click()
    expect(left).to_be_hidden()
    page.reload()
    expect(page.locator("article.entry").first).to_be_visible()
    expect(left).to_be_hidden()


def test_a_draft_of_a_file_that_changed_since_is_not_saved_over_it(view: View) -> None:
    """The page was loaded anew after somebody wrote to the file: the draft is merged, both stay."""
    viewer = view()
    page = viewer.open()
    page.locator("[data-edit-file]").click()
    area = page.locator(".editor textarea")
    expect(area).to_be_focused()
    area.fill(area.input_value() + "- typed before the reload\n")
    pipimem(viewer, "remember", CHANNEL, "the door is blue")
    expect(page.locator("#stale")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector("html.scripts")
    page.locator("[data-edit-file]").click()
    expect(area).to_have_value(re.compile("typed before the reload"))
    area.press("Control+Enter")
    expect(page.locator("#conflict")).to_be_visible()
    page.locator("#conflict [data-save]").click()
    expect(page.locator("#conflict")).to_be_hidden()
    saved = viewer.file().read_text("utf-8")
    assert saved.count("the door is blue") == 1
    assert saved.count("- typed before the reload\n") == 1


def test_what_is_to_be_remembered_survives_a_reload(view: View) -> None:
    """Like any draft; once it is remembered it is gone from the field."""
    viewer = view()
    page = viewer.open()
    page.locator("[data-remember]").click()
    page.locator("#kind [data-text]").fill("the door is blue")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector("html.scripts")
    page.locator("[data-remember]").click()
    expect(page.locator("#kind [data-text]")).to_have_value("the door is blue")
    page.locator("#kind [data-yes]").click()
    expect(entry(page, "the door is blue")).to_be_visible()
    page.locator("[data-remember]").click()
    expect(page.locator("#kind [data-text]")).to_have_value("")


def test_what_was_written_while_a_dialog_was_open_is_shown_after_it(view: View) -> None:
    """Nobody has to load the page anew."""
    viewer = view()
    page = viewer.open()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(f"{text}- the door is blue\n", encoding="utf-8")
    expect(page.locator("#stale")).not_to_have_attribute("hidden", "")
    page.keyboard.press("Escape")
    expect(entry(page, "the door is blue")).to_be_visible()
    expect(page.locator("#stale")).to_be_hidden()


def test_entries_are_found_by_words_and_how_they_came(view: View) -> None:
    """`/`, typing, Enter; an entry that comes meanwhile shows if it is meant."""
    viewer = view()
    page = viewer.open()
    page.keyboard.press("/")
    page.keyboard.type("dana qa")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("words=dana"))
    expect(entry(page, QA)).to_be_visible()
    shown = page.locator("article.entry").count()
    text = viewer.file().read_text("utf-8")
    viewer.file().write_text(f"{text}- Dana likes QA\n- something else\n", encoding="utf-8")
    expect(entry(page, "Dana likes QA")).to_be_visible()
    expect(page.locator("article.entry")).to_have_count(shown + 1)
    page.get_by_label("How it came").select_option("human")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("article.entry")).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    expect(entry(page, "something else")).to_be_visible()


def test_a_conflict_shows_both_and_loses_neither(view: View) -> None:
    """Somebody else reworded the entry that is being edited."""
    viewer = view()
    page = viewer.open()
    edited(page, QA, "Dana does QA in Bonn")
    text = viewer.file().read_text("utf-8")
    theirs = re.sub(r"- Dana \(2026-03-02\): I'm Dana.*", "- Dana does QA in Essen", text)
    assert theirs != text
    viewer.file().write_text(theirs, encoding="utf-8")
    expect(page.locator("#stale")).to_be_visible()
    page.locator(".editor textarea").press("Control+Enter")
    dialog = page.locator("#conflict")
    expect(dialog).to_be_visible()
    expect(dialog.locator("[data-yours] ins")).to_have_text("+ Dana does QA in Bonn")
    merged = dialog.locator("[data-merged]").input_value()
    assert "- Dana does QA in Essen\n" in merged
    # One entry went and one came at its place: that is the entry, reworded.
    expect(dialog.locator("[data-theirs] del")).to_have_count(1)
    expect(dialog.locator("[data-theirs] ins")).to_have_text("+ Dana does QA in Essen")
    assert "- Dana does QA in Bonn\n" in merged
    assert viewer.file().read_text("utf-8") == theirs
    viewer.screenshot("conflict")
    assert viewer.violations() == []
    dialog.locator("[data-merged]").fill(merged.replace("- Dana does QA in Essen\n", ""))
    dialog.locator("[data-save]").click()
    expect(dialog).to_be_hidden()
    expect(entry(page, "Dana does QA in Bonn")).to_be_visible()
    saved = viewer.file().read_text("utf-8")
    assert "Essen" not in saved
    assert "- Dana does QA in Bonn\n" in saved


def written_by_vim(file: Path, before: str, after: str) -> None:
    """Saves a file as a person in vim does: it renames the old one and writes another."""
    if shutil.which("vim") is None:
        pytest.skip("there is no vim on the path")
    command = f"%s/{before}/{after}/e"
    subprocess.run(["vim", "-es", "-u", "NONE", "-c", command, "-c", "wq", str(file)], check=True)


@pytest.mark.parametrize("editor", ["vim", "in place"])
def test_two_tabs_and_an_editor_at_once(view: View, editor: str) -> None:
    """Each edits the whole file; the last one sees a merge of all three."""
    viewer = view()
    other = viewer.new_tab()
    for tab in (viewer, other):
        tab.open()
        tab.page.locator("[data-edit-file]").click()
        expect(tab.page.locator(".editor textarea")).to_be_focused()
    first, second = viewer.page.locator(".editor textarea"), other.page.locator(".editor textarea")
    first.fill(first.input_value() + "- from the first tab\n")
    second.fill("# Memory of the second tab\n" + second.input_value().partition("\n")[2])
    if editor == "vim":
        written_by_vim(viewer.file(), "I'm Dana", "I am Dana")
    else:
        text = viewer.file().read_text("utf-8")
        viewer.file().write_text(text.replace(QA, "I am Dana, I do QA"), encoding="utf-8")
    expect(viewer.page.locator("#stale")).to_be_visible()
    first.press("Control+Enter")
    expect(viewer.page.locator("#conflict")).to_be_visible()
    viewer.page.locator("#conflict [data-save]").click()
    expect(viewer.page.locator("#conflict")).to_be_hidden()
    second.press("Control+Enter")
    expect(other.page.locator("#conflict")).to_be_visible()
    other.page.locator("#conflict [data-save]").click()
    expect(other.page.locator("#conflict")).to_be_hidden()
    saved = viewer.file().read_text("utf-8")
    for words in ("- from the first tab\n", "# Memory of the second tab\n", "I am Dana, I do QA"):
        assert saved.count(words) == 1, words
    expect(entry(viewer.page, "from the first tab")).to_be_visible()


def test_pin_move_take_out_and_remember(view: View) -> None:
    """Each shows at once, and stands in the file."""
    viewer = view()
    page = viewer.open()
    action(page, QA, "pin")
    expect(entry(page, QA).locator(".badge.pinned")).to_be_visible()
    action(page, QA, "move")
    page.locator("#kind [data-kind]").select_option("lesson")
    page.locator("#kind [data-yes]").click()
    expect(entry(page, QA)).to_have_attribute("data-section", "Lessons")
    page.on("dialog", lambda dialog: dialog.accept())
    action(page, QA, "remove")
    expect(entry(page, QA)).to_have_count(0)
    page.locator("[data-remember]").click()
    page.locator("#kind [data-text]").fill("the door is blue")
    page.locator("#kind [data-yes]").click()
    expect(entry(page, "the door is blue")).to_be_visible()
    text = viewer.file().read_text("utf-8")
    assert QA not in text
    assert "the door is blue" in text
    assert viewer.problems == []


def test_forgetting_asks_and_gives_a_receipt(view: View) -> None:
    """What would go, a yes, what went; and nothing has it any more."""
    viewer = view()
    page = viewer.open()
    action(page, QA, "forget")
    dialog = page.locator("#forget")
    expect(dialog.locator("[data-found]")).to_contain_text(QA)
    viewer.screenshot("forget")
    assert viewer.violations() == []
    dialog.locator("[data-yes]").click()
    expect(dialog.locator("[data-receipt]")).to_contain_text("entries")
    dialog.locator("[data-step=receipt] [data-close]").click()
    expect(entry(page, QA)).to_have_count(0)
    for path in viewer.file().parent.rglob("*"):
        if path.is_file():
            assert QA not in path.read_bytes().decode("utf-8", "replace"), path


def test_a_receipt_is_in_the_language_of_the_page(view: View) -> None:
    """And names only the places where something was."""
    viewer = view(language="zh-CN")
    page = viewer.open()
    action(page, QA, "forget")
    page.locator("#forget [data-yes]").click()
    receipt = page.locator("#forget [data-receipt]")
    expect(receipt).to_contain_text("笔记条目")
    assert not re.search("[a-z]", receipt.inner_text())
    assert "0" not in receipt.locator("dd").all_inner_texts()


def test_why_an_entry_is_there(view: View) -> None:
    """One click: the change that brought it, and the talk around it."""
    viewer = view()
    page = viewer.open()
    entry(page, QA).get_by_role("link", name="Why?").click()
    expect(page.get_by_role("heading", name="Why is this here?")).to_be_visible()
    expect(page.locator(".talk .meant")).to_contain_text(QA)
    assert page.locator(".talk li").count() > 1
    viewer.screenshot("why")
    assert viewer.violations() == []
    assert viewer.problems == []


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1100, 380])
def test_the_page_and_its_dialogs_suit_everybody(
    view: View, language: str, dark: bool, width: int
) -> None:
    """Dialogs and the editor too, in both languages, dark and light, on a phone too: axe finds
    nothing.
    """
    viewer = view(language=language, dark=dark, width=width)
    page = viewer.open()
    words = {"en": "Edit the whole file", "zh-CN": "编辑整个文件"}[language]
    expect(page.get_by_role("button", name=words)).to_be_visible()
    viewer.screenshot(f"channel-{language[:2]}-{'dark' if dark else 'light'}-{width}")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert viewer.violations() == []
    page.keyboard.press("Escape")
    for button, dialog in (("[data-remember]", "#kind"), ("[data-forget-text]", "#forget")):
        page.locator(button).click()
        expect(page.locator(dialog)).to_be_visible()
        assert viewer.violations() == []
        page.keyboard.press("Escape")
        expect(page.locator(dialog)).to_be_hidden()
    action(page, QA, "edit")
    expect(page.locator(".editor textarea")).to_be_focused()
    assert viewer.violations() == []
    assert viewer.problems == []


def test_reading_needs_no_scripts(view: View) -> None:
    """Once somebody has signed in."""
    viewer = view(scripts=False)
    page = viewer.open()
    expect(entry(page, QA)).to_be_visible()
    expect(page.locator("[data-edit-file]")).to_be_hidden()
    entry(page, QA).get_by_role("link", name="Why?").click()
    expect(page.get_by_role("heading", name="Why is this here?")).to_be_visible()
