"""Texts told apart by their lines."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.line_counts import added, more_lines, stands_in, step_back
from pipimem.text.lines import split_lines
from pipimem.text.splices import splices_between

TEXTS = st.lists(st.sampled_from(["a", " a", "b\n", "b \r\n", "\n", "c"]), max_size=8).map("".join)


def counted(text: str) -> Counter[str]:
    """How often each line stands in a text, counted the plain way."""
    return Counter(line.strip() for line in split_lines(text))


@given(TEXTS, TEXTS)
def test_what_one_text_has_more(known: str, text: str) -> None:
    """The difference of the counts of all their lines, and nothing that both have as often."""
    more, mine, others = more_lines(known, text), counted(known), counted(text)
    assert all(more.values())
    assert {line: mine[line] - others[line] for line in mine | others} == {
        line: more.get(line, 0) for line in mine | others
    }


@given(TEXTS, TEXTS, TEXTS)
def test_steps_add_up(first: str, second: str, third: str) -> None:
    """By way of a text in between, or back over the change that was made of it."""
    assert added(more_lines(second, third), more_lines(first, second)) == more_lines(first, third)
    more = more_lines(second, third)
    step_back(more, splices_between(first, second))
    assert more == more_lines(first, third)


@given(TEXTS, st.sampled_from(["a", "b", "c", "ab"]))
def test_a_line_stands_in_a_text(text: str, line: str) -> None:
    """Whole, white space around it aside; as a part of another line it does not count."""
    assert stands_in(line, text) == (line in counted(text))
