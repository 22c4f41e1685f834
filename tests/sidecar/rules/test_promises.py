"""A promise is over by its outcome, and by no other one."""

from __future__ import annotations

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.promises import is_done
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each, table

WORDS = Words(Segmenter())


@each(
    ("promise", "told", "by", "done"),
    table(__file__, "a_promise_is_over_when_somebody_says_it_is_done"),
)
def test_a_promise_is_over_when_somebody_says_it_is_done(
    promise: str, told: str, by: str, done: bool
) -> None:
    """In the words of the promise; who did not promise it speaks of the very thing."""
    said, promised = Claim(told, by, None), Claim(promise, "Tom", Kind.OPEN_LOOP)
    assert is_done(said, promised, WORDS) is done
    assert not done or ClaimIndex([promised], WORDS).may_end(told) == [0]
