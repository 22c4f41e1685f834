"""`pipimem doctor`: whether a workspace is in good health."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.failing import Failed
from pipimem.cli.health import findings
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, chosen
from pipimem.cli.printing import record, say, table


@click.command("doctor")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """Look for what is wrong. Changes nothing.

    Settings, files that cannot be read, secrets in files, damage, what was set aside, the disk, the model's key, today's
    budget. Exit 1 where something needs a hand.
    """
    found = list(findings(chosen))
    wrong = sum(one.wrong for one in found)
    if as_json:
        record({"workspace": str(chosen.workspace), "ok": not wrong, "findings": [asdict(one) for one in found]})
    else:
        table(("", "where", "what"), [("wrong" if one.wrong else "note", one.where, one.what) for one in found])
        if not wrong:
            say("All is well.")
    if wrong:
        raise Failed(f"{wrong} thing{'s need' if wrong > 1 else ' needs'} a hand")
