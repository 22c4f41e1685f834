"""A text with some spans of its lines replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.notes.note_draft import edited
from pipimem.text.markdown.parser import parsed

from tests.cases import each

TEXTS = st.one_of(
    st.text(alphabet="ab\r\n"),
    st.lists(st.sampled_from(["- a\n", "- b\n", "- c\n", "\n", "- d\r\n", "- e"])).map("".join),
)


def test_an_edit_replaces_removes_and_inserts() -> None:
    """Positions are those of the document as it was, in any order."""
    document = parsed("# H\n- a\n- b\n- c\n")
    assert (
        edited(document, [(3, 3, ["- x"]), (1, 2, ["- A", "  more"]), (2, 3, [])])
        == "# H\n- A\n  more\n- x\n- c\n"
    )


def test_inserts_at_one_place_keep_their_order() -> None:
    """Who comes first stands first."""
    assert edited(parsed("a\n"), [(1, 1, ["b"]), (1, 1, ["c"])]) == "a\nb\nc\n"


def test_new_lines_get_the_ending_of_the_document() -> None:
    """A Windows file stays one."""
    assert edited(parsed("- a\r\n- b\r\n"), [(1, 1, ["- x"])]) == "- a\r\n- x\r\n- b\r\n"


def test_a_missing_last_ending_is_added_only_when_needed() -> None:
    """Text put behind the last line completes it; an edit further up leaves it alone."""
    document = parsed("- a\n- b")
    assert edited(document, [(2, 2, ["- c"])]) == "- a\n- b\n- c\n"
    assert edited(document, [(0, 1, ["- A"])]) == "- A\n- b"
    assert edited(document, [(2, 2, [])]) == "- a\n- b"


def test_an_empty_document_is_filled() -> None:
    """There is no line to complete."""
    assert edited(parsed(""), [(0, 0, ["- a"])]) == "- a\n"


def test_a_byte_order_mark_stays_on_top() -> None:
    """Whatever happens to the first line."""
    document = parsed("\ufeff- a\n- b\n")
    assert edited(document, [(0, 0, ["# H"])]) == "\ufeff# H\n- a\n- b\n"
    assert edited(document, [(0, 1, [])]) == "\ufeff- b\n"
    assert edited(parsed("\ufeff"), [(1, 1, ["- a"])]) == "\ufeff- a\n"


@each("edits", [[(0, 2, []), (1, 2, [])], [(0, 9, [])], [(2, 1, [])], [(-1, 0, [])]])
def test_edits_that_overlap_or_lie_outside_are_refused(
    edits: list[tuple[int, int, list[str]]],
) -> None:
    """They would lose lines."""
    with pytest.raises(ValueError, match="overlaps another or lies outside"):
        edited(parsed("a\nb\n"), edits)


@each("line", ["- a\n", "- a\n- b", "- a\r"])
def test_a_new_line_is_one_line(line: str) -> None:
    """A hidden second line would be an entry nobody decided on."""
    with pytest.raises(ValueError, match="more than one line"):
        edited(parsed(""), [(0, 0, [line])])


@given(TEXTS, st.data())
def test_an_edit_touches_no_other_line(text: str, data: st.DataObject) -> None:
    """What stands before the span stays byte for byte, and so does what stands behind it."""
    document = parsed(text)
    start = data.draw(st.integers(0, len(document.lines)))
    end = data.draw(st.integers(start, len(document.lines)))
    result = edited(document, [(start, end, ["new"])])
    behind = "".join(document.lines[end:])
    before = "".join(document.lines[:start])
    # Old Mac's "\r" right before an empty "\n" line would be one ending for both.
    ending = "\r\n" if document.eol == "\r" and behind.startswith("\n") else document.eol
    assert result in (
        before + "new" + ending + behind,
        before + document.eol + "new" + ending + behind,
    )


@each(
    ("text", "edit", "told"),
    [
        ("a\r\nb\r", (2, 2, [""]), "a\r\nb\r\r\n"),
        ("a\nb\r", (2, 2, ["", "c"]), "a\nb\r\rc\n"),
        ("a\r\nb\nc\r\nd\r\ne\r", (0, 0, [""]), "\r\na\r\nb\nc\r\nd\r\ne\r"),
        ("a\rb\n\nc\n", (1, 2, []), "a\r\n\nc\n"),
        ("a\r\r\r\nb", (1, 2, ["x"]), "a\rx\r\r\nb"),
        ("\n\r\r", (0, 0, ["x"]), "x\r\n\n\r\r"),
    ],
)
def test_two_lines_stay_two(text: str, edit: tuple[int, int, list[str]], told: str) -> None:
    """A carriage return of one line and the line feed of the next are not taken for one ending."""
    assert edited(parsed(text), [edit]) == told
