"""Each rule of data/secrets stands with an example that it masks and one that it leaves alone."""

from __future__ import annotations

from pipimem import resources
from pipimem.text.secrets import FILES, holds_mark, kinds, mark, redacted, secrets
from pipimem.text.word_lists import hinted

from tests.cases import each

RULES = (*FILES, "secrets/key_shapes")
LINES = [
    (name, kind, line[0], line[2:].replace("\\n", "\n").replace("¦", ""))
    for name in RULES
    for kind, lines in resources.sections(name).items()
    for line in lines
    if line[:2] in ("✓ ", "✗ ")
]
GOOD = [
    (kind.partition(":")[0].replace("account", "password"), text)
    for _, kind, sign, text in LINES
    if sign == "✓"
]
BAD = [text for _, _, sign, text in LINES if sign == "✗"]
KEY = b"the key of a channel"


@each("name", RULES)
def test_every_kind_has_an_example_and_a_counter_example(name: str) -> None:
    """Who mends a rule reads what it is for, and what it must not take."""
    signs = {(kind, sign) for place, kind, sign, _ in LINES if place == name}
    wanted = {(rule.kind, sign) for rule in hinted(name) for sign in "✓✗"}
    assert wanted - signs == set()


@each(("kind", "text"), GOOD)
def test_an_example_is_masked_whole(kind: str, text: str) -> None:
    """What stands between « and » goes, and is called by its kind."""
    before, _, rest = text.partition("«")
    secret, _, after = rest.partition("»")
    plain = before + secret + after
    spans = {(one.start, one.end) for one in secrets(plain)}
    assert any(start <= len(before) and end >= len(before) + len(secret) for start, end in spans), (
        plain
    )
    assert kind in [one.kind for one in secrets(plain)]


@each("text", BAD)
def test_a_counter_example_is_left_alone(text: str) -> None:
    """Prefixes, placeholders and names that look like it."""
    assert redacted(text) == text


def test_a_long_secret_is_known_again_by_its_mark() -> None:
    """The same value has the same tag under one key, another under another, and none without."""
    token = "ghp_" + "JBd0Kh8oOOL8dKLzdocJ2isAjIhKtJ0RlgLK"
    once, again = redacted(f"a {token}", KEY), redacted(f"b {token}", KEY)
    assert once[2:] == again[2:]
    assert once[2:].startswith("[secret:github-token:")
    assert redacted(f"a {token}", b"another key")[2:] != once[2:]
    assert redacted(f"a {token}") == "a [secret:github-token]"
    assert redacted(once, KEY) == once


def test_what_can_be_guessed_has_no_tag() -> None:
    """Under the key, which lies in the same folder, a tag would tell a code of six digits."""
    assert redacted("the code: my pin is 4821", KEY) == "the code: my pin is [secret:code]"
    assert mark("password", "hunter2", KEY) == "[secret:password]"


def test_only_known_kinds_are_marks() -> None:
    """What somebody types between the brackets hides nothing; marks of 0.2 are still marks."""
    assert holds_mark("[secret: openai key]")
    assert holds_mark("[secret:github-token:4f1c]")
    assert not holds_mark("[secret: my password is]")
    assert redacted("[secret: the password is hunter2x]") != "[secret: the password is hunter2x]"
    assert {"password", "github-token", "card-number", "hidden"} <= kinds()
