"""The commands by name, each imported when it is called."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import click

from pipimem import __version__
from pipimem.cli.output import Failed, nearest
from pipimem.errors import PipimemError, worded

# In the order a new user needs them; each is a module of this folder, and has this short help: so
# `pipimem --help` imports no command.
SHORT_HELP = {
    "init": "Make a workspace; what is there already stays as it is.",
    "chat": "Talk to a bot that has this memory.",
    "replay": "Feed a recorded conversation to CHANNEL.",
    "recall": "Show what a message would recall.",
    "search": "Search the notes and what was said, all time.",
    "timeline": "Show what was said around a message.",
    "detail": "Show whole messages.",
    "show": "Show a channel's three files, or one of them.",
    "list": "List the entries of CHANNEL's MEMORY.md.",
    "conflicts": "List entries that may contradict each other.",
    "agenda": "List what is due, overdue, and promised by whom.",
    "edit": "Open CHANNEL's MEMORY.md, or another FILE, in $EDITOR.",
    "remember": "Write TEXT into a channel's MEMORY.md.",
    "forget": "Remove a text or an entry for good.",
    "log": "Show who changed what, and why, newest first.",
    "blame": "Show who wrote each entry, and from what.",
    "diff": "Show what changed, as a diff.",
    "undo": "Take changes back: one, or all of one author since a time.",
    "restore": "Put the notes back to how they stood.",
    "consolidate": "Learn from all that is new, as at a compaction.",
    "maintain": "Do the idle jobs now, and show what they changed.",
    "watch": "Do the idle jobs of every channel, until stopped.",
    "fleet": "Make the tables of several hosts, or leave them.",
    "ui": "Look at the memory in a browser, and edit it there.",
    "mcp": "Serve the memory to an MCP client.",
    "dingtalk": "Be a DingTalk bot, until stopped.",
    "channels": "List the channels: id, kind, title and folder.",
    "remove": "Delete a channel for good.",
    "import": "Take in an archive of pipimem's, or what another program kept.",
    "export": "Write channels to ARCHIVE, a ZIP file.",
    "status": "Show how every channel stands.",
    "usage": "Add up what models were asked and what it cost.",
    "doctor": "Look for what is wrong.",
}


class Commands(click.Group):
    """A group that imports a command's module when it is called, and words every failure."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names in the order of the help."""
        return [*SHORT_HELP]  # `list` is a module of this folder, once it is loaded

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the table of commands as click does, from `SHORT_HELP`."""
        limit = formatter.width - 6 - max(map(len, SHORT_HELP))
        rows = [
            (name, click.Command(name, help=text).get_short_help_str(limit))
            for name, text in SHORT_HELP.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """The command of a name, `None` where there is none."""
        if cmd_name not in SHORT_HELP:
            return None
        command: click.Command = import_module(f"pipimem.cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command the arguments call; an unknown one is told with its nearest neighbour."""
        name = args[0]
        if name not in SHORT_HELP and not name.startswith("-"):
            near = nearest(name, SHORT_HELP)
            hint = f"did you mean {near!r}?" if near else "see `pipimem --help`."
            raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what pipimem or the disk refuses becomes one sentence and exit 1."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.option_name not in ("--workspace", "--model"):
                raise
            name = error.option_name
            where = f"{name} stands before the command, as in `pipimem {name} … COMMAND`"
            raise click.UsageError(where, error.ctx) from None
        except BrokenPipeError:
            raise  # whoever read us has had enough: click ends quietly
        except (PipimemError, OSError) as error:
            raise Failed(worded(error)) from error
        except KeyboardInterrupt:
            raise Failed("stopped; the files are whole, run the command again to go on") from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--workspace",
    metavar="DIR",
    help="The bot's folder; else PIPIMEM_WORKSPACE, the nearest folder with a pipimem.toml, or "
    "./workspace.",
)
@click.option(
    "--model",
    metavar="M",
    help="A litellm model name, or offline. Else PIPIMEM_MODEL, else pipimem.toml.",
)
@click.version_option(__version__, message="pipimem %(version)s", help="Show the version and exit.")
@click.pass_context
def pipimem(ctx: click.Context, workspace: str | None, model: str | None) -> None:
    """Memory for chat bots, in Markdown files that people can open."""
    folder = workspace_folder(workspace, os.environ.get("PIPIMEM_WORKSPACE"), Path.cwd())
    ctx.obj = folder, model or os.environ.get("PIPIMEM_MODEL") or ""


def workspace_folder(option: str | None, variable: str | None, here: Path) -> Path:
    """Return the workspace that is meant: the option, else the variable.

    Without both it is the nearest folder with a pipimem.toml, else ./workspace.
    """
    named = option or variable
    if named:
        return Path(named)
    for folder in (here, *here.parents):
        if (folder / "pipimem.toml").is_file():
            return folder
    return Path("workspace")
