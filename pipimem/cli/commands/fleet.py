"""`pipimem fleet`: the tables that several hosts share, and the way back to one host."""

from __future__ import annotations

import re

import click

from pipimem.cli.options import Chosen, chosen
from pipimem.cli.output import Failed, note, say
from pipimem.runtime.opened_parts import WorkspaceStore

_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@click.command("fleet")
@click.argument("what", type=click.Choice(["init", "leave"]), metavar="init|leave")
@click.option("--print", "prints", is_flag=True, help="Print the SQL for an administrator instead.")
@click.option(
    "--role",
    default="pipimem_bot",
    show_default=True,
    help="The role of the bots in what is printed.",
)
@chosen
def command(chosen: Chosen, what: str, prints: bool, role: str) -> None:
    """Make the tables of several hosts, or leave them.

    `init` makes them in the database that `[fleet] database` names, where they are missing.
    `--print` prints what an administrator runs instead: the tables, and the least rights of the
    role that bots connect as.
    `leave` moves the state of all channels back into the workspace, for one host: stop all hosts
    before, and take `database` out of pipimem.toml after it.
    """
    if not _ROLE.fullmatch(role):
        raise click.UsageError("--role takes small letters, digits and _.")
    from pipimem.runtime.fleet.overview import tables_sql  # of a fleet alone

    if prints:
        click.echo(tables_sql(role))
        return
    fleet = chosen.store().fleet
    if fleet is None:
        raise Failed("There is no fleet: set database under [fleet] in pipimem.toml first.")
    if what == "leave":
        count = chosen.store().leave_fleet()
        say(f"the state of {count} channels lies in the workspace")
        note("take database out of [fleet] in pipimem.toml, then start one host")
        return
    fleet.make_tables()
    say("the tables are there")
    note(_next(chosen.store()))


def _next(workspace: WorkspaceStore) -> str:
    return f"each host of {workspace.root} now runs its bot, and `pipimem watch --fleet`"
