"""`pipimem export`: channels in one archive, to take along or to read elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from pipimem import __version__
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, progress, record, say
from pipimem.clock import Clock
from pipimem.runtime.transfer.archives import chosen_channels, export_archive
from pipimem.runtime.transfer.readable import export_markdown, export_redacted


@click.command("export")
@click.argument("channels", nargs=-1, metavar="[CHANNEL]...")
@click.argument("archive")
@click.option("--plain", is_flag=True, help="The Markdown alone, for reading anywhere.")
@click.option("--redacted", is_flag=True, help="The Markdown alone, without names and secrets.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channels: tuple[str, ...],
    archive: str,
    plain: bool,
    redacted: bool,
    as_json: bool,
) -> None:
    """Write channels to ARCHIVE, a ZIP file.

    Without a CHANNEL it holds all of them, with the workspace's own files. `pipimem import ARCHIVE`
    in another workspace brings every file back byte for byte: notes, transcript, history of
    changes. A bot may go on running.

    `--redacted` leaves the transcript out, and puts `[P1]`, `[P2]` … in the place of the names of
    those who spoke. A name that is only mentioned stays: read it before you give it away.
    """
    if plain and redacted:
        raise click.UsageError("Give --plain or --redacted, not both.")
    workspace, target = chosen.store(), Path(archive)
    count = len(chosen_channels(workspace, channels))
    with progress(f"writing {target.name}", count) as packed:
        if plain:
            files = export_markdown(workspace, channels, target, packed)
        elif redacted:
            files = export_redacted(workspace, channels, target, packed)
        else:
            now = Clock().now()
            made = export_archive(workspace, channels, target, now, __version__, packed)
            files = sum(1 for _ in made.members())
    size = target.stat().st_size
    if as_json:
        record({"archive": target, "channels": count, "files": files, "bytes": size})
    else:
        what = f"{counted(count, 'channel')}, {counted(files, 'file')}, {size:,} bytes"
        say(f"{target}: {what}")
