"""`pipimem recall`: what would be injected for a message, and why."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import click

from pipimem.cli.batch import BATCH_K, Question, questions
from pipimem.cli.candidates import candidate_json, candidate_rows, explained_json
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.recall.recalling import Recall
from pipimem.runtime.pipimem import Pipimem
from pipimem.settings import Settings

# Any message at all: it makes the first timed query find the index built and the dictionaries loaded.
_WARMING = "warm up 预热"


@click.command("recall")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option("-k", "count", type=click.IntRange(min=1), help="How many candidates to show.")
@click.option("--explain", is_flag=True, help="Take every score apart.")
@click.option("--speaker", default="", help="Who asks.")
@click.option(
    "--batch",
    metavar="FILE",
    help="Ask every line of a JSONL file with channel and query; - for standard input.",
)
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
    """Show what CHANNEL's memory would put before the message QUERY. Writes nothing."""
    if batch is not None:
        if channel is not None:
            raise click.UsageError("--batch takes channel and query from its file")
        run(lambda: _batch(chosen, questions(batch, chosen.store()), count or BATCH_K, explain))
        return
    if channel is None or query is None:
        raise click.UsageError("give CHANNEL and QUERY, or --batch FILE")
    found = run(lambda: _found(chosen, channel, query, speaker, count))
    candidates = found.candidates[:count]
    if as_json:
        told = [candidate_json(one, one.rank) | (explained_json(one) if explain else {}) for one in candidates]
        context = found.context(_nonce())
        record(
            {
                "channel": channel,
                "query": query,
                "candidates": told,
                "context": context,
                "reason": found.reason,
            }
        )
    elif candidates:
        injected = {item.id for item in found.injected}
        table(("#", "score", "id", "what"), candidate_rows(candidates, injected, explain=explain))
        note(f"* would be injected: {len(injected)}; no room for {found.left_out}")
    else:
        note(f"nothing is recalled: {found.reason}")


def _wide(settings: Settings, count: int | None) -> Settings:
    """The settings with room for `count` candidates; what is injected keeps its own limit."""
    wanted = settings.recall
    return replace(settings, recall=replace(wanted, candidates=max(count or 0, wanted.candidates)))


async def _found(chosen: Chosen, channel: str, query: str, speaker: str, count: int | None) -> Recall:
    async with chosen.opened(settings=_wide(chosen.settings(), count)) as pipimem:
        opened = await pipimem.channel(channel, create=False)
        return await opened.recall(query, speaker=speaker)


async def _batch(chosen: Chosen, asked: list[Question], count: int, explain: bool) -> None:
    async with chosen.opened(settings=_wide(chosen.settings(), count)) as pipimem:
        async for question, found, elapsed in _answers(pipimem, asked):
            told = [
                candidate_json(one, one.rank) | (explained_json(one) if explain else {})
                for one in found.candidates[:count]
            ]
            context = found.context(_nonce())
            record({**question.fields, "candidates": told, "context": context, "elapsed_ms": elapsed})


async def _answers(pipimem: Pipimem, asked: list[Question]) -> AsyncIterator[tuple[Question, Recall, float]]:
    """Each question with what is recalled and the milliseconds that took, in the order of the file."""
    for name in dict.fromkeys(question.channel for question in asked):
        await (await pipimem.channel(name, create=False)).recall(_WARMING)
    for question in asked:
        channel = await pipimem.channel(question.channel, create=False)
        started = time.perf_counter()
        found = await channel.recall(question.query)
        yield question, found, round((time.perf_counter() - started) * 1000, 3)


def _nonce() -> str:
    return secrets.token_hex(6)
