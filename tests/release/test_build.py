"""Wheel and sdist are the same bytes wherever and whenever they are built."""

from __future__ import annotations

import os
import tarfile
import zipfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from tests.release.conftest import Built, built, copied

# 2026-11-23 00:00:00 UTC; an even second, since a zip has no others.
_EPOCH = 1_795_392_000


def digest(file: Path) -> str:
    """What is compared: pytest would take minutes to tell two files of megabytes apart."""
    return sha256(file.read_bytes()).hexdigest()


def test_another_place_time_and_user_build_the_same_bytes(here: Built, tmp_path: Path) -> None:
    """Another folder, other times and modes of the files, another hash seed, zone and language."""
    tree = copied(tmp_path / "some where" / "else")
    for path in tree.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        # Whether a file can be run is kept by git; who may read it is not.
        path.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
    there = built(tree, PYTHONHASHSEED="2", TZ="Asia/Shanghai", LC_ALL="C", HOME=str(tmp_path))
    assert there.wheel.name == here.wheel.name
    assert digest(there.wheel) == digest(here.wheel)
    assert there.sdist.name == here.sdist.name
    assert digest(there.sdist) == digest(here.sdist)


def test_the_wheel_of_the_sdist_is_that_of_the_checkout(here: Built, tmp_path: Path) -> None:
    """Who builds from the published source gets what is published; both say `SOURCE_DATE_EPOCH`."""
    with tarfile.open(here.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    of_sdist = built(unpacked, SOURCE_DATE_EPOCH=str(_EPOCH))
    of_checkout = built(copied(tmp_path / "checkout"), SOURCE_DATE_EPOCH=str(_EPOCH))
    assert digest(of_sdist.wheel) == digest(of_checkout.wheel)
    assert digest(of_sdist.wheel) != digest(here.wheel)
    moment = datetime.fromtimestamp(_EPOCH, UTC)
    with zipfile.ZipFile(of_sdist.wheel) as archive:
        assert {item.date_time for item in archive.infolist()} == {moment.timetuple()[:6]}
    with tarfile.open(of_sdist.sdist) as archive:
        assert {member.mtime for member in archive} == {_EPOCH}


def test_the_wheel_has_all_that_it_reads_and_nothing_else(here: Built) -> None:
    """Code, data, prompts and template, types and licence; no tests, no compiled Python."""
    with zipfile.ZipFile(here.wheel) as archive:
        names = archive.namelist()
    assert {
        "pipimem/py.typed",
        "pipimem/data/synonyms/compiled",
        "pipimem/_assets/workspace-template/pipimem.toml",
        "pipimem-0.3.0.dist-info/licenses/LICENSE",
    } <= set(names)
    assert {name.split("/")[0] for name in names} == {"pipimem", "pipimem-0.3.0.dist-info"}
    assert [name for name in names if "__pycache__" in name or "/tests/" in name] == []
