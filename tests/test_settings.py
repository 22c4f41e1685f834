"""What pipimem.toml may say: the template tells the truth, and a slip is answered with what to
write instead.
"""

from __future__ import annotations

import re

import pytest
from pipimem import resources
from pipimem.errors import SettingsError
from pipimem.settings import ModelSettings, Settings, settings_from

from tests.cases import each, table

TEMPLATES = [dict(resources.template(it))["pipimem.toml"].decode() for it in ("en", "zh")]


@each("template", TEMPLATES)
def test_the_template_says_the_defaults(template: str) -> None:
    """Every key of the template is known, and with the # taken away nothing changes."""
    assert settings_from(template) == Settings()
    assert (
        settings_from(re.sub(r"^# (?=\[|\w+ = )", "", template, flags=re.MULTILINE)) == Settings()
    )


@each("template", TEMPLATES)
def test_the_template_names_every_key(template: str) -> None:
    """A setting that people cannot find is none."""
    named = re.findall(r"^# (\w+) = ", template, flags=re.MULTILINE)
    assert sorted(named) == sorted(
        key for part in Settings.__slots__ for key in getattr(Settings(), part).__slots__
    )


def test_what_is_written_holds() -> None:
    """A whole number will do for seconds."""
    assert settings_from('[model]\nname = "gpt"\nfold_timeout = 5') == Settings(
        ModelSettings("gpt", fold_timeout=5.0)
    )


@each(
    ("toml", "said"),
    table(__file__, "a_slip_is_answered_with_what_to_write"),
)
def test_a_slip_is_answered_with_what_to_write(toml: str, said: str) -> None:
    """The message names the place, what it takes, and the nearest known name."""
    with pytest.raises(SettingsError, match=re.escape(said)):
        settings_from(toml)


def test_a_key_under_the_wrong_heading_is_told_where_it_belongs() -> None:
    """TOML puts a key under the last heading above it; people forget."""
    with pytest.raises(SettingsError, match=r"unknown key 'inject'; it belongs under \[recall\]"):
        settings_from("[maintenance]\ninject = 3\n")


@each(
    ("given", "meant"),
    [
        ("two_voices = true", "two"),
        ("two_voices = false", "anyone"),
        ('two_voices = "newcomers"', "two"),
        ('two_voices = "everyone"', "two"),
        ('two_voices = "nobody"', "anyone"),
        ('rules = "two"', "two"),
        ("", "anyone"),
    ],
)
def test_the_key_of_an_earlier_version_is_read_as_the_word_for_it(given: str, meant: str) -> None:
    """It said whose rules wait for another member; another word is refused."""
    assert settings_from(f"[groups]\n{given}").groups.rules == meant
    with pytest.raises(SettingsError, match="two_voices is replaced by rules: write anyone or two"):
        settings_from('[groups]\ntwo_voices = "true"')
