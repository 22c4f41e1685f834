"""The command line: `pipimem [--workspace DIR] [--model M] COMMAND …`."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from pipimem.errors import worded

# Most commands build what they need once and end: looking through it every 700 objects is 15 of
# 350 ms of a `recall` of 5,000 entries. One that stays still collects.
_COLLECT = (100_000, 20, 100)


def main() -> None:
    """Run the command line, as the installed `pipimem` does."""
    gc.set_threshold(*_COLLECT)
    _open_closed_streams()
    from pipimem.cli.commands import pipimem

    try:
        pipimem(prog_name="pipimem")
    except OSError as error:  # a disk that has no room for the help
        _drop_unprinted()
        sys.exit(f"pipimem: {worded(error)}")
    except SystemExit as ended:
        if ended.code:
            _drop_unprinted()
        raise


def _drop_unprinted() -> None:
    """Sends to nowhere what standard output did not take; nothing where it took all.

    Python 3.14 keeps it, tries once more at its end, and ends with 120 in the place of our code.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Opens standard input, output and error to nowhere where a shell closed them (`>&-`).

    Else a file that is opened later would get their number, and what is printed would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, nowhere)
