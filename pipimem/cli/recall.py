"""`pipimem recall`: what would be injected for a message, and why."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipimem.cli.batch import BATCH_K, Question, batch, questions
from pipimem.cli.candidates import candidate_json, candidate_rows
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.clock import Clock
from pipimem.recall.recalling import Recall
from pipimem.runtime.meaning import meaning_of
from pipimem.runtime.reading import Reading
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore

if TYPE_CHECKING:
    from pipimem.sidecar.governor import Governor

# Any message at all: it makes the first timed query find the index built and the dictionaries loaded.
_WARMING = "warm up 预热"


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

    That is what CHANNEL's memory would put before the message QUERY, at a time when this session was shown nothing
    yet. No model is asked, and nothing is written. Entries with a * would be injected; the others came near.
    """
    asked = questions(chosen, channel, query, batch)
    if batch is not None:
        _batch(_Readings(chosen, count or BATCH_K), asked, count or BATCH_K, explain)
        return
    (question,) = asked
    readings = _Readings(chosen, count)
    readings.prepare(question.channel)
    found = readings.recalled(question, speaker)
    candidates = found.candidates[:count]
    if as_json:
        record({**question.fields, **_json(found, count, explain), "reason": found.reason})
    elif candidates:
        injected = {item.id for item in found.injected}
        table(("#", "score", "id", "what"), candidate_rows(candidates, injected, explain=explain))
        more = f"; {found.left_out} more did not fit" if found.left_out else ""
        note(f"* would be injected: {len(injected)}{more}")
    else:
        note(f"nothing is recalled: {found.reason}")


def _batch(readings: _Readings, asked: list[Question], count: int, explain: bool) -> None:
    """Each question with what is recalled and the milliseconds that took, in the order of the file."""
    for name in dict.fromkeys(question.channel for question in asked):
        readings.prepare(name).recalled(_WARMING, Clock().now())
    for question in asked:
        started = time.perf_counter()
        readings.open[question.channel].notes()
        found = readings.recalled(question)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        record({**question.fields, **_json(found, count, explain), "elapsed_ms": elapsed})


class _Readings:
    """The channels that are asked, by name; none is written to. There is room for `count` candidates."""

    def __init__(self, chosen: Chosen, count: int | None) -> None:
        self._store, settings = chosen.store(), chosen.settings()
        # What is injected keeps its own limit.
        self._settings = replace(
            settings.recall, candidates=max(count or 0, settings.recall.candidates)
        )
        self._budget = settings.budget
        self._meaning = meaning_of(settings, self._store, self._governor, keeps=False)
        self._vocabulary = Vocabulary(self._store)
        self.open: dict[str, Reading] = {}

    def _governor(self) -> Governor:
        from pipimem.sidecar.governor import Governor  # only where embedding costs something

        return Governor(self._store.books, self._budget, Clock(), note)

    def prepare(self, channel: str) -> Reading:
        """Index a channel; with an embedder, embed what it has not kept. Raises `ChannelError` for an unknown one."""
        opened = ChannelStore.open(self._store, channel, create=False)
        reading = self.open[channel] = Reading(
            opened, self._vocabulary, self._settings, None, self._meaning
        )
        reading.notes()
        if self._meaning is not None:
            from pipimem.runtime.embedding import (
                embedded_now,
            )  # an event loop that others do not need

            embedded_now(reading, self._meaning, _embedding)
        return reading

    def recalled(self, question: Question, speaker: str = "") -> Recall:
        """What a channel has to say; nobody waits for a turn here, so the question's vector is waited for."""
        reading, query, now = self.open[question.channel], question.query, Clock().now()
        vector = None
        if self._meaning is not None and reading.wants_meaning(query, now, speaker):
            vector = self._meaning.question(query)
        return reading.recalled(query, now, speaker=speaker, question=vector)


def _embedding(count: int) -> None:
    note(
        f"embedding {count} entries for this question alone; `pipimem maintain` keeps their vectors"
    )


def _json(found: Recall, count: int | None, explain: bool) -> dict[str, object]:
    told = []
    for one in found.candidates[:count]:
        parts = {"parts": [part._asdict() for part in one.parts]} if explain else {}
        told.append(candidate_json(one, one.rank) | parts)
    return {"candidates": told, "context": found.context(secrets.token_hex(6))}
