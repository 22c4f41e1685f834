"""`pipimem search`: the whole transcript and the archive, all time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import get_args

import click

from pipimem.cli.batch import BATCH_K, questions
from pipimem.cli.candidates import candidate_json, candidate_rows
from pipimem.cli.opening import Chosen
from pipimem.cli.options import Time, as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.clock import Clock
from pipimem.notes.files import File
from pipimem.notes.message import Role
from pipimem.notes.notes import Note
from pipimem.recall.index import Index
from pipimem.recall.items import history_items
from pipimem.recall.ranking import Candidate
from pipimem.recall.synonyms import Synonyms, learnt
from pipimem.recall.transcript_search import Filters, add_messages, search
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

_WARMING = "warm up 预热"


@click.command("search")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option("-k", "count", type=click.IntRange(min=1), default=BATCH_K, show_default=True, help="How many to show.")
@click.option("--after", type=Time(), help="Said on this date or later, as in 2026-03-02.")
@click.option("--before", type=Time(), help="Said before this date.")
@click.option("--speaker", default="", help="Said by this person.")
@click.option("--role", type=click.Choice(get_args(Role)), help="Said in this role.")
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
    count: int,
    after: datetime | None,
    before: datetime | None,
    speaker: str,
    role: str | None,
    batch: str | None,
    as_json: bool,
) -> None:
    """Search what was said in CHANNEL for QUERY. Writes nothing."""
    filters = Filters(after, before, speaker, role or "")
    if batch is not None:
        if channel is not None:
            raise click.UsageError("--batch takes channel and query from its file")
        _batch(chosen.store(), batch, count, filters)
        return
    if channel is None or query is None:
        raise click.UsageError("give CHANNEL and QUERY, or --batch FILE")
    library = Library(chosen.store(), archive=True)
    found = library.found(channel, query, count, filters)
    if as_json:
        told = [candidate_json(one, rank) for rank, one in enumerate(found, 1)]
        record({"channel": channel, "query": query, "candidates": told})
    elif found:
        table(("#", "score", "id", "what"), candidate_rows(found))
    else:
        note("nothing was found")


@dataclass(slots=True)
class Library:
    """The indexes of the channels that were asked, each built from its transcript at the first question."""

    workspace: WorkspaceStore
    archive: bool = False
    clock: Clock = field(default_factory=Clock)
    _words: Words = field(init=False)
    _synonyms: Synonyms = field(init=False)
    _indexes: dict[str, Index] = field(default_factory=dict)

    def __post_init__(self) -> None:
        segmenter = Segmenter(None)
        self._words = Words(segmenter)
        self._synonyms = learnt(self.workspace.human_text("words.txt"), segmenter, self._words)

    def found(self, channel: str, query: str, count: int, filters: Filters) -> tuple[Candidate, ...]:
        """What a channel has to say to a question, best first."""
        if channel not in self._indexes:
            self._indexes[channel] = self._built(channel)
        return search(
            self._indexes[channel],
            query,
            now=self.clock.now(),
            limit=count,
            filters=filters,
            synonyms=self._synonyms,
        )

    def _built(self, channel: str) -> Index:
        store, index = ChannelStore.open(self.workspace, channel, create=False), Index(self._words)
        add_messages(index, store.transcript.messages())
        if self.archive:
            old = Note.read(File.ARCHIVE, store.archive_text(), store.key)
            index.add(replace(item, id=item.id.replace("history:", "archive:", 1)) for item in history_items(old))
        return index


def _batch(workspace: WorkspaceStore, file: str, count: int, filters: Filters) -> None:
    asked, library = questions(file, workspace), Library(workspace)
    for name in dict.fromkeys(question.channel for question in asked):
        library.found(name, _WARMING, 1, filters)
    for question in asked:
        started = time.perf_counter()
        found = library.found(question.channel, question.query, count, filters)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        told = [candidate_json(one, rank) for rank, one in enumerate(found, 1)]
        record({**question.fields, "candidates": told, "elapsed_ms": elapsed})
