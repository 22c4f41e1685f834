"""The command line: `pipimem [--workspace DIR] [--model M] COMMAND …`."""

from __future__ import annotations


def main() -> None:
    """Run the command line, as the installed `pipimem` does."""
    from pipimem.cli.commands import pipimem

    pipimem(prog_name="pipimem")
