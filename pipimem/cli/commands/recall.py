"""`pipimem recall`: what would be injected for a message, and why."""

from __future__ import annotations

import secrets
from functools import partial

import click

from pipimem.cli.options import BATCH_K, BatchQuery, Chosen, as_json, batch, chosen, queries
from pipimem.cli.output import note, record
from pipimem.cli.results import WARMING, answer_all, hit_json, recalled_rows, show_hits
from pipimem.runtime.lookup import Lookup, Recall


@click.command("recall")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option("-k", "count", type=click.IntRange(min=1), help="How many candidates to show.")
@click.option(
    "--explain", is_flag=True, help="Take every score apart: which words, which source, how recent."
)
@click.option("--speaker", default="", help="Who asks.")
@batch
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str | None,
    query: str | None,
    count: int | None,
    explain: bool,
    speaker: str,
    batch: str | None,
    as_json: bool,
) -> None:
    """Show what a message would recall.

    That is what CHANNEL's memory would put before the message QUERY, at a time when this session
    was shown nothing yet. No model is asked, and nothing is written. Entries with a * would be
    injected; the others came near.
    """
    asked = queries(chosen, channel, query, batch)
    if batch is not None:
        _batch(chosen, asked, count or BATCH_K, explain=explain)
        return
    (one,) = asked
    lookup = Lookup(chosen.store(), chosen.settings(), note, count)
    found = lookup.recalled(one.channel, one.text, speaker)
    if as_json:
        record({**one.fields, **_json(found, count, explain=explain), "reason": found.reason})
    else:
        _show(found, count, explain=explain)


def _batch(chosen: Chosen, asked: list[BatchQuery], count: int, *, explain: bool) -> None:
    lookup = Lookup(chosen.store(), chosen.settings(), note, count)
    answer_all(
        asked,
        lambda name: lookup.recalled(name, WARMING),
        lambda one: lookup.recalled(one.channel, one.text),
        partial(_json, count=count, explain=explain),
    )


def _show(found: Recall, count: int | None, *, explain: bool) -> None:
    if found.candidates:
        show_hits(recalled_rows(found, count, explain=explain))
        more = f"; {found.left_out} more did not fit" if found.left_out else ""
        note(f"* would be injected: {len(found.injected)}{more}")
    else:
        note(f"nothing is recalled: {found.reason}")


def _json(found: Recall, count: int | None, *, explain: bool) -> dict[str, object]:
    hits = []
    for one in found.candidates[:count]:
        hit = hit_json(one, one.rank)
        if explain:
            hit["parts"] = [part._asdict() for part in one.parts]
        hits.append(hit)
    return {"candidates": hits, "context": found.context(secrets.token_hex(6))}
