"""Absent is what the system calls absent; a disk that cannot be read is not an empty one."""

from __future__ import annotations

import ast
import errno
import os
from pathlib import Path
from typing import Any

import pipimem.store
import pytest
from pipimem.store.disk.presence import exists, is_file, is_folder, is_link

_ASKED = (exists, is_file, is_folder, is_link)


def _answers(path: Path) -> tuple[bool, ...]:
    return tuple(ask(path) for ask in _ASKED)


def test_what_lies_there_is_told(tmp_path: Path) -> None:
    """A file, a folder, links to both, and nothing in four ways."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name, target in [("to file", "file"), ("to folder", "folder"), ("to nothing", "gone")]:
        (tmp_path / name).symlink_to(tmp_path / target)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert {path.name: _answers(path) for path in sorted(tmp_path.iterdir())} == {
        "circle": (False, False, False, True),
        "file": (True, True, False, False),
        "folder": (True, False, True, False),
        "to file": (True, True, False, True),
        "to folder": (True, False, True, True),
        "to nothing": (False, False, False, True),
    }
    for name in ("gone", "file/below", "no\0name"):
        assert _answers(tmp_path / name) == (False, False, False, False)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENAMETOOLONG, errno.ESTALE])
def test_what_cannot_be_told_is_an_error(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every Python: taken for absent, a log would be begun anew over the one that is there."""

    def refused(*arguments: Any, **options: Any) -> os.stat_result:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "stat", refused)
    for ask in _ASKED:
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            ask(tmp_path)
        assert caught.value.errno == number


def test_the_store_asks_here_alone() -> None:
    """`Path.exists` and its like say no to every error since Python 3.14."""
    of_pathlib = {"exists", "is_dir", "is_file", "is_symlink"}
    calls = [
        f"{path.name}:{node.lineno}"
        for path in Path(pipimem.store.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in of_pathlib
        and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id in ("presence", "entry")
        )
    ]
    assert calls == []
