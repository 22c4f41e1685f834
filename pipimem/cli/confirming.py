"""A yes or no before what cannot easily be taken back; silence is no yes."""

from __future__ import annotations

import click

from pipimem.cli.failing import Failed


def confirmed(question: str, otherwise: str) -> bool:
    """Whether a person says yes; where nobody can answer, the command ends with what was not done."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        raise Failed(f"{otherwise}: nobody answered. Say --yes to go on without being asked") from None
