"""`pipimem doctor`: whether a workspace is in good health, and the mending that loses nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import Failed, counted, fields, note, progress, record, say, table
from pipimem.clock import Clock
from pipimem.errors import PipimemError, worded
from pipimem.runtime.health_report import (
    Finding,
    bytes_of_logs,
    findings,
    grouped,
    logged_secrets,
)


@click.command("doctor")
@click.option(
    "--fix",
    is_flag=True,
    help="Mend what can be mended without losing anything, and say what was done.",
)
@as_json
@chosen
def command(chosen: Chosen, fix: bool, as_json: bool) -> None:
    """Look for what is wrong.

    Settings, files that cannot be read, entries, secrets in files, logs and titles, damage, modes,
    what was set aside, the disk, the model's key, today's budget.

    Findings that are alike share a line, with their number and the first places; --json has all.

    Changes nothing without --fix. The exit code is 1 if a problem ("wrong") is left, and 0 if all
    that is left are remarks ("note").
    """
    now = Clock().now()
    found = _found(chosen, now)
    mended = list(_mended(found, now)) if fix else []
    if mended:
        found = _found(chosen, now)
    problems = sum(one.wrong for one in found)
    if as_json:
        fixed = [{"where": where, "done": done} for where, done in mended]
        about = {"workspace": chosen.workspace, "ok": not problems}
        record({**about, "findings": list(map(_json, found)), "fixed": fixed})
    else:
        for where, done in mended:
            say(f"fixed: {where}: {done}")
        _show(found, hints=not fix)
    if problems:
        raise Failed(f"{counted(problems, 'problem')} to fix")


def _found(chosen: Chosen, now: datetime) -> list[Finding]:
    """All findings; logs are looked through for secrets last, with a bar on a terminal."""
    found = list(findings(chosen.workspace, chosen.model, now))
    size = bytes_of_logs(chosen.workspace)
    with progress("looking for secrets in logs", size) as moved:
        return found + list(logged_secrets(chosen.workspace, moved))


def _json(one: Finding) -> dict[str, object]:
    """A finding for scripts; `kind` and `count` only where secrets stand."""
    shown = {**fields(one, "wrong", "where", "what"), "fixable": one.mend is not None}
    return {**shown, **fields(one, "kind", "count")} if one.kind else shown


def _show(found: Sequence[Finding], *, hints: bool) -> None:
    table(("", "where", "what"), map(_row, grouped(found)))
    if hints and any(one.mend for one in found):
        note("`pipimem doctor --fix` mends some of this")
    if not any(one.wrong for one in found):
        say("No problems.")


def _row(one: Finding) -> tuple[str, str, str]:
    """An error names its file, and so does `where`: it is shown once."""
    what = one.what.removeprefix(one.where).lstrip(" ,:")
    return "wrong" if one.wrong else "note", one.where, what


def _mended(found: Iterable[Finding], now: datetime) -> Iterator[tuple[str, str]]:
    for one in found:
        if one.mend is not None:
            try:
                yield one.where, one.mend(now)
            except (PipimemError, OSError) as error:
                note(f"not fixed: {one.where}: {worded(error)}")
