"""What a question wants to be told, and which entries tell such a thing."""

from __future__ import annotations

import re

from pipimem import resources
from pipimem.recall.answer_kinds import KINDS, kind_marks, kind_terms

from tests.cases import each


@each(
    ("kind", "question", "entry"),
    [
        ("money", "how much do we charge for a viewing?", "A viewing is 45 euros."),
        ("money", "印一本多少钱？", "小册子印一本 12 元"),
        ("age", "how old is the boat?", "The boat turned 40 in May."),
        ("age", "外婆多大了？", "外婆今年 86 岁"),
        ("duration", "how long is the warranty?", "The warranty lasts two years."),
        ("duration", "备份保留多久？", "备份保留 30 天"),
        ("measure", "what temperature is the kiln at?", "The kiln fires at 1220 °C."),
        ("measure", "窑炉多高？", "窑炉内高 60 厘米"),
        ("share", "what is our commission?", "The gallery keeps 30 % of each sale."),
        ("share", "抽几成？", "画廊抽百分之三十"),
        ("location", "which file has the rota?", "The rota is in plans/rota.xlsx."),
        ("location", "值班表的链接？", "值班表在 https://example.org/rota"),
        ("contact", "what is the vet's phone number?", "The vet: 555-0134."),
        ("contact", "兽医的电话？", "兽医的手机尾号 0134"),
        ("version", "which version do we ship?", "We ship 2.4.1."),
        ("version", "现在是什么版本？", "线上是 2.4.1"),
    ],
)
def test_a_question_and_an_entry_meet_in_the_kind(kind: str, question: str, entry: str) -> None:
    """Without any word in common."""
    asked = {term.word for term in kind_terms(question)}
    assert f"tells: {kind}" in asked & set(kind_marks(entry))


@each("text", ["good morning, everybody", "大家早上好", "see you on the boat"])
def test_what_is_no_question_for_a_kind_has_none(text: str) -> None:
    """Nor does such a text tell one."""
    assert kind_terms(text) == ()
    assert kind_marks(text) == []


def test_each_kind_has_both_sides_and_every_line_compiles() -> None:
    """A section that no kind names would be read by nobody."""
    sections = resources.sections("recall/answer_kinds")
    sides = {name.partition(":")[0] for name in sections}
    assert sides == {f"{kind} {side}" for kind in KINDS for side in ("asked", "told")}
    for lines in sections.values():
        for line in lines:
            re.compile(line)
