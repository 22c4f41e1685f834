"""The patterns of `pipimem/data/rules/`: each line finds its example and no counter-example."""

from __future__ import annotations

import pytest
from pipimem import resources
from pipimem.text.talk.sentence_rules import SentenceRule, as_written, general, matches, rules

from tests.cases import each, table


def lines(*names: str) -> list[tuple[str, SentenceRule]]:
    """Each rule of the files, with where it stands."""
    sections = [(name, section, some) for name in names for section, some in rules(name).items()]
    return [(f"{name} {section}", rule) for name, section, some in sections for rule in some]


@each(
    ("where", "rule"),
    lines("context", "questions", "left_out", "front", "changes", "concrete", "values", "requests"),
)
def test_every_other_pattern_finds_one_and_not_the_other(where: str, rule: SentenceRule) -> None:
    """At the front of a sentence where that is what it is for."""
    finds = (
        rule.pattern.match if where in ("front greeting", "front asking") else rule.pattern.search
    )
    assert finds(rule.example)
    assert not finds(rule.counter_example)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no example at all", "write PATTERN"),
        ("(open  =>  open door  !=  shut", "no regular expression"),
        ("pattern  =>  only an example", "write PATTERN"),
    ],
)
def test_a_line_that_is_none_is_named(
    monkeypatch: pytest.MonkeyPatch, line: str, reason: str
) -> None:
    """With the file, the number of the line, and what is wrong with it."""
    monkeypatch.setattr(resources, "rules", lambda name: f"# mended by hand\n[fact]\n{line}\n")
    with pytest.raises(ValueError, match=rf"worth\.txt, line 3: .*{reason}"):
        rules.__wrapped__("worth")


def test_general_words_are_small_letters() -> None:
    """They are compared with words in small letters."""
    assert "amazing" in general()
    assert "开心" in general()
    assert {word for word in general() if word != word.casefold()} == set()


def test_a_long_line_without_apostrophes_gets_each_of_them() -> None:
    """Each of its words was replaced in the whole line; 100 KB took half a minute."""
    assert as_written("Im sure they dont. " * 10_000) == "i'm sure they don't. " * 10_000


def test_an_apostrophe_is_put_into_whole_words_only() -> None:
    """Not into "important", "im2" or "im_port"."""
    assert as_written("important im2 im_port im") == "important im2 im_port i'm"


@each(
    ("name", "section", "text"),
    table(__file__, "what_only_sounds_like_it_does_not_match"),
)
def test_what_only_sounds_like_it_does_not_match(name: str, section: str, text: str) -> None:
    """Things that fall, jokes that nobody gets, and what was done rather than decided."""
    assert not matches(name, section, text)
