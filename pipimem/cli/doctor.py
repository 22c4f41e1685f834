"""`pipimem doctor`: whether a workspace is in good health, and the mending that loses nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

import click

from pipimem.cli.failing import Failed, worded
from pipimem.cli.health import findings
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, chosen
from pipimem.cli.printing import note, record, say, table
from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.store.checkup.finding import Finding


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything, and say what was done.")
@as_json
@chosen
def command(chosen: Chosen, fix: bool, as_json: bool) -> None:
    """Look for what is wrong.

    Settings, files that cannot be read, entries, secrets in files, damage, modes, what was set aside, the disk, the
    model's key, today's budget.

    Changes nothing without --fix. Ends with 1 where something needs a hand.
    """
    now = Clock().now()
    found = list(findings(chosen, now))
    mended = list(_mended(found, now)) if fix else []
    if mended:
        found = list(findings(chosen, now))
    wrong = sum(one.wrong for one in found)
    if as_json:
        told = [
            {"wrong": one.wrong, "where": one.where, "what": one.what, "fixable": one.mend is not None} for one in found
        ]
        fixed = [{"where": where, "done": done} for where, done in mended]
        record({"workspace": str(chosen.workspace), "ok": not wrong, "findings": told, "fixed": fixed})
    else:
        for where, done in mended:
            say(f"fixed: {where}: {done}")
        table(("", "where", "what"), [("wrong" if one.wrong else "note", one.where, one.what) for one in found])
        if any(one.mend for one in found) and not fix:
            note("`pipimem doctor --fix` mends some of this")
        if not wrong:
            say("All is well.")
    if wrong:
        raise Failed(f"{wrong} thing{'s need' if wrong > 1 else ' needs'} a hand")


def _mended(found: Iterable[Finding], now: datetime) -> Iterator[tuple[str, str]]:
    for one in found:
        if one.mend is not None:
            try:
                yield one.where, one.mend(now)
            except PipimemError as error:
                note(f"not fixed: {one.where}: {error}")
            except OSError as error:
                note(f"not fixed: {one.where}: {worded(error)}")
