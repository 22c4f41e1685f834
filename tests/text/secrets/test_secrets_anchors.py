"""Each format, context and word of data/secrets is masked, and what only looks like it is not."""

from __future__ import annotations

import random
import re
from pathlib import Path

from pipimem import resources
from pipimem.text.secrets import holds_mark, kinds, mark, redacted, secrets
from pipimem.text.secrets.anchors import cues
from pipimem.text.secrets.keys import ALPHABETS

from tests.cases import each

FORMATS = [
    (kind, line) for kind, lines in resources.sections("secrets/kinds").items() for line in lines
]
CONTEXTS = [
    (kind, line)
    for kind, lines in resources.sections("secrets/contexts").items()
    for line in lines
    if line[:2] in ("✓ ", "✗ ")
]
SAID = [
    ("", line)
    for line in (Path(__file__).parent / "cases" / "said.txt").read_text("utf-8").splitlines()
    if line[:2] in ("✓ ", "✗ ")
]
EXAMPLES = [
    (sign, kind, line[2:].replace("\\n", "\n").replace("¦", ""))
    for kind, line in (*CONTEXTS, *SAID)
    for sign in line[0]
]
GOOD = [(kind, text) for sign, kind, text in EXAMPLES if sign == "✓"]
BAD = [text for sign, _, text in EXAMPLES if sign == "✗"]
PART = re.compile(r"\{(\w):(\d+)(-?)(\d*)\}")
LONGER = 20  # characters of a key more than the least, where its length is open
KEY = b"the key of a channel"


def drawn(template: str, draw: random.Random) -> str:
    """Return a key of a format."""

    def part(found: re.Match[str]) -> str:
        signs = [
            chr(code) for code in range(33, 127) if re.match(f"[{ALPHABETS[found[1]]}]", chr(code))
        ]
        length = int(found[2]) + (LONGER if found[3] and not found[4] else 0)
        return "".join(draw.choice(signs) for _ in range(length))

    return PART.sub(part, template)


@each(("kind", "template"), FORMATS)
def test_a_key_of_each_format_is_masked(kind: str, template: str) -> None:
    """Random keys go, under the name of their kind; the text before the random part stays."""
    draw = random.Random(template)
    for _ in range(3):
        key = drawn(template, draw)
        before, _, rest = key.partition("«")
        secret, _, after = rest.partition("»")
        plain = f"here it is: {before}{secret}{after} thanks"
        places = [plain[place.start : place.end] for place in secrets(plain)]
        assert any((secret or before) in place for place in places), plain
        assert kind in [place.kind for place in secrets(plain)]


@each("template", [template for _, template in FORMATS if template[0] not in "{$"])
def test_the_prefix_of_a_format_is_no_key(template: str) -> None:
    """People talk about prefixes."""
    prefix = template.split("{")[0].replace("«", "")
    assert redacted(f"they begin with {prefix} as the manual says") == (
        f"they begin with {prefix} as the manual says"
    )


@each("kind", sorted(resources.sections("secrets/contexts")))
def test_every_context_has_an_example(kind: str) -> None:
    """Who mends a context reads what it is for."""
    assert any(name == kind and line[0] == "✓" for name, line in CONTEXTS)


@each(("kind", "text"), GOOD)
def test_an_example_is_masked_whole(kind: str, text: str) -> None:
    """What stands between « and » goes, and is called by its kind."""
    before, _, rest = text.partition("«")
    secret, _, after = rest.partition("»")
    plain = before + secret + after
    found = secrets(plain)
    end = len(before) + len(secret)
    assert any(place.start <= len(before) and place.end >= end for place in found), plain
    assert not kind or kind in [place.kind for place in found]


@each("text", BAD)
def test_a_counter_example_is_left_alone(text: str) -> None:
    """Placeholders, names and mere talk."""
    assert redacted(text) == text


def test_no_word_is_there_twice() -> None:
    """Two kinds for a word would be a riddle."""
    words = [word for word, _ in cues()]
    assert [word for word in words if words.count(word) > 1] == []


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
