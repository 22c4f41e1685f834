"""What a question wants to be told, and which entries tell such a thing."""

from __future__ import annotations

import re

from pipimem import resources
from pipimem.recall.phrases import KINDS, kind_marks, kind_terms

from tests.cases import each, table


@each(
    ("kind", "question", "entry"),
    table(__file__, "a_question_and_an_entry_meet_in_the_kind"),
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
