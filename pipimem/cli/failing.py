"""What could not be done: one sentence on standard error, exit 1."""

from __future__ import annotations

from typing import IO, Any

import click

from pipimem.cli.printing import shown


class Failed(click.ClickException):
    """A command did not do what it was called for; the sentence says why and what helps."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - standard error, whatever click would choose
        """Say it."""
        click.echo(f"pipimem: {shown(self.message)}", err=True)


def worded(error: OSError) -> str:
    """The system's refusal as a sentence with the file it is about."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"the system refused: {reason}"
