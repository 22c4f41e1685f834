"""Promises that are kept, in other words than they were given in."""

from __future__ import annotations

import pytest
from pipimem.sidecar.offline.closing import closes
from pipimem.sidecar.offline.sentences import sentences
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words
from tests.sidecar.conftest import said

WORDS = Words(Segmenter())


def closed(promise: str, done: str, speaker: str = "老周") -> bool:
    """Whether one sentence closes the promise."""
    (sentence,) = sentences([said(1, done, speaker)])
    return closes(sentence, promise, Weights(WORDS, [promise, done]), ("老周", "Dana"))


@pytest.mark.parametrize(
    ("promise", "done"),
    [
        ("灯塔的门锁 3月20日 到期，老周来换，2026-03-13 之前换完", "门锁也换好了，比计划早两天"),
        ("航行日志老周 2026-03-11 中午之前写好，中英文各一份，港口要用", "航行日志写好了，放在柜子里"),
        ("老周: the lamp is ordered, waiting for approval", "the lamp was approved this morning"),
    ],
)
def test_the_same_thing_done_in_other_words_closes(promise: str, done: str) -> None:
    """The same verb with another ending, the clause that names the thing, the decision one waited for."""
    assert closed(promise, done)


def test_another_thing_or_another_person_does_not() -> None:
    """A shared verb alone is not enough, and one's promise is one's own."""
    assert not closed("灯塔的门锁老周来换，2026-03-13 之前换完", "电池换好了")
    assert not closed("航行日志老周来写，周五之前写完", "航行日志写好了", speaker="Dana")
