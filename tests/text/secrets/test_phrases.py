"""What people say around a secret is data, and all of it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pipimem.text.secrets
from pipimem import resources
from pipimem.text.secrets import redacted
from pipimem.text.secrets.phrases import phrases

from tests.cases import each

HEADINGS = sorted(resources.sections("secrets/phrases"))


@each("heading", HEADINGS)
def test_every_heading_is_read_and_can_be_compiled(heading: str) -> None:
    """A heading that no module names would do nothing."""
    folder = Path(pipimem.text.secrets.__file__).parent
    assert any(f"{heading}" in path.read_text("utf-8") for path in folder.glob("*.py"))
    re.compile(phrases(heading))


@each(
    ("text", "masked"),
    [
        ("the password for staging was changed to hunter2x", "hunter2x"),
        ("密码临时改成了hunter2x", "hunter2x"),
        ("login to grafana: deploy with hunter2x", "hunter2x"),
        ("口令就是芝麻开门", "芝麻开门"),
        ("482913 是你的验证码", "482913"),
        ("银行卡密码别忘了 884422，算了", "884422"),
        ("密码记好：Kx72hunter", "Kx72hunter"),
    ],
)
def test_words_between_a_cue_and_its_value_are_known(text: str, masked: str) -> None:
    """Verbs, adverbs and prepositions, in English and Chinese."""
    found = redacted(text)
    assert masked not in found
    assert "[secret:" in found


@each(
    "text",
    [
        "密码别忘了改",
        "记住密码，明天 10:30 开会",
        "密码，2026 年之前都不用换",
        "他忘了密码，13 号之前进不去",
        "the password, remember, has to have 12 characters",
        "记好密码规则：至少 8 位",
    ],
)
def test_a_reminder_of_a_password_is_no_password(text: str) -> None:
    """What follows is what to do, a day, a time or a length."""
    assert redacted(text) == text
