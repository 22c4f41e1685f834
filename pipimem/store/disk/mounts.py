"""What kind of file system a folder lies on, as far as the system tells."""

from __future__ import annotations

import re
from pathlib import Path

_NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre",
    "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.davfs",
})  # fmt: skip
MOUNTS = Path("/proc/self/mountinfo")
# The fifth field is the mount point, blanks in it written in octal; the type follows the hyphen.
_MOUNT = re.compile(r"(?:\S+ ){4}(\S+) .*? - (\S+) ")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_type(folder: Path, mounts: Path = MOUNTS) -> str:
    """Returns the type of the network file system a folder lies on.

    Returns "" for a local one, and where the system does not tell.
    """
    kind = file_system(folder, mounts)
    return kind if kind in _NETWORK else ""


def file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """Returns the type of the file system a folder lies on: that of the innermost mount above it.

    Returns "" where the system has no list of mounts at `mounts`.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return ""
    place, depth, kind = folder.resolve(), -1, ""
    for found in filter(None, map(_MOUNT.match, lines)):
        point = Path(_ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), found[1]))
        if place.is_relative_to(point) and len(point.parts) >= depth:
            depth, kind = len(point.parts), found[2]
    return kind
