"""`pipimem export`: channels in one archive, to take along or to read elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from pipimem import __version__
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, progress, record, say
from pipimem.clock import Clock
from pipimem.runtime.opened_parts import WorkspaceStore
from pipimem.runtime.transfer.archives import (
    cancel_move,
    chosen_channels,
    export_archive,
    export_markdown,
    export_redacted,
    move_out,
)


@click.command("export")
@click.argument("channels", nargs=-1, metavar="[CHANNEL]...")
@click.argument("archive")
@click.option("--plain", is_flag=True, help="The Markdown alone, for reading anywhere.")
@click.option("--move", is_flag=True, help="Move one channel: this workspace refuses it then.")
@click.option("--cancel-move", is_flag=True, help="Keep a channel whose move was begun.")
@click.option("--redacted", is_flag=True, help="The Markdown alone, without names and secrets.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channels: tuple[str, ...],
    archive: str,
    plain: bool,
    redacted: bool,
    move: bool,
    cancel_move: bool,
    as_json: bool,
) -> None:
    """Write channels to ARCHIVE, a ZIP file.

    Without a CHANNEL it holds all of them, with the workspace's own files. `pipimem import ARCHIVE`
    in another workspace brings every file back byte for byte: notes, transcript, history of
    changes. A bot may go on running.

    `--redacted` leaves the transcript out, and puts `[P1]`, `[P2]` … in the place of the names of
    those who spoke. A name that is only mentioned stays: read it before you give it away.

    `--move CHANNEL ARCHIVE` moves one channel out: from then on nothing is written to it here.
    Interrupted, it goes on with the same command. `--cancel-move CHANNEL` keeps it here while its
    archive is not whole; a whole ARCHIVE must be given behind it, and is deleted.
    """
    if plain + redacted + move + cancel_move > 1:
        raise click.UsageError("Give one of --plain, --redacted, --move and --cancel-move.")
    if move and len(channels) != 1:
        raise click.UsageError("--move takes one CHANNEL and the ARCHIVE.")
    workspace, target = chosen.store(), Path(archive)
    if cancel_move:
        _cancel(workspace, [*channels, archive])
        return
    count = len(chosen_channels(workspace, channels))
    with progress(f"writing {target.name}", count) as packed:
        if plain:
            files = export_markdown(workspace, channels, target, packed)
        elif redacted:
            files = export_redacted(workspace, channels, target, packed)
        else:
            files = _archived(workspace, channels, target, packed, move=move)
    size = target.stat().st_size
    if as_json:
        record({"archive": target, "channels": count, "files": files, "bytes": size})
    else:
        what = f"{counted(count, 'channel')}, {counted(files, 'file')}, {size:,} bytes"
        say(f"{target}: {what}")


def _archived(
    workspace: WorkspaceStore,
    channels: tuple[str, ...],
    target: Path,
    packed: Callable[[int], None],
    *,
    move: bool,
) -> int:
    """Packs channels with every byte of them, or moves the one; returns how many files."""
    now = Clock().now()
    if move:
        made = move_out(workspace, channels[0], target, now, __version__, packed)
    else:
        made = export_archive(workspace, channels, target, now, __version__, packed)
    return sum(1 for _ in made.members())


def _cancel(workspace: WorkspaceStore, names: list[str]) -> None:
    """`--cancel-move CHANNEL [ARCHIVE]`."""
    if len(names) > 2:
        raise click.UsageError("--cancel-move takes one CHANNEL, and the ARCHIVE if it is whole.")
    archive = Path(names[1]) if len(names) == 2 else None
    is_lifted = cancel_move(workspace, names[0], archive)
    say(f"{names[0]}: " + ("it stays here" if is_lifted else "it was not being moved"))
