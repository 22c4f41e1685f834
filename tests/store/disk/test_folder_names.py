"""Folder names of channel ids."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pipimem.errors import ChannelError
from pipimem.store.disk.folder_names import folder_name

from tests.cases import each

ANY_ID = st.text(st.characters(exclude_categories=()), min_size=1, max_size=1000)


@each("name", ["team", "dm_42", "a.b-c", "0", "x" * 64])
def test_a_plain_id_is_its_own_folder(name: str) -> None:
    """Lower-case letters, digits, dot, underscore and hyphen up to 64 characters need no
    disguise.
    """
    assert folder_name(name) == name


@each(
    "name",
    [
        "..",
        ".",
        ".hidden",
        "dot.",
        "con",
        "nul.txt",
        "com1",
        "Team",
        "a/b",
        "a~b",
        "x" * 65,
        "a b",
        "é",
    ],
)
def test_anything_else_gets_a_hash(name: str) -> None:
    """Reserved, hidden, capital, long or foreign names are written as slug and hash."""
    assert "~" in folder_name(name)


def test_the_slug_stays_readable() -> None:
    """People find a channel by its folder; Chinese characters stay."""
    assert folder_name("cid6KeBBLoveM/AZ==").startswith("cid6kebblovem-az~")
    assert folder_name("上线 讨论群 🚀").startswith("上线-讨论群~")
    assert folder_name("🚀").startswith("channel~")


@each("channel_id", [None, 5, b"room", ("room",)])
def test_an_id_that_is_no_text_is_refused(channel_id: object) -> None:
    """Platforms number their rooms, and hosts hand the number on."""
    with pytest.raises(ChannelError, match="A channel id is a text"):
        folder_name(channel_id)  # type: ignore[arg-type]


def test_an_empty_id_is_refused() -> None:
    """There is no conversation without an id."""
    with pytest.raises(ChannelError, match="empty"):
        folder_name("")


@given(ANY_ID)
def test_a_folder_name_is_safe_everywhere(name: str) -> None:
    """One path part, short, in normal form, no dot in front, whatever the platform's id is."""
    folder = folder_name(name)
    assert not set(folder) & set('/\\:*?"<>|\0')
    assert not folder.startswith((".", "~"))
    assert not folder.endswith((".", " "))
    assert len(folder.encode()) <= 255
    assert unicodedata.normalize("NFC", folder) == folder


@given(ANY_ID, ANY_ID)
def test_two_ids_never_share_a_folder(one: str, other: str) -> None:
    """Also where the file system folds case or composes characters."""
    assume(one != other)
    folded = [unicodedata.normalize("NFKC", folder_name(name)).casefold() for name in (one, other)]
    assert folded[0] != folded[1]


@given(ANY_ID)
def test_case_alone_makes_another_folder(name: str) -> None:
    """DingTalk's ids differ in case only."""
    assume(name.lower() != name)
    assert folder_name(name).casefold() != folder_name(name.lower()).casefold()
