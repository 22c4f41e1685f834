"""The prepared dictionary is believed only when it is ours and whole, and is never needed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from pipimem.text import dictionary
from pipimem.text.dictionary import CACHE_NAME, Dictionary, opened


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sound cache file."""
    folder = tmp_path_factory.mktemp("built")
    opened(folder)
    return (folder / CACHE_NAME).read_bytes()


@pytest.fixture
def cached(tmp_path: Path, built: bytes) -> Path:
    """A sound cache file in a private folder of its own."""
    path = tmp_path / "cache" / CACHE_NAME
    path.parent.mkdir(mode=0o700)
    path.write_bytes(built)
    path.chmod(0o600)
    return path


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, built: bytes) -> list[int]:
    """One item for every time the dictionary was built; the second that takes is saved."""
    count: list[int] = []

    def quickly(_sources: object) -> bytes:
        count.append(1)
        return built

    monkeypatch.setattr(dictionary, "_built", quickly)
    return count


def sound(found: Dictionary) -> bool:
    """Whether it is jieba 0.42.1's: its total, and one of its words."""
    shard = found.shard("窗")
    words = dict(zip(shard.words, shard.frequencies, strict=True)) if shard else {}
    return found.total == 60_101_967 and words.get("窗口") == "1174"


def test_it_is_built_once_in_a_private_place(tmp_path, builds):
    """The folder is ours alone, so is the file, no draft stays behind, and the next one reads it."""
    folder = tmp_path / "deep" / "cache"
    assert sound(opened(folder))
    assert sound(opened(folder))
    assert len(builds) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / CACHE_NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == [CACHE_NAME]


def test_a_prefix_has_the_frequency_zero(cached):
    """What only begins a word is marked, so that the search for longer words goes on."""
    shard = opened(cached.parent).shard("中")
    assert shard is not None
    assert dict(zip(shard.words, shard.frequencies, strict=True))["中华人"] == "0"


def test_a_character_nobody_knows_has_no_shard(cached):
    """Outside the dictionary there is nothing to load."""
    assert opened(cached.parent).shard("☃") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda sound: b"",
        lambda sound: sound[: len(sound) // 2],
        lambda sound: sound[:-3] + b"999",
        lambda sound: sound.replace(b"pipimem-words 1", b"pipimem-words 2", 1),
        lambda sound: b"\x80\x04\x95" + sound,
        lambda sound: b"pipimem-words 1\n1 2 3\n",
        lambda sound: b"\n" * 50,
    ],
    ids=["empty", "torn", "changed", "another version", "binary", "short stamp", "line breaks"],
)
def test_a_damaged_file_is_built_again(damage, cached, builds, built):
    """Whatever lies there, the result is right and the file is mended."""
    cached.write_bytes(damage(built))
    assert sound(opened(cached.parent))
    assert len(builds) == 1
    assert cached.read_bytes() == built


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o606])
def test_a_file_others_can_open_is_built_again(mode, cached, builds):
    """Somebody else may have written it, or learnt from it that we trust it."""
    cached.chmod(mode)
    assert sound(opened(cached.parent))
    assert len(builds) == 1
    assert cached.stat().st_mode & 0o777 == 0o600


def test_a_file_of_another_owner_is_built_again(cached, builds, monkeypatch):
    """A planted file is never read."""
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert sound(opened(cached.parent))
    assert len(builds) == 1


def test_a_link_is_not_followed(cached, builds, built, tmp_path):
    """A link in place of the file is replaced, and what it led to is left alone."""
    elsewhere = tmp_path / "elsewhere"
    cached.rename(elsewhere)
    cached.symlink_to(elsewhere)
    assert sound(opened(cached.parent))
    assert len(builds) == 1
    assert not cached.is_symlink()
    assert elsewhere.read_bytes() == built


def test_a_folder_others_can_write_is_not_used(cached, builds):
    """There the file may be exchanged at any time, so the work is done in memory."""
    cached.parent.chmod(0o777)
    before = cached.stat().st_ino
    assert sound(opened(cached.parent))
    assert len(builds) == 1
    assert cached.stat().st_ino == before


def test_a_place_that_cannot_be_written_is_no_error(tmp_path, builds):
    """Where a file stands in the way of the folder, the work is done in memory."""
    (tmp_path / "file").write_text("in the way")
    assert sound(opened(tmp_path / "file" / "cache"))
    assert (tmp_path / "file").read_text() == "in the way"


def test_data_of_another_age_but_the_same_content_is_believed(cached, builds, built):
    """Installed again, the same words need no new cache; other words do."""
    head, stamp, body = built.split(b"\n", 2)
    fields = stamp.split(b" ")
    cached.write_bytes(b"\n".join([head, b" ".join([*fields[:3], b"1", *fields[4:]]), body]))
    assert sound(opened(cached.parent))
    assert builds == []
    cached.write_bytes(b"\n".join([head, b" ".join([*fields[:3], b"1", b"0" * 64, *fields[5:]]), body]))
    assert sound(opened(cached.parent))
    assert len(builds) == 1


def test_the_shared_temp_folder_stays_clean(cached, monkeypatch, tmp_path):
    """jieba's own cache file is neither read nor written."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    assert sound(opened(cached.parent))
    assert list((tmp_path / "temp").iterdir()) == []


def test_without_a_folder_the_cache_is_the_users(tmp_path, builds, monkeypatch):
    """None means the folder the system gives to caches of this user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sound(opened(None))
    assert [path.name for path in tmp_path.rglob("*.txt")] == [CACHE_NAME]
