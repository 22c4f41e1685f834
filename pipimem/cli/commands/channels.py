"""`pipimem channels`: which channels there are."""

from __future__ import annotations

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import fields, records, table


@click.command("channels")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """List the channels: id, kind, title and folder."""
    store = chosen.store()
    found = store.channels()
    if as_json:
        records(fields(info, "id", "kind", "title", "folder") for info in found)
        return
    rows = ((info.id, info.kind, info.title, info.folder.relative_to(store.root)) for info in found)
    table(("channel", "kind", "title", "folder"), rows, empty="there is no channel yet")
