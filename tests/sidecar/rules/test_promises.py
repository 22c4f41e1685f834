"""A promise is over by its outcome, and by no other one."""

from __future__ import annotations

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.promises import is_done
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each

WORDS = Words(Segmenter())


@each(
    ("promise", "told", "by", "done"),
    [
        (
            "回滚脚本 ops/rollback.sh 我来写，下周一之前要能跑",
            "回滚脚本写完了，ops/rollback.sh，演练过",
            "Tom",
            True,
        ),
        (
            "回滚脚本 ops/rollback.sh 我来写，下周一之前要能跑",
            "回滚脚本写完了，ops/rollback.sh，演练过",
            "Ann",
            True,
        ),
        ("I'll order the new badges by Friday", "The new badges are ordered", "Tom", True),
        ("I'll call the dentist tomorrow", "called the dentist", "Tom", True),
        ("I'll book the hall for 3 May", "The bus is booked", "Tom", False),
        ("Ann, please order the badges by Friday", "The badges are ordered", "Ann", True),
        ("我周五前交报告", "报告搞定了", "Tom", True),
        ("我来订周六的餐厅", "票订好了", "Tom", False),
        ("我明天给房东打电话", "给房东打过电话了", "Tom", True),
        ("I'll order the new badges by Friday", "The new curtains are ordered", "Tom", False),
        ("我周日前交水电费", "水电费交了", "Tom", True),
        ("我周五前去买票", "票买好了", "Tom", True),
        (
            "I submit the build to review by Monday, Apple took 31 hours last time",
            "build 1187 is submitted, waiting for review",
            "Tom",
            True,
        ),
        ("我明天去交水电费", "水电费已交", "Tom", True),
        ("I'll get the projector fixed by Friday", "projector fixed", "Tom", True),
        ("I'll get the projector fixed by Friday", "projector fixed", "Ann", True),
        ("I'll send the invoice to Baker by Friday", "done, the invoice is sent", "Tom", True),
        ("Ann will pick up the keys on Friday", "picked up the keys", "Ann", True),
        ("小王，周三前把票买好", "票买好了", "小王", True),
        ("我来修打印机", "投影机修好了", "Tom", False),
        ("I'll order a projector by Friday", "projector fixed", "Tom", False),
        ("I'll order the badge 4 by Friday", "badge 7 ordered", "Tom", False),
        ("I'll send the invoice and the contract by Friday", "invoice sent", "Tom", False),
        ("我周五前写回滚脚本和发布说明", "回滚脚本写好了", "Tom", False),
        ("I'll hand in my report by Friday", "report handed in", "Ann", False),
        ("I'll write a report by Friday", "report written", "Ann", False),
        ("我周五前交报告", "报告交了", "Ann", False),
    ],
)
def test_a_promise_is_over_when_somebody_says_it_is_done(
    promise: str, told: str, by: str, done: bool
) -> None:
    """In the words of the promise; who did not promise it speaks of the very thing."""
    said, promised = Claim(told, by, None), Claim(promise, "Tom", Kind.OPEN_LOOP)
    assert is_done(said, promised, WORDS) is done
    assert not done or ClaimIndex([promised], WORDS).may_end(told) == [0]
