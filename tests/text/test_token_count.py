"""Tokens are guessed well enough for a budget, and texts are cut where a reader would stop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.token_count import MOST_PER_CHARACTER, clipped, estimate, truncated_middle

from tests.cases import each

# Counted once with litellm 1.106.2, token_counter(model="gpt-4o").
COUNTED = [
    ("上线窗口改到下周四晚上十点，由小王负责回滚方案，其他人待命。", 23),
    ("Alice prefers short answers and never wants meetings before ten in the morning.", 14),
    ("用 pnpm 安装依赖，然后运行 `pnpm test --filter gateway`，日志在 /var/log/app.log 里。", 28),
    (
        'def folded(lines: list[str]) -> str:\n    return "\\n".join(line.strip() for line in lines)\n',
        24,
    ),
    (
        "- 2026-03-05: the budget went from 12,000 to 18,500 per month\n- 2026-03-06: approved by finance\n",
        38,
    ),
    ("## Decisions\n\n- We ship on Friday.\n- No deploys in the holidays.\n", 17),
    ("她对花生过敏，聚餐的时候请提前告诉餐厅，另外她周末一般不看消息。", 25),
]


@each(("text", "tokens"), COUNTED)
def test_the_estimate_is_near_the_count(text, tokens):
    """Within a quarter even for one passage; over a conversation errors cancel out."""
    assert estimate(text) == pytest.approx(tokens, rel=0.25)


def test_nothing_costs_nothing():
    """An empty text has no tokens, a single sign has one."""
    assert (estimate(""), estimate("a"), estimate("你")) == (0, 1, 1)


@given(st.one_of(st.text(), st.text("1 a!，你~")))
def test_no_text_has_more_tokens_than_its_length_allows(text):
    """What fits by this bound need not be counted."""
    assert estimate(text) <= MOST_PER_CHARACTER * len(text)


@given(st.text(), st.text())
def test_more_text_never_costs_less(a, b):
    """A budget can be filled piece by piece."""
    assert estimate(a + " " + b) >= max(estimate(a), estimate(b)) - 1


@each(
    ("text", "chars", "expected"),
    [
        ("今天天气很好。我们去公园吧！明天再说", 10, "今天天气很好。…"),
        ("今天天气很好。我们去公园吧！明天再说", 15, "今天天气很好。我们去公园吧！…"),
        ("We ship on Friday. The rest waits until May.", 30, "We ship on Friday.…"),
        ("He said “stop!” Then he left the room.", 22, "He said “stop!”…"),
        ("first line\nsecond line\nthird", 24, "first line\nsecond line…"),
        ("version 2.3.1 is out and about", 15, "version 2.3.1…"),
        ("no sentence ends in these words", 20, "no sentence ends in…"),
        ("A. then a very long clause without any end", 30, "A. then a very long clause…"),
        ("一个没有标点的很长很长的句子", 8, "一个没有标点的…"),
        ("x" * 50, 10, "x" * 9 + "…"),
        ("fits", 4, "fits"),
        ("too long", 1, "…"),
        ("too long", 0, ""),
    ],
)
def test_a_text_is_cut_where_a_reader_would_stop(text, chars, expected):
    """At a sentence, else at a word, else between two characters."""
    assert clipped(text, chars) == expected


@each("one", ["👨‍👩‍👧‍👦", "e\u0301", "👍🏽", "☂\ufe0f"])
def test_no_character_is_torn_apart(one):
    """A joined emoji and an accent stay whole or go whole."""
    cut = clipped(one * 10, len(one) * 3)
    assert cut == one * ((len(cut) - 1) // len(one)) + "…"


@given(st.text(), st.integers(min_value=0, max_value=200))
def test_what_is_cut_fits_and_begins_the_text(text, chars):
    """Never longer than asked, never anything else than the beginning."""
    cut = clipped(text, chars)
    assert len(cut) <= chars
    assert cut == text or text.startswith(cut.removesuffix("…"))


@pytest.mark.parametrize("chars", [20, 60, 116])
def test_a_text_cut_in_its_middle_keeps_both_ends(chars: int) -> None:
    """How it begins and how it ends, in so many characters; a text that fits stays whole."""
    text = "It began at noon. " + "Then it went on. " * 5 + "It ended well."
    short = truncated_middle(text, chars)
    assert len(short) <= chars
    assert short.count("…") == 1
    assert short.startswith("It began")
    assert short.endswith("well.")
    assert truncated_middle(text, len(text)) == text
