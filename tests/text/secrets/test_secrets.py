"""Secrets are taken out of every text, and ordinary talk is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.secrets import Secret, redacted, secrets

from tests.cases import each

# Keys of providers stand in the file in pieces, so that no scanner of repositories takes them for
# real ones.
CASES = [
    {**case, "text": "".join(case["text"])}
    for line in (Path(__file__).parents[1] / "cases" / "secrets.jsonl")
    .read_text("utf-8")
    .splitlines()
    for case in [json.loads(line)]
]
POSITIVE = [case for case in CASES if case["secret"]]
NEGATIVE = [case["text"] for case in CASES if not case["secret"]]


@each("case", POSITIVE)
def test_a_secret_is_found_and_named(case):
    """Each positive case holds one secret of the kind it names, and what should go is gone."""
    found = secrets(case["text"])
    assert case["secret"] in [finding.kind for finding in found]
    if "gone" in case:
        assert [case["text"][finding.start : finding.end] for finding in found] == [case["gone"]]
    assert f"[secret:{case['secret']}]" in redacted(case["text"])


@each("text", NEGATIVE)
def test_ordinary_talk_is_left_alone(text):
    """Talk about passwords, placeholders, hashes, versions and numbers is no secret."""
    assert redacted(text) == text


def test_only_the_password_of_an_address_goes():
    """The rest of a connection string stays readable."""
    assert (
        redacted("use postgres://bob:s3cr3t@db:5432/x now")
        == "use postgres://bob:[secret:url-password]@db:5432/x now"
    )


def test_several_secrets_in_one_text():
    """Each is replaced where it stands; the words around stay."""
    text = "密码是 abc123，验证码 482913，see you"
    assert redacted(text) == "密码是 [secret:password]，验证码 [secret:code]，see you"
    assert secrets(text) == (Secret("password", 4, 10), Secret("code", 15, 21))


def test_a_long_value_goes_to_its_end():
    """A value longer than one look leaves no tail behind."""
    assert redacted("token=" + "a1B2" * 500 + " end") == "token=[secret:key] end"


PIECES = (
    "password|密码|is |是|: |=|hunter2|abc123| |token"
    "|sk-|a1b2c3d4e5f6g7h8i9j0|\n|\"|'|「|[secret:key]|[secret: |]"
    "|://|@|eyJhbGciOi|.|6222021234567890128|验证码|482913|&|pass"
    "|Bearer |-----BEGIN PRIVATE KEY-----"
    "|QUJDREVGR0hJSktMTU5P|-|/|secret|my |to |用|creds a/b1"
)
PARTS = st.lists(st.sampled_from(PIECES.split("|")), max_size=14).map("".join)


@pytest.mark.slow
@given(PARTS | st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text):
    """`redacted` is idempotent, whatever the text."""
    once = redacted(text)
    assert redacted(once) == once
    assert secrets(once) == ()


@given(PARTS)
def test_findings_are_in_order_and_apart(text):
    """Places are inside the text, sorted, and never overlap."""
    ends = [0]
    for finding in secrets(text):
        assert ends[-1] <= finding.start < finding.end <= len(text)
        ends.append(finding.end)


def test_invisible_characters_hide_no_secret():
    """A blank of no width inside the word or the value; every character beside the secret stays."""
    assert redacted("pass\u200bword: hunt\u00ader2") == "pass\u200bword: [secret:password]"
    assert (
        redacted("family: 👨\u200d👩\u200d👧, soft\u00adhyphen")
        == "family: 👨\u200d👩\u200d👧, soft\u00adhyphen"
    )


def test_a_message_that_is_nothing_but_a_keypads_code_is_one():
    """It answers a question for what opens a door; a number of an issue has its sign in front."""
    for text in ("4471#", " 90217* ", "4471#。"):
        assert "[secret:password]" in redacted(text)
    for text in ("#4471", "4471", "0000#", "room 4471#"):
        assert redacted(text) == text
