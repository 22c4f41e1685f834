"""Two texts that grew out of one: nobody's words get lost, none stand twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.merge import three_way
from pipimem.store.merge.three_way import merged, only_added
from pipimem.text.markdown import line_edits

from tests.cases import each, table

LINES = st.lists(
    st.sampled_from([f"- {letter}\n" for letter in "abcdefgh"]), unique=True, max_size=8
)


@each(
    ("base", "ours", "theirs", "both"),
    table(__file__, "both_sides_stay"),
)
def test_both_sides_stay(base: str, ours: str, theirs: str, both: str) -> None:
    """Theirs where they stand, ours behind where the two clash."""
    assert merged(base, ours, theirs) == both


def test_a_heading_added_right_behind_what_the_other_side_changed_stands_once() -> None:
    """Both added it with what stands below; the line before it went from one side."""
    base = "- tea\n- milk\n"
    assert merged(base, "- tea\n\n## Plans\n\n- ours\n", base + "\n## Plans\n\n- theirs\n") == (
        "- tea\n\n## Plans\n\n- theirs\n- ours\n"
    )


@each(
    ("half", "whole"),
    [
        ("- tea is green\n- mi", "- tea is green\n- milk is white\n- bread\n"),
        ("- tea is green\n- typed\n- mi", "- tea is green\n- milk is white\n- bread\n- typed\n"),
        ("- te", "- tea is green\n- milk is white\n- bread\n"),
        ("- bread\n- tea", "- tea is green\n- milk is white\n- bread\n- tea"),
    ],
)
def test_a_line_that_was_cut_is_no_line_and_one_without_an_ending_is(half: str, whole: str) -> None:
    """It is known by where it stands, not by how it begins."""
    base = "- tea is green\n- milk is white\n- bread\n"
    assert only_added(base, base, half) == whole


@given(LINES, LINES, LINES)
def test_no_added_line_is_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """Whatever either side added is in the merge."""
    found = merged("".join(base), "".join(ours), "".join(theirs)).splitlines(keepends=True)
    assert not (set(ours) | set(theirs)) - set(base) - set(found)


@given(LINES, LINES)
def test_one_side_alone_is_that_side(base: list[str], other: list[str]) -> None:
    """Without a second change nothing is to be merged."""
    one, text = "".join(base), "".join(other)
    assert merged(one, text, one) == text
    assert merged(one, one, text) == text
    assert merged(one, text, text) == text


class Line(str):
    """A line that counts how often any line was compared."""

    __slots__ = ()
    looks = 0

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Line.looks += 1
        return str.__eq__(self, other)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", ["own", "repeated"])
def test_two_rewritten_texts_are_merged_in_few_looks(
    shape: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each side replaced every line: all of both stays, and no line is looked for among all
    others.
    """
    monkeypatch.setattr(
        three_way,
        "split_lines",
        lambda text: tuple(map(Line, text.splitlines(keepends=True))),
    )
    monkeypatch.setattr(line_edits, "split_lines", three_way.split_lines)

    def text(side: str, size: int) -> str:
        lines = range(size) if shape == "own" else [n % 5 for n in range(size)]
        return "".join(f"{side} {line}\n" for line in lines)

    def looks(size: int) -> int:
        Line.looks = 0
        ours, theirs = text("ours", size), text("theirs", size)
        assert merged(text("base", size), ours, theirs) == theirs + ours
        return Line.looks

    small = looks(500)
    assert looks(5_000) <= 20 * small + 1_000


def test_past_the_bound_both_sides_stay() -> None:
    """A log that repeats itself, changed by both: no line that either wrote is lost."""
    base = "".join(f"{n % 3}\n" for n in range(30_000))
    ours = "".join(f"{n % 3}\nours {n % 7}\n" for n in range(15_000))
    theirs = "".join(f"theirs {n % 7}\n{n % 3}\n" for n in range(15_000))
    found = merged(base, ours, theirs).splitlines()
    assert [line for line in found if line.startswith("theirs")] == theirs.splitlines()[::2]
    assert [line for line in found if line.startswith("ours")] == ours.splitlines()[1::2]
