"""Wishes and health: every pattern finds its example and leaves its counter-example."""

from __future__ import annotations

from pipimem.text.talk.personal import health_statement, is_wish, wish_subject
from pipimem.text.talk.sentence_rules import SentenceRule, rules

from tests.cases import each

EXAMPLES = [(section, rule) for section, some in rules("personal").items() for rule in some]


@each(("section", "rule"), EXAMPLES)
def test_a_pattern_finds_its_example_and_no_counter_example(
    section: str, rule: SentenceRule
) -> None:
    """A pattern of a kind makes its example one of the kind; others match only their example."""
    assert rule.pattern.search(rule.example)
    match section:
        case "health" | "chinese health":
            assert health_statement(rule.example)
            assert not health_statement(rule.counter_example)
        case "no health":
            assert not health_statement(rule.example)
            assert health_statement(rule.counter_example)
        case "wish" | "wish for good" | "chinese wish" | "chinese wish for good":
            assert is_wish(rule.example)
            assert not is_wish(rule.counter_example)
        case "once":
            assert not is_wish(rule.example)
            assert is_wish(rule.counter_example)
        case _:
            assert not rule.pattern.search(rule.counter_example)
            if section.startswith("about "):
                assert wish_subject(rule.example) == section.removeprefix("about ")
                assert not wish_subject(rule.counter_example)


@each(
    ("text", "stated"),
    [
        ("I'm allergic to peanuts, can we skip the satay?", "I'm allergic to peanuts"),
        ("我对花生过敏，点餐能不能避开？", "我对花生过敏"),
        ("so my sister has asthma; should I vacuum?", "so my sister has asthma"),
        ("Can Mia, who is allergic to nuts, eat this?", ""),
        ("Is she allergic to nuts?", ""),
    ],
)
def test_of_a_question_the_statement_in_front_counts(text: str, stated: str) -> None:
    """A clause that asks states nobody's health."""
    assert health_statement(text) == stated


@each(
    ("text", "subject"),
    [
        ("Call me Kit", "name"),
        ("Answer in French.", "language"),
        ("回答短一点", "length"),
        ("Actually, please call me Ana María from now on.", "name"),
        ("From now on, reply only in Simplified Chinese!", "language"),
        ("以后请都用中文回复我。", "language"),
        ("叫我阿杰就行，谢谢", "name"),
        ("Please be brief", "length"),
        ("Never use emojis in your answers, please", "emoji"),
        ("以后别用表情了", "emoji"),
        ("Always use bullet points", "lists"),
        ("Always tell me how long each step takes", ""),
        ("Please write short sentences, never long words", ""),
        ("Please reply in Markdown", ""),
        ("Please reply in under 50 words", ""),
        ("Don't call me after ten, call me on Signal", ""),
        ("Never call me Tess", ""),
        ("Describe the emojis that people send me, always", ""),
        ("No tables", ""),
        ("以后别叫我改代码", ""),
        ("每天七点叫我起床", ""),
        ("以后别说英文单词，说全称", ""),
        ("代码注释永远用英文", ""),
        ("以后菜谱都要写详细的克数", ""),
        ("please " * 60 + "answer in French", ""),
        ("When I ask about money, answer in French", ""),
        ("Keep it short and answer in French", ""),
        ("Always name the source", ""),
    ],
)
def test_a_wish_has_a_subject_if_it_says_nothing_else(text: str, subject: str) -> None:
    """A wish with a condition, about two things or with more to say ends no other."""
    assert wish_subject(text) == subject


def test_a_question_is_a_wish_only_if_it_says_for_good() -> None:
    """A single request with a question behind it asks nothing for later."""
    assert is_wish("Could you always show the source?", in_question=True)
    assert not is_wish("Keep it short: what is the capital of Peru?", in_question=True)
