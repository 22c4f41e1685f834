"""`pipimem init`: a workspace from the template."""

from __future__ import annotations

from pathlib import Path

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import note, record, say
from pipimem.runtime.embeddings import recommended_embedder
from pipimem.runtime.opened_parts import WorkspaceStore

_FILES = """\
SOUL.md says who the bot is, AGENTS.md how it behaves, MEMORY.md what all its channels share.
words.txt holds words of your trade, recall.must what must stay findable, pipimem.toml the
settings."""


@click.command("init")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--language",
    type=click.Choice(("en", "zh")),
    default="en",
    help="The language of the files: English or Chinese.",
)
@as_json
@chosen
def command(chosen: Chosen, folder: str | None, language: str, as_json: bool) -> None:
    """Make a workspace; what is there already stays as it is."""
    root = Path(folder) if folder else chosen.workspace
    made = WorkspaceStore.init(root, language)
    if as_json:
        record({"workspace": root, "created": made})
        return
    if not made:
        say(f"{root} is a workspace already; nothing was changed.")
        return
    say(f"{root} is a workspace now. Made:")
    for path in made:
        say(f"  {path.relative_to(root)}")
    say(_FILES)
    recommended = recommended_embedder("")
    if recommended:
        note(recommended)
