"""Whether something lies at a path: absent is what the system calls absent, and no other failure.

`pathlib` answers "no" for every error since Python 3.14: a disk that cannot be read would look
like an empty one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

# There is no such name, something on the way is no folder, or a link leads back to itself.
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def exists(path: Path) -> bool:
    """Whether something is there, behind links too. Raises `OSError` where that cannot be told."""
    return _mode(path) != 0


def is_folder(path: Path) -> bool:
    """Whether a folder is there, behind links too. Raises `OSError` where that cannot be told."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Whether a regular file is there, behind links too. Raises `OSError` if that is unknown."""
    return stat.S_ISREG(_mode(path))


def is_link(path: Path) -> bool:
    """Whether the path itself is a link. Raises `OSError` where that cannot be told."""
    return stat.S_ISLNK(_mode(path, follows=False))


def _mode(path: Path, *, follows: bool = True) -> int:
    """The mode of what lies there, 0 for nothing."""
    try:
        return path.stat(follow_symlinks=follows).st_mode
    except OSError as error:
        if error.errno not in _ABSENT:
            raise
    except ValueError:  # no name that a file can have
        pass
    return 0


def first_unused(paths: Iterable[Path]) -> Path:
    """The first of some paths at which nothing lies, not even a link that leads nowhere."""
    return next(path for path in paths if not os.path.lexists(path))
