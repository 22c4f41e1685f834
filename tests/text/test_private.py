"""What people mark as private goes, and what is unclear goes with it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.private import PrivateFilter, closes_an_earlier, filtered, without_private


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("nothing here", "nothing here"),
        ("a <private>salary 5000</private> b", "a [private] b"),
        ("a <PRIVATE>x</Private> b", "a [private] b"),
        ('a <private reason="health" level=2>x</private> b', "a [private] b"),
        ("工资＜private＞五千＜/private＞保密", "工资[private]保密"),
        ("a &lt;private&gt;x&lt;/private&gt; b", "a [private] b"),
        ("a < private >x</ private > b", "a [private] b"),
        ("a <private>x</private> b <private>y</private> c", "a [private] b [private] c"),
        ("a <private>x<private>y</private>z</private> b", "a [private] b"),
        ("a <private>never closed\n\nto the end", "a [private]"),
        ("a <private my salary is 5000</private> b", "a [private] b"),
        ("a <private", "a [private]"),
        ("a <private/> b", "a [private] b"),
        ("a <private>x</private b", "a [private] b"),
        ("a </private> b", "a </private> b"),
        (
            "class A { <privateer> <private-data> private: int }",
            "class A { <privateer> <private-data> private: int }",
        ),
        ("use `<private>` to hide", "use `[private]"),
        ("", ""),
    ],
)
def test_a_private_stretch_is_replaced(text, kept):
    """Any case, attributes, wide brackets; unclosed to the end; other tags stay."""
    assert without_private(text) == kept


def test_a_stretch_may_run_over_several_messages():
    """What one speaker opened stays private until the same speaker closes it."""
    texts = [
        ("ann", "hi <private>one"),
        ("bob", "hello"),
        ("ann", "two"),
        ("ann", "three</private> four"),
        ("ann", "five"),
    ]
    held, kept = PrivateFilter(), []
    for speaker, text in texts:
        out, held = held.filtered(speaker, text)
        kept.append(out)
    assert kept == ["hi [private]", "hello", "[private]", "[private] four", "five"]
    assert held == PrivateFilter()


def test_a_message_that_closes_may_open_again():
    """The state after a message is that of its last stretch."""
    assert filtered("x</private> y <private>z", True) == ("[private] y [private]", True)


def test_the_last_of_several_closings_counts():
    """Nested stretches opened earlier end together at the last closing, so nothing between them
    gets out.
    """
    assert filtered("x</private> inner </private> out", True) == ("[private] out", False)


def test_a_stretch_without_its_closing_stays_open():
    """A nested pair inside an open stretch does not close it."""
    assert filtered("a <private>b</private> c", True) == ("[private]", True)


PARTS = st.lists(
    st.sampled_from(
        [
            "<private>",
            "</private>",
            "＜PRIVATE＞",
            "<private",
            "</private",
            "<private/>",
            "&lt;",
            "x",
            " ",
            ">",
            "/",
        ]
    )
)


@given(PARTS.map("".join))
def test_filtering_twice_changes_nothing_more(text):
    """`without_private` is idempotent."""
    once = without_private(text)
    assert without_private(once) == once


@given(st.text(), PARTS)
def test_what_stands_inside_never_gets_out(before, parts):
    """Whatever tags are around, text between an opening tag and the first closing is gone."""
    inside = "".join(part for part in parts if not part.startswith("</"))
    text = f"{before}<private>{inside}SALARY-5000</private>{''.join(parts)}"
    assert "SALARY-5000" not in without_private(text)


@pytest.mark.parametrize(
    "piece", ["<private", "<private>", "</private>", "<", "&lt;", "<private &", "< "]
)
def test_hostile_text_is_read_in_linear_time(piece):
    """100 KB of tags is read at once."""
    began = time.perf_counter()
    without_private(piece * (100_000 // len(piece)))
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("text", "closes"),
    [
        ("bye</private>", True),
        ("a <private>b</private> c", False),
        ("<private>a</private></private>", True),
        ("", False),
    ],
)
def test_a_closing_may_end_a_stretch_that_began_earlier(text: str, closes: bool) -> None:
    """One that the text itself began is none."""
    assert closes_an_earlier(text) is closes
