"""What one message, card or frame fails at is logged, and the bot goes on with the next."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("pipimem.dingtalk")


@contextmanager
def log_failure(text: str) -> Iterator[None]:
    """Log what the block raises, with its traceback, and go on behind the block."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - no bug of ours, nor of a library, ends the bot
        _log.error("%s: %s", text, type(error).__name__, exc_info=error)
