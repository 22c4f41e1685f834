"""`pipimem recall`: what would be injected for a message, and why."""

from __future__ import annotations

from functools import partial

import click

from pipimem.cli.options import BATCH_K, BatchQuery, Chosen, as_json, batch, chosen, queries
from pipimem.cli.output import counted, note, record, say
from pipimem.cli.recalls import opened_recall
from pipimem.cli.results import (
    WARMING,
    answer_all,
    hit_json,
    message_json,
    recalled_rows,
    show_hits,
    show_messages,
)
from pipimem.runtime.opened_parts import run_alone
from pipimem.runtime.opened_recall import OpenedRecall
from pipimem.runtime.recall_preview import Recall


@click.command("recall")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option("-k", "count", type=click.IntRange(min=1), help="How many candidates to show.")
@click.option(
    "--explain", is_flag=True, help="Take every score apart: which words, which source, how recent."
)
@click.option("--speaker", default="", help="Who asks.")
@click.option(
    "--turn",
    is_flag=True,
    help="The whole context of a new session's first turn, the snapshot included.",
)
@click.option(
    "--raw", is_flag=True, help="Ask for the words as they stand, also where a turn is silent."
)
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
    turn: bool,
    raw: bool,
    batch: str | None,
    as_json: bool,
) -> None:
    """Show what a message would recall.

    That is what CHANNEL's memory would put before the message QUERY, at a time when this session
    was shown nothing yet. No model is asked, and nothing is written. Entries with a * would be
    injected; the others came near. Below them stands what would be shown of the talk.
    """
    if turn and raw:
        raise click.UsageError("--raw is no turn: give one of --raw and --turn")
    asked = queries(chosen, channel, query, batch)
    if batch is not None:
        _batch(chosen, asked, count or BATCH_K, explain=explain, turn=turn)
        return
    (one,) = asked
    recalls = opened_recall(chosen, count)
    found, context = _asked(recalls, one, speaker, turn=turn, raw=raw)
    if as_json:
        answer = _json((found, context), count, explain=explain)
        record({**one.fields, **answer, "reason": found.reason})
        return
    _show(found, count, explain=explain)
    if turn:
        say(context)


def _asked(
    recalls: OpenedRecall, one: BatchQuery, speaker: str = "", *, turn: bool, raw: bool = False
) -> tuple[Recall, str]:
    """What was recalled, and the context: of that alone, or of the whole `turn`."""
    recall = recalls.recall(one.channel)
    if not turn:
        found = run_alone(recall.recall(one.text, speaker=speaker, automatic=not raw))
        return found, recall.context(found)
    first = run_alone(recall.turn(one.text, speaker=speaker))
    return first.recall or Recall(), first.context


def _batch(
    chosen: Chosen, asked: list[BatchQuery], count: int, *, explain: bool, turn: bool
) -> None:
    recalls = opened_recall(chosen, count)
    answer_all(
        asked,
        lambda name: run_alone(recalls.recall(name).recall(WARMING)),
        partial(_asked, recalls, turn=turn),
        partial(_json, count=count, explain=explain),
    )


def _show(found: Recall, count: int | None, *, explain: bool) -> None:
    if found.candidates:
        show_hits(recalled_rows(found, count, explain=explain))
        more = f"; {found.left_out} more did not fit" if found.left_out else ""
        note(f"* would be injected: {len(found.injected)}{more}")
    elif found.excerpts:
        note(f"no entry is recalled: {found.reason}")
    else:
        note(f"nothing is recalled: {found.reason}")
    if found.excerpts:
        show_messages(found.excerpts)
        note(f"of the talk would be shown: {counted(len(found.excerpts), 'message')}")


def _json(answer: tuple[Recall, str], count: int | None, *, explain: bool) -> dict[str, object]:
    found, context = answer
    hits = []
    for one in found.candidates[:count]:
        hit = hit_json(one, one.rank)
        if explain:
            hit["parts"] = [part._asdict() for part in one.parts]
        hits.append(hit)
    said = [message_json(item) for item in found.excerpts]
    return {"candidates": hits, "excerpts": said, "context": context}
