"""What a workspace masks besides: phone numbers by a setting, its own words and patterns."""

from __future__ import annotations

from pipimem import resources
from pipimem.settings import SecretSettings
from pipimem.text.secrets import kinds, places_of_list, redacted
from pipimem.text.word_lists import hinted

from tests.cases import each, table

PHONES = SecretSettings(phone_numbers=True)
EXAMPLES = [
    line
    for lines in resources.sections("secrets/phone_numbers").values()
    for line in lines
    if line[:2] in ("✓ ", "✗ ")
]


@each("line", EXAMPLES)
def test_phone_numbers_are_masked_where_that_is_set(line: str) -> None:
    """What stands between « and » goes, other numbers stay; without the setting all of it stays."""
    before, _, rest = line[2:].partition("«")
    number, _, after = rest.partition("»")
    text = before + number + after
    masked = f"{before}[secret:phone-number]{after}" if number else text
    assert redacted(text, own=PHONES) == masked
    assert redacted(text) == text


def test_every_form_of_a_phone_number_has_an_example() -> None:
    """No rule stands there that nothing tries."""
    numbers = [line.partition("«")[2].partition("»")[0] for line in EXAMPLES if line[0] == "✓"]
    for rule in hinted("secrets/phone_numbers"):
        assert any(rule.pattern().fullmatch(number) for number in numbers), rule.pattern.source


@each(
    ("text", "masked"),
    table(__file__, "a_workspaces_own_words_and_patterns_are_masked"),
)
def test_a_workspaces_own_words_and_patterns_are_masked(text: str, masked: str) -> None:
    """Words in any case as whole words, in Chinese anywhere, and never as an expression."""
    own = SecretSettings(
        words=("Project Falcon", "猎鹰", "C++ (draft)", " "), patterns=(r"EMP-\d{6}",)
    )
    assert redacted(text, own=own) == masked
    assert redacted(masked, own=own) == masked


def test_marks_are_no_text_for_the_list() -> None:
    """A word of a mark stays, and a secret that holds a word goes as what it is."""
    own = SecretSettings(words=("secret", "password", "hunter"))
    masked = "the [secret:listed] is [secret:password]"
    assert redacted("the password is hunter-2x", own=own) == masked
    assert redacted(masked, own=own) == masked


def test_a_pattern_that_only_looks_masks_nothing() -> None:
    """An empty match has no place in a text."""
    own = SecretSettings(patterns=(r"(?<=x)",))
    assert list(places_of_list("axb", own)) == []


def test_the_kinds_are_known_to_marks() -> None:
    """Else the mark of one would be masked again, and learnt from."""
    assert {"phone-number", "listed"} <= kinds()
