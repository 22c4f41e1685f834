"""A link leads neither out of the workspace nor into another channel's folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import UnreadableNote
from pipimem.store.disk.files import astray, leads_to_another_channel, real_path, resolved

from tests.cases import table


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("alice", "bob"):
        (tmp_path / "bot" / "channels" / name).mkdir(parents=True)
        (tmp_path / "bot" / "channels" / name / "MEMORY.md").write_text(f"{name}'s own")
    (tmp_path / "bot" / "shared.md").write_text("for all")
    return tmp_path / "bot"


@pytest.mark.parametrize(
    ("link", "target", "place"),
    table(__file__, "a_link_leads_nowhere_it_may_not"),
)
def test_a_link_leads_nowhere_it_may_not(root: Path, link: str, target: str, place: str) -> None:
    """To the own folder and to what is shared it may; the workspace's file is no channel's."""
    path = root / link
    path.symlink_to((root / target).resolve())
    assert astray(path, path.resolve(), root).startswith(place)
    if place:
        with pytest.raises(UnreadableNote, match=place):
            resolved(path, root)
    else:
        assert resolved(path, root) == (root / target).resolve()
    assert leads_to_another_channel(path, path.resolve(), root) is ("channel" in place)


def test_a_chain_of_links_is_followed_to_its_end(root: Path) -> None:
    """Neither a link in between nor one in the path to the workspace hides where it leads."""
    (root / "middle.md").symlink_to(root / "channels/bob/MEMORY.md")
    (root / "channels/alice/x.md").symlink_to(root / "middle.md")
    other = root.with_name("other name")
    other.symlink_to(root)
    for each in (root, other):
        with pytest.raises(UnreadableNote, match="another channel"):
            resolved(each / "channels/alice/x.md", each)


def test_links_in_a_circle_are_told(root: Path) -> None:
    """On every Python: the link itself, a pair of them, and what would lie behind one.

    A link to what is not there is none: it has a place.
    """
    (root / "itself").symlink_to(root / "itself")
    (root / "there").symlink_to(root / "back")
    (root / "back").symlink_to(root / "there")
    for name in ("itself", "there", "itself/MEMORY.md"):
        with pytest.raises(UnreadableNote, match="leads back to itself"):
            real_path(root / name)
    (root / "nowhere").symlink_to(root / "not there.md")
    assert real_path(root / "nowhere") == root / "not there.md"
