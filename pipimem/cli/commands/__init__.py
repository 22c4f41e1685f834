"""The commands by name, each imported when it is called."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import click

from pipimem import __version__
from pipimem.cli.options import Chosen, workspace_folder
from pipimem.cli.output import Failed, nearest
from pipimem.errors import PipimemError, worded

# In the order a new user needs them; each is a module of this folder.
_NAMES = (
    "init",
    "chat",
    "replay",
    "recall",
    "search",
    "timeline",
    "detail",
    "show",
    "list",
    "edit",
    "remember",
    "forget",
    "log",
    "blame",
    "diff",
    "undo",
    "restore",
    "consolidate",
    "maintain",
    "watch",
    "fleet",
    "ui",
    "mcp",
    "dingtalk",
    "channels",
    "remove",
    "import",
    "export",
    "status",
    "usage",
    "doctor",
)


class Commands(click.Group):
    """A group that imports a command's module when it is called, and words every failure."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names in the order of the help."""
        return [*_NAMES]  # `list` is a module of this folder, once it is loaded

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """The command of a name, `None` where there is none."""
        if cmd_name not in _NAMES:
            return None
        command: click.Command = import_module(f"pipimem.cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command the arguments call; an unknown one is told with its nearest neighbour."""
        name = args[0]
        if name not in _NAMES and not name.startswith("-"):
            near = nearest(name, _NAMES)
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
    ctx.obj = Chosen(folder, model or os.environ.get("PIPIMEM_MODEL") or "")
