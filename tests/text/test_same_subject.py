"""Two statements about one subject are told from two that only share a date."""

from __future__ import annotations

import pytest
from pipimem.text.same_subject import same_script, same_subject


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The release is on Thursday", "Release moved to 2026-03-06 because QA is late"),
        ("Bob lives in Paris", "Bob moved to London in May"),
        ("Dana prefers tea", "Dana now drinks coffee"),
        ("Alice works at Acme", "Alice joined Globex as CTO on 2026-05-01"),
        ("Marta owns the billing service", "Billing is owned by Tom since March"),
        ("The API limit is 100 requests a minute", "API limit: 300 requests per minute"),
        ("备份每晚 23:00 运行", "备份每天 02:00 运行，因为 23:00 会和报表任务抢磁盘"),
        ("上线窗口是周四 20:00 到 22:00", "上线窗口改到周五 10:00"),
        ("林晓喜欢简短的回答", "林晓希望回答详细一些，带例子"),
        ("王磊负责支付模块", "支付模块 2026-03 起由赵敏负责"),
        ("CI 用 Jenkins", "CI 迁到了 GitHub Actions"),
    ],
)
def test_a_newer_value_speaks_of_what_it_changes(old: str, new: str) -> None:
    """However it is worded."""
    assert same_subject(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is on Friday at 10:00", "Backups run on Friday at 10:00"),
        ("周会是周五 10:00", "备份在周五 10:00 运行"),
        ("Customer data must not leave the EU", "The new terms apply from 2026-04-01"),
        ("Dana is allergic to shellfish", "The build runs on Python 3.12"),
        ("压测要先通知机房，不然会被限流", "新条款从 2026-04-01 起生效"),
    ],
)
def test_a_mixed_up_id_is_seen(old: str, new: str) -> None:
    """A value in common says nothing."""
    assert not same_subject(old, new)


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("The release window is Thursday", "上线窗口改到周三 18:00", False),
        ("林晓 likes short answers", "Dana likes long ones", True),
        ("用 pnpm，不用 npm", "前端仓库用 yarn", True),
        ("2026-03-06", "10:00", True),
    ],
)
def test_the_script_is_that_of_most_words(text: str, other: str, same: bool) -> None:
    """A name or a tool in the other script does not change it."""
    assert same_script(text, other) is same
