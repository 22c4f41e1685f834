"""What changed between two texts, for eyes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some
from pipimem.web.changes_page import DiffLine, diff_lines

TEXT = "".join(f"line {number}\n" for number in range(30))


def kinds(lines: list[DiffLine]) -> str:
    return "".join(line.kind[0] if line.kind != "gap" else "." for line in lines)


def test_a_changed_line_with_what_stands_around_it() -> None:
    """Two lines before and behind; the rest is counted."""
    lines = diff_lines(TEXT, TEXT.replace("line 10\n", "line ten\n"))
    assert kinds(lines) == ".ssgcss."
    assert [str(line.html) for line in lines[3:5]] == [
        "line <mark>10</mark>",
        "line <mark>ten</mark>",
    ]
    assert lines[0].html == "⋯ 8"
    assert lines[-1].html == "⋯ 17"


def test_changes_that_are_near_share_what_stands_between_them() -> None:
    """No line is shown twice."""
    new = TEXT.replace("line 10\n", "").replace("line 13\n", "line 13\nmore\n")
    shown = [str(line.html) for line in diff_lines(TEXT, new)]
    assert shown == [
        "⋯ 8", "line 8", "line 9", "line 10", "line 11", "line 12", "line 13", "more", "line 14",
        "line 15", "⋯ 14",
    ]  # fmt: skip


def test_words_of_chinese_are_marked_one_by_one() -> None:
    """Which word of a sentence without blanks is another one."""
    gone, came = diff_lines("端口是八零\n", "端口是九零\n")
    assert (str(gone.html), str(came.html)) == (
        "端口是<mark>八</mark>零",
        "端口是<mark>九</mark>零",
    )


def test_line_ends_alone_are_no_change() -> None:
    """Nobody sees them."""
    assert diff_lines("a\nb", "a\r\nb\r\n") == []


def test_what_stands_there_is_words() -> None:
    """Whatever it is."""
    (line,) = diff_lines("", "<script>alert('x')</script>\u202e\n")
    assert "<script" not in line.html
    assert "\u202e" not in line.html


def test_of_a_text_that_is_another_one_altogether_400_lines_are_told() -> None:
    """Its lines are cut, and counted."""
    old = "".join(f"- {number} {'x' * 500}\n" for number in range(5_000))
    lines = diff_lines(old, old.replace("- ", "- another "))
    assert len(lines) == 401


@given(some.lists(some.sampled_from("abc")), some.lists(some.sampled_from("abc")))
def test_the_lines_that_stay_and_came_are_the_new_text(old: list[str], new: list[str]) -> None:
    """In order, as far as they are shown."""
    lines = diff_lines("\n".join(old), "\n".join(new))
    texts = {kind: [] for kind in ("same", "gone", "came", "gap")}  # type: ignore[var-annotated]
    left = 0
    for line in lines:
        text = str(line.html).replace("<mark>", "").replace("</mark>", "")
        texts[line.kind].append(text)
        left += int(text.removeprefix("⋯ ")) if line.kind == "gap" else 0
    if lines:
        assert len(texts["same"]) + len(texts["gone"]) + left == len("\n".join(old).split("\n")) - (
            not old
        )
        assert len(texts["same"]) + len(texts["came"]) + left == len("\n".join(new).split("\n")) - (
            not new
        )
