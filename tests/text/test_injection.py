"""Texts that read like an order nobody may put into a bot's memory, and those that do not."""

from __future__ import annotations

import re

from pipimem import resources
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import agrees, has_voice, injection_kind

from tests.cases import each, table

LINES = [
    (name, kind, line)
    for name in ("attacks", "voices", "copies")
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
    find = pattern.match if name == "copies" else pattern.search
    assert find(example)
    assert counter_example
    assert not find(counter_example)
    assert name != "attacks" or injection_kind(example) == kind
    assert name != "voices" or has_voice(kind, example)  # type: ignore[arg-type]
    assert name != "copies" or taken_apart(f"see\n{example}").own == "see"
    assert name != "copies" or taken_apart(f"see\n{counter_example}").own != "see"


@each(
    ("text", "kind"),
    table(__file__, "kinds"),
)
def test_kinds(text: str, kind: str) -> None:
    """Plain, encoded, spaced and traditional; what people wish of each other is none."""
    assert injection_kind(text) == kind


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
