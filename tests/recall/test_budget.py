"""The limits of a block hold for what stands in it: escaped, with its names and headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.recall.budget import BlockBudget, Limits, context_block, within
from pipimem.recall.items import Candidate, Item, Source
from pipimem.text.fence import RECALLED_NOTE
from pipimem.text.token_count import estimate

from tests.cases import each
from tests.recall.conftest import NOW

KEY = b"a channel's key"
# What grows when it is written as an escape, costs a token a character, or looks like a frame.
PIECES = (
    "<",
    "`",
    "\u202e",
    "\U000e0041",
    "\ud800",
    "&lt;",
    "\\u003c",
    "名",
    "😀",
    "7 ",
    "red box ",
    "\n",
    "\r\n",
    "\x0b",
    "[x]\n- ",
    "password: hunter2hunter2 ",
    "Tom (2026-11-12): ",
)
TEXT = st.builds(
    "".join,
    st.lists(
        st.builds(str.__mul__, st.sampled_from(PIECES), st.sampled_from((1, 3, 40, 300, 3_000))),
        min_size=1,
        max_size=3,
    ),
)


@st.composite
def items(draw: st.DrawFn) -> tuple[Item, ...]:
    """Up to twelve items under at most three headings, said by at most three people."""
    headings = draw(st.lists(TEXT, min_size=1, max_size=3))
    names = draw(st.lists(TEXT, min_size=1, max_size=3))
    found = []
    for number in range(draw(st.integers(0, 12))):
        source = draw(st.sampled_from(Source))
        section = draw(st.sampled_from(headings))
        speaker = draw(st.sampled_from((*names, "")))
        text = draw(TEXT)
        found.append(Item(f"{source}:{number}", source, section, "", text, NOW, speaker=speaker))
    return tuple(found)


@pytest.mark.slow
@given(items(), items(), st.integers(100, 6_000), st.integers(40, 2_000))
def test_no_name_heading_or_text_makes_a_block_larger_than_its_limits(
    found: tuple[Item, ...], said: tuple[Item, ...], chars: int, tokens: int
) -> None:
    """Entries first, then what fits beside them."""
    limits = Limits(max_chars=chars, max_tokens=tokens)
    candidates = [Candidate(item, 1.0, 1, 0) for item in found]
    injected, left_out = within(candidates, limits, frozenset())
    budget = BlockBudget(chars, tokens)
    budget.take(injected)
    beside = [item for item in said if budget.takes(item)]
    block = context_block([*injected, *beside], KEY, note=RECALLED_NOTE, left_out=left_out)
    assert len(block) <= chars
    assert estimate(block) <= tokens


@each("source", [Source.MEMORY, Source.LOG])
def test_a_long_name_and_a_long_heading_are_shown_in_part(source: Source) -> None:
    """80 characters of each; the text is whole."""
    item = Item("x:1", source, "冗" * 3_000, "", "the red box", NOW, speaker="名" * 3_000)
    block = context_block([item], KEY)
    assert "名" * 79 + "…" in block
    assert "冗" * 79 + "…]" in block
    assert "the red box\n" in block
    assert len(block) < 400


@each("source", [Source.MEMORY, Source.HISTORY, Source.LOG])
def test_a_secret_in_a_heading_or_a_name_is_masked(source: Source) -> None:
    """Before it is cut: what is left of it would be no secret that anybody knows."""
    secret = "ghp_" + "a1B2" * 9
    item = Item("x:1", source, f"{'red ' * 14}{secret}", "", "the red box", NOW, speaker=secret)
    block = context_block([item], KEY)
    assert "a1B2" not in block
    assert "the red box" in block


def test_what_stands_beside_takes_its_room_first() -> None:
    """A model's order changes the entries after the excerpts were chosen."""
    entries = [Item(f"memory:{n}", Source.MEMORY, "Facts", "", "red box " * 20) for n in range(8)]
    said = [Item(f"log:{n}", Source.LOG, "", "", "blue box " * 20, NOW) for n in range(4)]
    candidates = [Candidate(item, 1.0, 1, 0) for item in entries]
    limits = Limits(max_chars=1_500)
    injected, left_out = within(candidates, limits, frozenset(), said)
    assert 0 < len(injected) < len(within(candidates, limits, frozenset())[0])
    assert len(injected) + left_out == len(entries)
    block = context_block([*injected, *said], KEY, note=RECALLED_NOTE, left_out=left_out)
    assert len(block) <= limits.max_chars
