"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pipimem.cli.opening import Chosen

# What click calls a decorated command before it is one.
Decorated = Callable[..., Any]

chosen = click.make_pass_decorator(Chosen)


def channel(command: Decorated) -> Decorated:
    """The channel's id as the first argument."""
    return click.argument("channel")(command)


def as_json(command: Decorated) -> Decorated:
    """`--json`: for scripts, on standard output; all that is meant for eyes goes to standard error."""
    return click.option("--json", "as_json", is_flag=True, help="For scripts: JSON on standard output.")(command)


def batch(command: Decorated) -> Decorated:
    """`--batch FILE`: many questions in the place of CHANNEL and QUERY."""
    return click.option(
        "--batch", metavar="FILE", help="Ask every line of a JSONL file with channel and query; - for standard input."
    )(command)


def kind(command: Decorated) -> Decorated:
    """`--kind`: what a new channel is."""
    kinds = click.Choice(["dm", "group"])
    return click.option(
        "--kind", type=kinds, default="dm", show_default=True, help="What the channel is, when it is new."
    )(command)
