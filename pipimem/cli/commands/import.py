"""`pipimem import`: an archive or another program's memory taken in; an import taken back."""  # noqa: N999 - the command's name

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from pathlib import Path
from shlex import quote
from typing import Literal

import click

from pipimem.cli.options import Chosen, as_json, chosen, kind
from pipimem.cli.output import Failed, counted, fields, minute, note, progress, record, say
from pipimem.cli.prompts import confirmed
from pipimem.clock import Clock
from pipimem.runtime.channel_status import status_of
from pipimem.runtime.transfer.archives import OWN_ARCHIVE, MovedIn, import_archive, is_archive
from pipimem.runtime.transfer.gathering import FORMATS, ImportCounts, format_of
from pipimem.runtime.transfer.import_run import ImportOptions, ImportReport, import_source
from pipimem.runtime.transfer.source_files import opened_source
from pipimem.runtime.transfer.take_back import (
    ImportTakenBack,
    import_to_take_back,
    take_back,
)

_NAMES = [OWN_ARCHIVE, *(one.name for one in FORMATS)]


@click.command("import")
@click.argument("source", required=False)
@click.option("--from", "named", type=click.Choice(_NAMES), help="What SOURCE is, where unclear.")
@click.option("--channel", default="", metavar="C", help="Everything into this one channel.")
@kind
@click.option("--dry-run", is_flag=True, help="Say what would be taken in, and write nothing.")
@click.option("--consolidate", is_flag=True, help="Learn from the talk that comes in.")
@click.option("--undo", is_flag=True, help="Take the newest import back, or the one of a number.")
@click.option("--yes", is_flag=True, help="With --undo: do not ask.")
@as_json
@chosen
def command(
    chosen: Chosen,
    source: str | None,
    named: str | None,
    channel: str,
    kind: Literal["dm", "group"],
    dry_run: bool,
    consolidate: bool,
    undo: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take in an archive of pipimem's, or what another program kept.

    SOURCE is a file or a folder: an archive that `pipimem export` made, or a log, an export or a
    memory of another program. What it is is recognised. Entries, days and talk are cleaned as all
    that is written; what reads like an instruction to the bot is kept as a quote. Talk goes to the
    transcript alone, unless you give --consolidate.

    A second time adds nothing. `pipimem blame` says where each entry came from. `pipimem import
    --undo` takes the newest import back, `--undo N` import N.
    """
    if undo:
        _undo(chosen, source, yes=yes, as_json=as_json)
        return
    if source is None:
        raise click.UsageError("Give what to import, or --undo.")
    path = Path(source)
    if named == OWN_ARCHIVE or (named is None and is_archive(path)):
        if channel or consolidate:
            raise click.UsageError("An archive's channels keep their names and what was learnt.")
        _import_archive(chosen, path, is_dry=dry_run, as_json=as_json)
    else:
        options = ImportOptions(channel, kind, is_dry=dry_run, consolidates=consolidate)
        _import_source(chosen, path, named or "", options, as_json=as_json)


# ── archives ──────────────────────────────────────────────────────────────────────────────────────


def _import_archive(chosen: Chosen, source: Path, *, is_dry: bool, as_json: bool) -> None:
    with progress(f"reading {source.name}", source.stat().st_size) as moved:
        done = import_archive(chosen.store(), source, Clock().now(), is_dry=is_dry, unpacked=moved)
    if as_json:
        record({"from": OWN_ARCHIVE, "dry_run": is_dry, **_json(done)})
        return
    would = "would come in" if is_dry else "came in"
    say(f"{counted(len(done.new), 'channel')} {would}, {len(done.same):,} stood there already")
    for name in done.shared:
        say(f"  {name}")
    for name in done.left:
        note(f"{name}: this workspace has its own, which stays")
    _tell_undo(done.number)


def _json(done: MovedIn) -> dict[str, object]:
    return fields(done, "new", "same", "shared", "left", "size", "number")


def _tell_undo(number: int) -> None:
    if number:
        note(f"`pipimem import --undo {number}` takes it back")


# ── other programs ────────────────────────────────────────────────────────────────────────────────


def _import_source(
    chosen: Chosen, source: Path, named: str, options: ImportOptions, *, as_json: bool
) -> None:
    workspace = chosen.store()
    with opened_source(source) as files:
        found = format_of(files, named)
        with progress(f"reading {source.name}", files.size) as moved:
            files.report_to(moved)
            done = import_source(workspace, files, found, options, Clock().now())
    if as_json:
        record(_report(done, options))
    else:
        say("\n".join(_lines(done, found.what, options)))
        _tell_undo(done.number)
    if options.consolidates and done.number:
        _consolidate(chosen, done)
    elif options.consolidates and not options.is_dry:
        _tell_waiting(chosen, done)


def _report(done: ImportReport, options: ImportOptions) -> dict[str, object]:
    channels = {name: _counts(counts) for name, counts in done.by_channel.items()}
    dry = {"from": done.kind, "dry_run": options.is_dry, "number": done.number}
    return {**dry, **_counts(done.total), "channels": channels}


def _counts(counts: ImportCounts) -> dict[str, object]:
    return {one.name: getattr(counts, one.name) for one in dataclass_fields(counts)}


def _lines(done: ImportReport, what: str, options: ImportOptions) -> Iterator[str]:
    yield f"{what}{': a dry run, nothing is written' if options.is_dry else ''}"
    for name, counts in list(done.by_channel.items())[:_SHOWN]:
        yield f"  {name}: {_taken(counts)}"
    if len(done.by_channel) > _SHOWN:
        yield f"  … and {counted(len(done.by_channel) - _SHOWN, 'channel')} more"
    total = done.total
    yield f"taken in: {_taken(total)}"
    yield f"stood there already: {total.known:,}"
    hidden = f"{counted(total.secrets, 'secret')} masked"
    yield f"{hidden}, {counted(total.private, 'private stretch', 'private stretches')} left out"
    if total.quoted:
        entries = counted(total.quoted, "entry reads", "entries read")
        yield f"{entries} like instructions to the bot: kept as quotes"
    for reason, number in total.left_out.most_common():
        yield f"left out: {number:,} × {reason} (as {total.examples[reason]})"


_SHOWN = 20


def _taken(counts: ImportCounts) -> str:
    entries = counted(counts.entries, "entry", "entries")
    messages, days = counted(counts.messages, "message"), counted(counts.days, "day")
    return f"{entries}, {days}, {messages}"


def _consolidate(chosen: Chosen, done: ImportReport) -> None:
    from pipimem.cli.running import learn_from_import  # the runtime, which others need not load

    names = [name for name, counts in done.by_channel.items() if counts.messages]
    with progress("consolidating", len(names)) as moved:
        refused = learn_from_import(chosen, done.number, names, moved)
    if refused:
        raise Failed(
            f"the talk is there, but not all of it is consolidated: {refused[0]} Nothing is lost; "
            "`pipimem consolidate CHANNEL` goes on."
        )


def _tell_waiting(chosen: Chosen, done: ImportReport) -> None:
    """Say where talk waits, as after an import that was cut off before it was consolidated."""
    for name in done.by_channel:
        waiting = status_of(chosen.store(), name, Clock().now()).backlog
        if waiting:
            left = f"{counted(waiting, 'message')} still to be consolidated"
            note(f"{name}: {left}; `pipimem consolidate {quote(name)}` goes on")


# ── taking back ───────────────────────────────────────────────────────────────────────────────────


def _undo(chosen: Chosen, number: str | None, *, yes: bool, as_json: bool) -> None:
    if number is not None and not number.isdecimal():
        raise click.UsageError(f"--undo takes the number of an import, not {number!r}")
    workspace = chosen.store()
    found = import_to_take_back(workspace, int(number) if number else None)
    if not yes:
        channels = counted(len(found.channels), "channel")
        note(f"import {found.number} of {minute(found.time)}: {found.kind}, {channels}")
        confirmed(f"Take import {found.number} back?", "nothing was taken back")
    done = take_back(workspace, found, Clock().now())
    if as_json:
        names = ("removed", "cleaned", "messages", "changes", "kept")
        record({"number": found.number, **fields(done, *names)})
    else:
        _show_taken_back(done)
    if done.kept:
        raise Failed(f"not all was taken back: {done.kept[0]}")


def _show_taken_back(done: ImportTakenBack) -> None:
    say(f"import {done.record.number} was taken back:")
    if done.removed:
        say(f"  {counted(len(done.removed), 'channel')} removed")
    if done.cleaned:
        what = f"{counted(done.messages, 'message')}, {counted(done.changes, 'change')} of notes"
        say(f"  {what} in {counted(len(done.cleaned), 'channel')}")
