"""Opens the person's browser at an address with a token, which no list of processes shows."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """The browser is sent to `address` by a file that only this user reads, deleted at the end.

    On its command line, which every user of the machine can read, the address would show the token.
    """
    with tempfile.TemporaryDirectory(prefix="pipimem-ui-") as folder:
        page = Path(folder) / "open.html"
        page.touch(mode=0o600)
        target = escape(address, quote=True)
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0;url={target}"><title>pipimem</title>',
            encoding="utf-8",
        )
        webbrowser.open(page.as_uri())
        yield
