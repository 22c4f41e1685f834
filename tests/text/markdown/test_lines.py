"""Lines as editors show them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.markdown.lines import line_ending, split_lines, without_ending

from tests.cases import each


def test_three_endings_end_a_line() -> None:
    """LF, CRLF and CR do, and stay with their line."""
    assert split_lines("a\nb\r\nc\rd") == ("a\n", "b\r\n", "c\r", "d")


@each("character", "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
def test_nothing_else_ends_a_line(character: str) -> None:
    """What `str.splitlines` also breaks at is a character of its line."""
    assert split_lines(f"a{character}b\n") == (f"a{character}b\n",)


def test_no_text_has_no_lines() -> None:
    """An empty file has no line, not an empty one."""
    assert split_lines("") == ()


@given(st.text(alphabet="ab\r\n\u2028\x00键"))
def test_joined_lines_are_the_text(text: str) -> None:
    """No character is lost or translated, and no line is empty or holds a second ending."""
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line and split_lines(line) == (line,) for line in lines)


def test_a_line_without_its_ending() -> None:
    """Only the ending goes."""
    assert [without_ending(line) for line in ("a \n", "b\r\n", "c\r", "d", "\n")] == [
        "a ",
        "b",
        "c",
        "d",
        "",
    ]


def test_the_ending_most_lines_have() -> None:
    """The majority decides; LF where there is none or a draw."""
    assert line_ending(["a\r\n", "b\n", "c\r\n"]) == "\r\n"
    assert line_ending(["a\r", "b"]) == "\r"
    assert line_ending(["a\r\n", "b\n"]) == "\n"
    assert line_ending([]) == "\n"
