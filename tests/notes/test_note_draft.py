"""A draft of one note that touches no other line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.notes.note_draft import Draft, bullet_text
from pipimem.text.markdown.parser import parsed

from tests.cases import each, table

ORDER = {"Participants": 0, "Facts": 1, "Decisions": 2}
NOTE = "# Memory\n\n## Facts\n\n1. one\n2. two\n\n## Decisions\n\n* Postgres\n"


def draft(text: str = NOTE) -> Draft:
    return Draft(parsed(text), ("# Memory", "# 记忆"), ORDER)


def test_a_draft_without_edits_is_the_text() -> None:
    """Byte for byte, headings in their order."""
    assert (draft().text(), draft().titles) == (NOTE, ["Memory", "Facts", "Decisions"])


def test_a_new_bullet_goes_on_as_the_section_does() -> None:
    """A numbered list counts on, a starred one keeps its star."""
    work = draft()
    work.put("Facts", ["三"])
    work.put("Decisions", ["trio"])
    assert work.text() == NOTE.replace("2. two\n", "2. two\n3. 三\n") + "* trio\n"


def test_a_new_section_stands_where_the_order_wants_it() -> None:
    """Participants come before Facts, a section without a place comes last."""
    work = draft()
    work.put("Participants", ["Dana"])
    work.put("杂项", ["tea"])
    assert (
        work.text()
        == NOTE.replace("## Facts", "## Participants\n\n- Dana\n\n## Facts")
        + "\n## 杂项\n\n- tea\n"
    )


def test_an_empty_file_gets_its_title() -> None:
    """A section appended to nothing begins the file."""
    work = draft("")
    work.put("2026-03", ["quiet"])
    assert work.text() == "# Memory\n\n## 2026-03\n\n- quiet\n"


def test_lines_are_replaced_removed_and_moved() -> None:
    """Only the named lines change; a moved one keeps its own marker."""
    work = draft()
    work.move(4, 5, "Decisions")
    work.replace(5, 6, ["2. zwei"])
    assert work.text() == "# Memory\n\n## Facts\n\n2. zwei\n\n## Decisions\n\n* Postgres\n1. one\n"


def test_filling_keeps_a_persons_lines() -> None:
    """The runtime's own lines are replaced, others stay, and the same again changes nothing."""
    text = "## Next Steps\n\n- mine\n- theirs\n"
    work = draft(text)
    assert work.fill("Next Steps", ["new"], "mine".__eq__, plain=False)
    assert work.text() == "## Next Steps\n\n- new\n- theirs\n"
    again = draft(text)
    assert not again.fill("Next Steps", ["mine", "theirs"], "mine".__eq__, plain=False)
    assert again.text() == text


def test_a_plain_section_of_a_person_is_left_alone() -> None:
    """A title that somebody typed is not overwritten; one of the runtime's is."""
    text = "## Session Title\n\nOur release\n"
    theirs, ours = draft(text), draft(text)
    assert not theirs.fill("Session Title", ["Another"], lambda _: False, plain=True)
    assert ours.fill("Session Title", ["Another"], lambda _: True, plain=True)
    assert (theirs.text(), ours.text()) == (text, "## Session Title\n\nAnother\n")


@each(
    ("text", "line"),
    table(__file__, "any_text_is_one_bullet"),
)
def test_any_text_is_one_bullet(text: str, line: str) -> None:
    """Folded to one line that Markdown reads as plain text."""
    assert bullet_text(text) == line


def test_no_text_is_no_bullet() -> None:
    """White space alone says nothing."""
    assert bullet_text(" \n") == ""


@given(st.text())
def test_a_bullet_text_is_stable(text: str) -> None:
    """What was made a bullet once is the same bullet again."""
    assert bullet_text(bullet_text(text)) == bullet_text(text)


def test_a_section_that_is_emptied_and_filled_again_keeps_its_heading() -> None:
    """In whichever order the two are asked for; without a new entry the heading goes."""
    text = "# Memory\n\n## Facts\n\n- a\n- b\n\n## Decisions\n\n- c\n"
    for is_put_first in (True, False):
        work = draft(text)
        if is_put_first:
            work.put("Facts", ["d"])
        work.remove_with_heading(4, 5)
        work.remove_with_heading(5, 6)
        if not is_put_first:
            work.put("Facts", ["d"])
        assert work.text() == "# Memory\n\n## Facts\n\n- d\n\n## Decisions\n\n- c\n"
    emptied = draft(text)
    emptied.remove_with_heading(4, 5)
    emptied.remove_with_heading(5, 6)
    assert emptied.text() == "# Memory\n\n## Decisions\n\n- c\n"
