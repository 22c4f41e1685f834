"""Changes as the lines they touch, and what it costs to find them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.markdown.line_edits import (
    MOST_LOOKS,
    ChangedLines,
    Splice,
    changed_lines,
    most_looks,
    reversed_splices,
    shared_ends,
    spliced,
    splices_between,
)

from tests.cases import each

TEXTS = st.one_of(
    st.text(alphabet="ab\r\n"),
    st.lists(st.sampled_from(["- a\n", "- b\n", "- c\n", "\n", "- d\r\n", "- e"])).map("".join),
)


def test_a_change_names_only_its_lines() -> None:
    """One reworded line in the middle is one splice of one line."""
    assert splices_between("a\nb\nc\n", "a\nB\nc\n") == (Splice(1, ("b\n",), ("B\n",)),)


def test_two_changes_far_apart_are_two_splices() -> None:
    """What stands between them is not touched."""
    old = "".join(f"{n}\n" for n in range(10))
    new = old.replace("1\n", "").replace("8\n", "8\n8½\n")
    assert splices_between(old, new) == (Splice(1, ("1\n",), ()), Splice(9, (), ("8½\n",)))


def test_equal_texts_have_no_splices() -> None:
    """Nothing to do is an empty change."""
    assert splices_between("a\n", "a\n") == ()


def test_a_rewritten_long_file_is_one_splice() -> None:
    """Where no line is in both texts; the common beginning and end are spared."""
    old = [f"{n}\n" for n in range(5_000)]
    new = [f"{n}!\n" for n in range(5_000)]
    change = splices_between("".join(["a\n", *old, "z\n"]), "".join(["a\n", *new, "z\n"]))
    assert change == (Splice(1, tuple(old), tuple(new)),)


def test_two_changes_far_apart_in_a_long_file_are_two_splices() -> None:
    """However many lines stand between them: a clash in one must not touch the other."""
    lines = [f"{n}\n" for n in range(10_000)]
    new = "".join(["first\n", *lines[1:-1], "last\n"])
    assert splices_between("".join(lines), new) == (
        Splice(0, ("0\n",), ("first\n",)),
        Splice(9_999, ("9999\n",), ("last\n",)),
    )


def test_a_change_meets_another_text_and_is_refused() -> None:
    """A line that is not there, or somewhere else, is never overwritten; the message names it."""
    change = splices_between("a\nb\n", "a\nc\n")
    with pytest.raises(ValueError, match="line 2 is not what the change expects"):
        spliced("a\nx\n", change)
    with pytest.raises(ValueError, match="line 2"):
        spliced("a\n", change)
    with pytest.raises(ValueError, match="line 4"):
        spliced("a\n", [Splice(3, (), ("b\n",))])


def test_splices_out_of_order_are_refused() -> None:
    """Overlapping splices are no change."""
    with pytest.raises(ValueError, match="line 1"):
        spliced("a\nb\n", [Splice(0, ("a\n", "b\n"), ()), Splice(0, (), ("c\n",))])


@given(TEXTS, TEXTS)
def test_a_change_leads_there_and_back(old: str, new: str) -> None:
    """Applied it gives the new text, reversed the old one."""
    change = splices_between(old, new)
    assert spliced(old, change) == new
    assert spliced(new, reversed_splices(change)) == old
    assert reversed_splices(reversed_splices(change)) == change


FEW = st.lists(st.sampled_from("abcd"), max_size=30)


class Line(str):
    """A line that counts how often any line was compared or looked up."""

    __slots__ = ()
    looks = 0

    def __eq__(self, other: object) -> bool:
        Line.looks += 1
        return str.__eq__(self, other)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        Line.looks += 1
        return str.__hash__(self)


def looks_for(old: list[str], new: list[str]) -> int:
    """How many looks at lines the comparison takes."""
    Line.looks = 0
    list(changed_lines(list(map(Line, old)), list(map(Line, new))))
    return Line.looks


@given(FEW, FEW)
def test_what_lies_between_changes_is_the_same(old: list[str], new: list[str]) -> None:
    """The changes stand in order, and without them one text is the other."""
    reached = other = 0
    for change in changed_lines(old, new):
        assert old[reached : change.low] == new[other : change.start]
        assert (change.low, change.start) != (change.high, change.end)
        reached, other = change.high, change.end
    assert old[reached:] == new[other:]


def test_a_line_that_stands_once_holds_its_neighbours_apart() -> None:
    """Equal lines are matched on its own side of it, however many there are on the other."""
    old, new = [*"xx", "anchor", *"yyy"], [*"xyx", "anchor", *"yy"]
    assert list(changed_lines(old, new)) == [ChangedLines(1, 1, 1, 2), ChangedLines(3, 4, 4, 4)]


def test_a_moved_line_is_one_change_at_each_place() -> None:
    """Of anchors in another order the most that stand in one are kept."""
    assert list(changed_lines("abcdef", "bcdaef")) == [
        ChangedLines(0, 1, 0, 0),
        ChangedLines(4, 4, 3, 4),
    ]


def alternating(size: int) -> tuple[list[str], list[str]]:
    """Every second line is in both texts, some three times: difflib finds one at a time."""
    kinds = size // 7
    old = [line for n in range(size // 2) for line in (f"{n % kinds}", f"old {n}")]
    new = [line for n in range(size // 2) for line in (f"{n % kinds}", f"new {n}")]
    return old, new


@pytest.mark.slow
@each("shape", ["alternating", "repeated", "own"])
def test_ten_times_the_lines_take_little_more_than_ten_times_the_looks(shape: str) -> None:
    """Also where no line stands once, or where all do."""

    def text(size: int) -> tuple[list[str], list[str]]:
        if shape == "alternating":
            return alternating(size)
        if shape == "own":
            lines = [f"line {n}" for n in range(size)]
            return lines, [line for n, line in enumerate(lines) if n % 7]
        return ["a", "b"] * size, ["b", "c", "a"] * size

    # Beyond what is compared line by line: up to there a text may take what it likes.
    small = looks_for(*text(4_000))
    assert looks_for(*text(40_000)) < 20 * small


def test_past_the_bound_a_stretch_counts_as_replaced() -> None:
    """What follows the next anchor is still compared."""
    old, new = alternating(20_000)
    assert most_looks(old, new) > MOST_LOOKS
    found = list(changed_lines([*old, "anchor", "a"], [*new, "anchor", "b"]))
    assert found == [
        ChangedLines(1, len(old), 1, len(new)),
        ChangedLines(len(old) + 1, len(old) + 2, len(new) + 1, len(new) + 2),
    ]


def test_the_bound_is_not_below_what_difflib_does() -> None:
    """Else it would bound nothing."""
    from difflib import SequenceMatcher

    for size in (40, 400):
        old, new = alternating(size)
        Line.looks = 0
        SequenceMatcher(
            None, list(map(Line, old)), list(map(Line, new)), autojunk=False
        ).get_matching_blocks()
        assert Line.looks <= 3 * most_looks(old, new)


SHORT_TEXTS = st.text(alphabet="ab\n\r", max_size=30)


@given(SHORT_TEXTS, SHORT_TEXTS, SHORT_TEXTS, SHORT_TEXTS)
def test_the_ends_are_as_long_as_they_can_be(head: str, old: str, new: str, tail: str) -> None:
    """No more could be taken on either side, and the two never overlap."""
    a, b = head + old + tail, head + new + tail
    first, last = shared_ends(a, b)
    assert a[:first] == b[:first]
    assert a[len(a) - last :] == b[len(b) - last :]
    assert first + last <= min(len(a), len(b))
    assert first == min(len(a), len(b)) or a[first] != b[first]


def test_a_change_far_inside_is_found() -> None:
    """Also where the texts are longer than any piece that is compared at once."""
    a, b = "x" * 20_000 + "old" + "y" * 9_000, "x" * 20_000 + "newer" + "y" * 9_000
    assert shared_ends(a, b) == (20_000, 9_000)
    assert shared_ends((1, 2, 3), (1, 4, 3)) == (1, 1)
