"""A file system that shows the attributes of a file as they were, as NFS does between two openings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def old_stamps(root: Path) -> Iterator[None]:
    """While this lasts, whoever asks for a file below `root` by its name is shown its first status.

    An open file shows its own. That is worse than NFS, which shows a new status by name, too, once
    the file was opened.
    """
    shown: dict[str, os.stat_result] = {}
    real: Callable[..., os.stat_result] = os.stat

    def stat(path: Any, **options: Any) -> os.stat_result:
        if isinstance(path, int) or not os.fspath(path).startswith(os.fspath(root)):
            return real(path, **options)
        if os.fspath(path) not in shown:
            shown[os.fspath(path)] = real(path, **options)
        return shown[os.fspath(path)]

    with patch("os.stat", stat):
        yield
