"""The command line: `pipimem [--workspace DIR] [--model M] COMMAND …`."""

from __future__ import annotations

import gc

# Most commands build what they need once and end: looking through it every 700 objects is 15 of
# 350 ms of a `recall` of 5,000 entries. One that stays still collects.
_COLLECT = (100_000, 20, 100)


def main() -> None:
    """Run the command line, as the installed `pipimem` does."""
    gc.set_threshold(*_COLLECT)
    from pipimem.cli.commands import pipimem

    pipimem(prog_name="pipimem")
