"""The token is long enough, is read from where nobody else reads, and is shown nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import SettingsError
from pipimem.serving.access import Token, token_from

from tests.cases import each

GOOD = "0123456789abcdef-Ab~"
NAME = "A_TOKEN"


def _file(tmp_path: Path, text: str, mode: int) -> Path:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_file_goes_before_the_variable(tmp_path: Path) -> None:
    """What is said on the command line is meant."""
    file = _file(tmp_path, f"{GOOD}\n", 0o600)
    assert token_from(file, {NAME: "another-token-of-20c"}, NAME) == Token(GOOD)
    assert token_from(None, {NAME: f" {GOOD} "}, NAME) == Token(GOOD)


def test_without_either_one_is_made() -> None:
    """Another one at each start."""
    first, second = token_from(None, {NAME: ""}, NAME), token_from(None, {}, NAME)
    assert first.is_generated
    assert first.value != second.value
    assert len(first.value) >= 43


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_read_is_refused(tmp_path: Path, mode: int) -> None:
    """The sentence says how to put it right, and does not say the token."""
    file = _file(tmp_path, GOOD, mode)
    with pytest.raises(SettingsError, match="chmod 600") as refused:
        token_from(file, {}, NAME)
    assert GOOD not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["short", "with a blank in its middle", "密码密码密码密码密码密码密码密码", "\n"]
)
def test_a_token_that_cannot_be_one_is_refused(tmp_path: Path, text: str) -> None:
    """It could be tried out, or does not go into a header."""
    with pytest.raises(SettingsError, match="16 characters or more") as refused:
        token_from(_file(tmp_path, text, 0o600), {}, NAME)
    assert text.strip() == "" or text not in str(refused.value)


@each(
    ("header", "fits"),
    [
        (f"Bearer {GOOD}", True),
        (f"bearer {GOOD}", True),
        (f"Bearer  {GOOD}", True),
        (f"Basic {GOOD}", False),
        (GOOD, False),
        (f"Bearer {GOOD}x", False),
        (f"Bearer {GOOD[:-1]}", False),
        ("Bearer ", False),
        ("", False),
        ("Bearer \xff", False),
    ],
)
def test_only_this_token_fits(header: str, fits: bool) -> None:
    """Under the scheme that the protocol has."""
    assert Token(GOOD).matches(header.encode("latin-1")) is fits


def test_its_repr_does_not_show_it() -> None:
    """A log that shows an object shows no token."""
    assert GOOD not in repr(Token(GOOD))
