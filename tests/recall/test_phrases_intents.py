"""What a question is after."""

from __future__ import annotations

from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import Intent, answers, intents_of

from tests.cases import each


@each(
    ("text", "intent"),
    [
        ("下一步该做什么", Intent.NEXT),
        ("what should we do next?", Intent.NEXT),
        ("还有什么没做", Intent.NEXT),
        ("现在进展如何", Intent.STATE),
        ("where did we leave off?", Intent.STATE),
        ("有什么限制", Intent.CONSTRAINTS),
        ("are we allowed to restart it", Intent.CONSTRAINTS),
        ("最后决定用什么", Intent.DECISIONS),
        ("what did we agree on", Intent.DECISIONS),
        ("昨天哪里出错了", Intent.ERRORS),
        ("what went wrong", Intent.ERRORS),
        ("上次聊到哪些", Intent.HISTORY),
        ("what did we discuss last week", Intent.HISTORY),
        ("他有什么忌口", Intent.PREFERENCES),
        ("what is her favourite editor", Intent.PREFERENCES),
    ],
)
def test_cues_tell_the_intent(text: str, intent: Intent) -> None:
    """Both languages have the same seven."""
    assert intent in intents_of(text)


def test_a_plain_question_has_no_intent() -> None:
    """Most questions are about something."""
    assert intents_of("which port does nimbus-gateway use") == ()
    assert intents_of("采购单据找谁签字") == ()


def test_sections_answer_their_intent() -> None:
    """A decision answers "what did we decide", in SESSION and in MEMORY; a fact does not."""
    session = Item("session:decisions", Source.SESSION, "决定", "", "x", kind="Decisions")
    memory = Item("memory:a", Source.MEMORY, "Decisions", "", "x", kind="decision")
    fact = Item("memory:b", Source.MEMORY, "Facts", "", "x", kind="fact")
    history = Item("history:c", Source.HISTORY, "2026-03", "", "x")
    assert [answers(item, Intent.DECISIONS) for item in (session, memory, fact)] == [
        True,
        True,
        False,
    ]
    assert answers(history, Intent.HISTORY)
