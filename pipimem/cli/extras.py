"""Imports that need an extra of pipimem: where it is not installed, a sentence says which."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from pipimem.cli.output import Failed


@contextmanager
def needing_extra(extra: str, libraries: Collection[str], why: str) -> Iterator[None]:
    """Raises `Failed` with `why` and what to install where an import inside lacks a library.

    What lacks another module is a fault of ours, and raised as it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in libraries:
            raise
        raise Failed(f"{why}: pip install 'pipimem[{extra}]'") from error
