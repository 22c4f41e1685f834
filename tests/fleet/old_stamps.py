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
    """While this lasts, whoever asks for a file below `root` by its name is shown an old status.

    It is the status of when the file was last opened by its name, or else of the first question.
    """
    shown: dict[str, os.stat_result] = {}
    real: Callable[..., os.stat_result] = os.stat
    really_open: Callable[..., int] = os.open

    def stat(path: Any, **options: Any) -> os.stat_result:
        if isinstance(path, int) or not os.fspath(path).startswith(os.fspath(root)):
            return real(path, **options)
        if os.fspath(path) not in shown:
            shown[os.fspath(path)] = real(path, **options)
        return shown[os.fspath(path)]

    def opened(path: Any, *flags: Any, **options: Any) -> int:
        shown.pop(os.fspath(path), None)
        return really_open(path, *flags, **options)

    with patch("os.stat", stat), patch("os.open", opened):
        yield
