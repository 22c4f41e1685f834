"""Texts that read like an order nobody may put into a bot's memory, and those that do not."""

from __future__ import annotations

import re

from pipimem import resources
from pipimem.text.injection import agrees, directs_conduct, injection_kind, is_order, is_risky

from tests.cases import each, table

LINES = [
    (name, kind, line)
    for name in ("attacks", "orders", "conduct", "risky")
    for kind, lines in resources.sections(f"injection/{name}").items()
    for line in lines
]


@each(("name", "kind", "line"), LINES)
def test_each_pattern_finds_its_example_and_leaves_its_counter_example(
    name: str, kind: str, line: str
) -> None:
    """The files are data with an example and a counter-example in each line."""
    source, _, examples = line.partition("  =>  ")
    example, _, counter_example = examples.partition("  !=  ")
    pattern = re.compile(source, re.IGNORECASE)
    assert pattern.search(example)
    assert counter_example
    assert not pattern.search(counter_example)
    assert name != "conduct" or directs_conduct(example)
    assert name != "risky" or is_risky(example)
    assert name not in ("attacks", "orders") or is_order(example)
    assert name != "attacks" or injection_kind(example), kind


@each(
    ("text", "kind"),
    table(__file__, "kinds"),
)
def test_kinds(text: str, kind: str) -> None:
    """Plain, encoded, spaced and traditional; what people say of each other is none."""
    assert injection_kind(text) == kind


@each(
    "text",
    table(__file__, "wishes_about_other_things_than_people_direct_no_conduct"),
)
def test_wishes_about_other_things_than_people_direct_no_conduct(text: str) -> None:
    """Mail, the forecast, accounts, a course, the management, water."""
    assert not directs_conduct(text)


@each("own", ["Agreed.", "Noted, thanks!", "收到", "好，就这么办", "sounds good"])
def test_who_takes_a_rule_up_agrees(own: str) -> None:
    """In a word or two at the beginning."""
    assert agrees(own)


@each(
    "own",
    [
        "I'll have lunch now",
        "I'll read it later and no, I disagree",
        "我去买菜",
        "知道了，但是我不同意",
        "Noted, but I object.",
    ],
)
def test_what_somebody_will_do_or_objects_is_no_agreement(own: str) -> None:
    """A rule of one voice would bind everybody by it."""
    assert not agrees(own)
