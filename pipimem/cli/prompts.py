"""What people are asked: a yes or no, numbers of a list."""

from __future__ import annotations

import re

import click

from pipimem.cli.output import Failed

_ALL = ("all", "全部", "都")


def agreed(question: str) -> bool | None:
    """Whether a person says yes; `None` where nobody can answer."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return None


def confirmed(question: str, otherwise: str) -> None:
    """Go on where a person says yes.

    Raises `Failed` for a no and where nobody can answer; `otherwise` says what was not done.
    """
    answer = agreed(question)
    if answer is None:
        raise Failed(f"{otherwise}: nobody answered. Say --yes to go on without being asked")
    if not answer:
        raise Failed(otherwise)


def numbers(most: int) -> list[int]:
    """The numbers from 1 to `most` that a person picks.

    Raises `Failed` for none, and for one that is not there.
    """
    question = "Which? (numbers, or all)"
    try:
        answer = click.prompt(question, err=True, default="", show_default=False)
    except click.Abort:
        answer = ""
    if answer.strip().casefold() in _ALL:
        return list(range(1, most + 1))
    picked = sorted(set(map(int, re.findall(r"\d+", answer))))
    if not picked or picked[0] < 1 or picked[-1] > most:
        raise Failed("nothing was forgotten: no number of the list was given")
    return picked
