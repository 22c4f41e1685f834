"""What kind of file system a folder lies on, as far as the system tells."""

from __future__ import annotations

import re
from pathlib import Path

_NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.glusterfs",
    "fuse.s3fs", "fuse.rclone", "fuse.davfs",
})  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\(\d{3})")


def network_type(folder: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the network file system a folder lies on, empty for a local one and where nobody tells."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return ""
    place, best, kind = folder.resolve(), -1, ""
    for line in lines:
        left, _, right = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), left.split(" ")[4]))
        if place.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ")[0]
    return kind if kind in _NETWORK else ""
