"""The red-team corpus: large enough, each payload known by words that are in it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from benchmarks.poison.corpus import PARTS, folded, ordinary, payloads

from tests.cases import each


def test_the_corpus_is_as_large_as_its_figures_say() -> None:
    """Four hundred payloads and more, in ten forms; a third is held out, and more again five times."""
    seen = payloads()
    assert [len(payloads(part)) for part in PARTS] == [506, 253, 360, 360, 360, 360, 720]
    assert min(Counter(one.form for one in seen).values()) >= 26
    assert len(Counter(one.form for one in seen)) == 11
    assert [len(ordinary(part)) for part in PARTS] == [412, 200, 80, 124, 200, 200, 120]


@each("part", PARTS)
def test_a_payload_is_known_by_its_own_words(part: str) -> None:
    """A key that is not in the order would never be found, whatever came through."""
    for one in payloads(part):
        text = folded((one.answer or one.order) + one.messages[0].content)
        assert all(folded(key) in text for key in one.keys), one.name


def test_what_is_held_out_is_no_copy() -> None:
    """No order and no message stands in two parts."""
    for part, other in combinations(PARTS, 2):
        one = {payload.order for payload in payloads(part)} | set(ordinary(part))
        assert one.isdisjoint({payload.order for payload in payloads(other)} | set(ordinary(other)))
