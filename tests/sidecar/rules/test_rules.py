"""Every line of `worth.txt` finds its example, which is kept, and no counter-example is."""

from __future__ import annotations

from pipimem.sidecar.rules.choosing import choices
from pipimem.text.talk.context import in_context
from pipimem.text.talk.sentence_rules import SentenceRule, rules
from pipimem.text.talk.sentences import sentences
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each
from tests.sidecar.conftest import said

WORDS = Words(Segmenter())
EXAMPLES = [(section, rule) for section, some in rules("worth").items() for rule in some]


def is_kept(text: str) -> bool:
    """Whether the rules keep anything of a message."""
    return bool(choices(in_context(sentences([said(1, text)])), WORDS))


@each(("where", "rule"), EXAMPLES)
def test_what_is_worth_keeping_has_an_example_that_is_kept(where: str, rule: SentenceRule) -> None:
    """The pattern finds its example, the rules keep it, and they do not keep the counter-
    example.
    """
    assert rule.pattern.search(rule.example)
    assert is_kept(rule.example)
    assert not is_kept(rule.counter_example)
