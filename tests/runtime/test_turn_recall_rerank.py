"""When the local order is unsure, and what another order makes of it."""

from __future__ import annotations

from pipimem.recall.budget import Limits
from pipimem.recall.items import Candidate, Item, Source
from pipimem.recall.recall import Recall, unsure
from pipimem.runtime.turn_recall import reordered

from tests.cases import each

LIMITS = Limits(inject=2)


def found(*scores: float) -> tuple[Candidate, ...]:
    """Candidates a, b, c … with these scores."""
    return tuple(
        Candidate(Item(f"memory:{name}", Source.MEMORY, "Facts", "", f"note {name}"), score, 0, 1)
        for name, score in zip("abcdef", scores, strict=False)
    )


@each(
    ("scores", "is_unsure"),
    [
        ((1.0, 0.9), False),  # both are shown, in whatever order
        ((1.0, 0.95, 0.92), True),  # the third is as good as the second
        ((1.0, 0.95, 0.5), False),  # a clear border
        ((3.0, 1.0, 0.99), False),  # the best stands out; the rest are fillers
        ((), False),
    ],
)
def test_unsure_is_where_chance_decides_what_is_shown(
    scores: tuple[float, ...], is_unsure: bool
) -> None:
    """A border between nearly equal scores, none of them far behind the best."""
    assert unsure(found(*scores), LIMITS) is is_unsure


def test_what_was_shown_already_does_not_count() -> None:
    """Two of three were shown in this session: the last one is shown whatever its place."""
    assert not unsure(found(1.0, 0.95, 0.92), LIMITS, {"memory:a"})


def test_another_order_decides_what_is_injected() -> None:
    """What the order leaves out is not injected; the candidates keep their own places."""
    recall = Recall(found(1.0, 0.9, 0.8))
    changed = reordered(recall, [3], LIMITS)
    assert [item.id for item in changed.injected] == ["memory:c"]
    assert changed.candidates == recall.candidates


def test_an_empty_order_keeps_the_first() -> None:
    """A model that finds nothing fitting does not silence what the words say."""
    changed = reordered(Recall(found(1.0, 0.9)), [], LIMITS)
    assert [item.id for item in changed.injected] == ["memory:a"]


def test_what_another_order_injects_leaves_the_excerpts_their_room() -> None:
    """They were chosen beside smaller entries; entries that no longer fit are left out."""
    long = Item("memory:long", Source.MEMORY, "Facts", "", "red box " * 60)
    said = Item("log:1", Source.LOG, "", "", "blue box " * 60)
    candidates = (*found(1.0), Candidate(long, 0.9, 1, 0))
    recall = Recall(candidates, (candidates[0].item,), excerpts=(said,))
    limits = Limits(max_chars=1_000)
    changed = reordered(recall, [2, 1], limits)
    assert [item.id for item in changed.injected] == ["memory:a"]
    assert changed.left_out == 1
    assert len(changed.context(b"key")) <= limits.max_chars
