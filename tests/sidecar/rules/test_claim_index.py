"""Of many like claims only those of the same numbers, names or subject are looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules import superseded
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import Claim

from tests.cases import each
from tests.sidecar.rules.test_choosing import WORDS, learnt_from

MANY = 60


@each(
    ("older", "newer", "kind"),
    [
        ("gateway {} is in hall {}1", "gateway 7 moved to hall 91", Kind.DECISION),
        ("the team of Room{} meets on Monday", "Room7 now meets on Friday", Kind.FACT),
        ("第{}组在{}1楼开会", "第7组改到91楼开会", Kind.DECISION),
        ("I'll order the badge {} by Friday", "badge 7 ordered", Kind.OPEN_LOOP),
    ],
)
def test_the_one_of_the_same_number_or_name_is_found(older: str, newer: str, kind: Kind) -> None:
    """Not the fifty-nine beside it."""
    claims = [Claim(older.format(number, number), "Tom", kind) for number in range(MANY)]
    assert ClaimIndex(claims, WORDS).may_end(newer) == [7]


def test_what_says_no_word_of_change_ends_nothing() -> None:
    """Nor does a subject that nobody spoke of."""
    index = ClaimIndex([Claim("The choir meets on Monday", "Tom", Kind.FACT)], WORDS)
    assert index.may_end("The choir meets on Tuesday") == []
    assert index.may_end("The orchestra moved to Tuesday") == []
    assert index.may_end("The choir moved to Tuesday") == [0]


@pytest.mark.parametrize(
    "said",
    [
        "we decided to move gateway {} to hall {}1",
        "第{}组改到{}1楼开会",
        "I'll order the badge {} for hall {}1 by Friday",
        "The badge {} for hall {}1 is ordered",
    ],
)
def test_twice_as_many_decisions_are_compared_twice_as_often(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """Not four times."""
    compared: list[str] = []

    def counted(of: Callable[..., bool]) -> Callable[..., bool]:
        def ends(new: Claim, *others: object) -> bool:
            compared.append(new.said)
            return of(new, *others)

        return ends

    monkeypatch.setattr(superseded, "ends", counted(superseded.ends))
    monkeypatch.setattr(superseded, "concerns", counted(superseded.concerns))
    monkeypatch.setattr(superseded, "is_over", counted(superseded.is_over))
    learnt_from(*(said.format(number, number) for number in range(MANY)))
    assert len(compared) <= 2 * MANY
