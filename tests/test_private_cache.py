"""Texts that are made once and kept where nobody else can write."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pipimem.private_cache import cached


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pipimem"


def counted(text: str) -> tuple[Callable[[], str], list[str]]:
    """Something that makes a text, and how often it did."""
    made: list[str] = []

    def make() -> str:
        made.append(text)
        return text

    return make, made


def test_a_text_is_made_once_for_each_stamp(folder: Path) -> None:
    """The file and its folder are the user's alone."""
    make, made = counted("猫 cat\n")
    assert [cached("words", "a", make) for _ in range(3)] == ["猫 cat\n"] * 3
    assert len(made) == 1
    cached("words", "b", make)
    assert len(made) == 2
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "words-a").stat().st_mode & 0o777 == 0o600


def _damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _open_to_others(path: Path) -> None:
    path.chmod(0o666)


def _folder_open_to_others(path: Path) -> None:
    path.parent.chmod(0o777)


def _a_link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil", [_damaged, _open_to_others, _folder_open_to_others, _a_link, _a_folder]
)
def test_what_others_may_have_written_is_not_believed(
    folder: Path, spoil: Callable[[Path], None]
) -> None:
    """It is made anew."""
    make, made = counted("cat")
    cached("words", "a", make)
    spoil(folder / "words-a")
    assert cached("words", "a", make) == "cat"
    assert len(made) == 2


def test_where_nothing_can_be_kept_each_process_makes_it(folder: Path) -> None:
    """A file stands where the folder should be."""
    folder.parent.mkdir()
    folder.write_text("in the way")
    make, made = counted("cat")
    assert [cached("words", "a", make) for _ in range(2)] == ["cat", "cat"]
    assert len(made) == 2


def test_processes_that_race_all_get_the_whole_text(folder: Path) -> None:
    """Each puts its own in place at once; nothing else is left behind."""
    code = "from pipimem.private_cache import cached; print(len(cached('words', 'a', lambda: 'x' * 3_000_000)))"
    racing = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [one.communicate()[0].strip() for one in racing] == ["3000000"] * 4
    assert [path.name for path in folder.iterdir()] == ["words-a"]


def test_of_many_versions_the_newest_are_kept(folder: Path) -> None:
    """Somebody who works on the texts does not fill the disk."""
    for number in range(12):
        cached("words", str(number), lambda: "cat")
    cached("others", "a", lambda: "cat")
    assert len([*folder.glob("words-*")]) == 8
    assert (folder / "words-11").exists()
    assert (folder / "others-a").exists()
