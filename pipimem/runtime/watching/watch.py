"""A watch on the channels' folder, or the reason why one would be no use."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from pipimem.runtime.watching.elsewhere import Elsewhere
from pipimem.runtime.watching.kernel import Kernel
from pipimem.runtime.watching.news import Ears, MakeEars, Tell

_MOUNTS = Path("/proc/self/mountinfo")
# File systems that others write to without this kernel hearing of it.
_DEAF = frozenset(
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "afs", "ceph", "glusterfs", "lustre", "prl_fs"]
)
# The fifth field is the mount point, blanks in it written in octal; the type follows the hyphen.
_MOUNT = re.compile(r"(?:\S+ ){4}(\S+) .*? - (\S+) ")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_EARS: MakeEars = Kernel if sys.platform == "linux" else Elsewhere


@dataclass(slots=True)
class Watch:
    """A watch on `channels/`; `tell` is called from a thread of its own."""

    channels: Path
    tell: Tell
    made: MakeEars = _EARS
    _ears: Ears | None = None

    def start(self) -> str:
        """Begin to watch; gives the reason where that is no use, empty where it is."""
        if reason := blind_on(self.channels):
            return self._refused(reason)
        ears = self.made(self.channels, self.tell)
        try:
            ears.start()
        except OSError as error:
            return self._refused(error.strerror or str(error))
        self._ears = ears
        return ""

    def stop(self) -> None:
        """End the watch; a watch that never began is ended already."""
        if self._ears is not None:
            self._ears.stop()
            self._ears = None

    def _refused(self, reason: str) -> str:
        return f"{self.channels} cannot be watched ({reason}); its files are compared every minute instead"


def blind_on(folder: Path, mounts: Path = _MOUNTS) -> str:
    """Why events of a folder would not be heard: the type of its file system; empty where they would."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux: there watchdog knows the system's own way
        return ""
    target, longest, kind = folder.resolve(), "", ""
    for line in lines:
        if (found := _MOUNT.match(line)) is None:
            continue
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), found[1])
        if target.is_relative_to(point) and len(point) >= len(longest):
            longest, kind = point, found[2]
    return f"{kind} tells nothing of what others write" if kind in _DEAF or kind.startswith("fuse.") else ""
