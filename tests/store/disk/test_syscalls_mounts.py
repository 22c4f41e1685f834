"""A network file system is recognised by what the system says of its mounts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.store.disk.syscalls import network_type

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:35 / /mnt/share rw,relatime shared:2 - nfs4 host:/export rw,local_lock=none
41 40 0:36 / /mnt/share/local rw,relatime - xfs /dev/sdb1 rw
42 22 0:37 / /mnt/my\\040files rw - cifs //host/files rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/mnt/share/bot", "nfs4"),
        ("/mnt/share/local/bot", ""),
        ("/mnt/shared", ""),
        ("/mnt/my files/bot", "cifs"),
        ("/", ""),
    ],
)
def test_the_innermost_mount_counts(tmp_path: Path, folder: str, kind: str) -> None:
    """By whole names of folders, blanks and all."""
    (tmp_path / "mountinfo").write_text(MOUNTS)
    assert network_type(Path(folder), tmp_path / "mountinfo") == kind


def test_where_nobody_tells_nothing_is_said(tmp_path: Path) -> None:
    """macOS has no such file."""
    assert network_type(tmp_path, tmp_path / "absent") == ""
