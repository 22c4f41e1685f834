"""`pipimem recall`: what would be injected for a message, and why."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipimem.cli.batch import BATCH_K, Question, questions
from pipimem.cli.candidates import candidate_json, candidate_rows, explained_json
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, batch, chosen
from pipimem.cli.printing import note, record, table
from pipimem.clock import Clock
from pipimem.recall.recalling import Recall
from pipimem.runtime.meaning import meaning_of
from pipimem.runtime.reading import Reading
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.embedding.embedder import Vector
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.sidecar.governor import Governor

# Any message at all: it makes the first timed query find the index built and the dictionaries loaded.
_WARMING = "warm up 预热"


@click.command("recall")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option("-k", "count", type=click.IntRange(min=1), help="How many candidates to show.")
@click.option("--explain", is_flag=True, help="Take every score apart: which words, which source, how recent.")
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

    That is what CHANNEL's memory would put before the message QUERY, at a time when this session was shown nothing
    yet. No model is asked, and nothing is written. Entries with a * would be injected; the others came near.
    """
    if batch is not None:
        if channel is not None:
            raise click.UsageError("--batch takes channel and query from its file")
        _batch(chosen, questions(batch, chosen.store()), count or BATCH_K, explain)
        return
    if channel is None or query is None:
        raise click.UsageError("give CHANNEL and QUERY, or --batch FILE")
    found = _found(chosen, channel, query, speaker, count)
    candidates = found.candidates[:count]
    if as_json:
        record({"channel": channel, "query": query, **_json(found, count, explain), "reason": found.reason})
    elif candidates:
        injected = {item.id for item in found.injected}
        table(("#", "score", "id", "what"), candidate_rows(candidates, injected, explain=explain))
        more = f"; {found.left_out} more did not fit" if found.left_out else ""
        note(f"* would be injected: {len(injected)}{more}")
    else:
        note(f"nothing is recalled: {found.reason}")


def _wide(settings: Settings, count: int | None) -> Settings:
    """The settings with room for `count` candidates; what is injected keeps its own limit."""
    wanted = settings.recall
    return replace(settings, recall=replace(wanted, candidates=max(count or 0, wanted.candidates)))


def _found(chosen: Chosen, channel: str, query: str, speaker: str, count: int | None) -> Recall:
    readings = _Readings(chosen.store(), _wide(chosen.settings(), count))
    reading = readings.of(channel)
    readings.prepare(reading)
    return reading.recalled(query, Clock().now(), speaker=speaker, question=readings.question(reading, query, speaker))


def _batch(chosen: Chosen, asked: list[Question], count: int, explain: bool) -> None:
    for question, found, elapsed in _answers(_Readings(chosen.store(), _wide(chosen.settings(), count)), asked):
        record({**question.fields, **_json(found, count, explain), "elapsed_ms": elapsed})


def _answers(readings: _Readings, asked: list[Question]) -> Iterator[tuple[Question, Recall, float]]:
    """Each question with what is recalled and the milliseconds that took, in the order of the file."""
    clock = Clock()
    for name in dict.fromkeys(question.channel for question in asked):
        readings.prepare(readings.of(name))
        readings.of(name).recalled(_WARMING, clock.now())
    for question in asked:
        reading = readings.of(question.channel)
        started = time.perf_counter()
        reading.notes()
        found = reading.recalled(question.query, clock.now(), question=readings.question(reading, question.query))
        yield question, found, round((time.perf_counter() - started) * 1000, 3)


class _Readings:
    """The channels that were asked, each opened at its first question and never written to."""

    def __init__(self, store: WorkspaceStore, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._meaning = meaning_of(settings, store, self._governor, keeps=False)
        self._vocabulary = Vocabulary(store)
        self._open: dict[str, Reading] = {}

    def _governor(self) -> Governor:
        from pipimem.sidecar.governor import Governor  # only where embedding costs something

        return Governor(self._store.books, self._settings.budget, Clock(), note)

    def of(self, channel: str) -> Reading:
        """The reading of a channel. Raises `ChannelError` for an unknown one."""
        if channel not in self._open:
            opened = ChannelStore.open(self._store, channel, create=False)
            self._open[channel] = Reading(opened, self._vocabulary, self._settings.recall, None, self._meaning)
        return self._open[channel]

    def prepare(self, reading: Reading) -> None:
        """Index a channel; with an embedder, embed what it has not kept."""
        reading.notes()
        if self._meaning is not None:
            from pipimem.runtime.embedding import embedded_now  # an event loop that others do not need

            embedded_now(reading, self._meaning, _embedding)

    def question(self, reading: Reading, query: str, speaker: str = "") -> Vector | None:
        """The vector of a question; nobody waits for a turn here, so it is waited for."""
        if self._meaning is None or not reading.wants_meaning(query, Clock().now(), speaker):
            return None
        return self._meaning.question(query)


def _embedding(count: int) -> None:
    note(f"embedding {count} entries for this question alone; `pipimem maintain` keeps their vectors")


def _json(found: Recall, count: int | None, explain: bool) -> dict[str, object]:
    candidates = found.candidates[:count]
    told = [candidate_json(one, one.rank) | (explained_json(one) if explain else {}) for one in candidates]
    return {"candidates": told, "context": found.context(secrets.token_hex(6))}
