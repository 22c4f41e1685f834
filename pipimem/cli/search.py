"""`pipimem search`: the whole transcript and the archive, all time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from shlex import quote
from typing import get_args

import click

from pipimem.cli.batch import BATCH_K, Question, batch, questions
from pipimem.cli.candidates import candidate_json, plain_id
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.passages import library, passage_json, passage_text, tokens_of
from pipimem.cli.printing import counted, note, record, table
from pipimem.cli.times import Time
from pipimem.notes.message import Role
from pipimem.recall.search.confidence import differing
from pipimem.recall.search.excerpts import excerpt, headed
from pipimem.recall.search.filters import Filters
from pipimem.recall.search.grouping import Said
from pipimem.recall.search.hits import Hit
from pipimem.recall.search.index import TranscriptIndex
from pipimem.runtime.library import Library
from pipimem.text.secrets import redacted
from pipimem.text.tokens import estimate

_NO_WORD = (
    "nothing was found: QUERY has no word to look for, only such as everybody says all the time"
)
_WARMING = "warm up 预热"
# What a clear hit is expanded to: about 200 tokens.
_BEFORE, _AFTER = 2, 2
# Of what was said again so many ids, and of unknown speakers' fellows so many names: beyond, nobody reads them.
_IDS, _NAMES = 5, 10


@click.command("search")
@click.argument("channel", required=False)
@click.argument("query", required=False)
@click.option(
    "-k",
    "count",
    type=click.IntRange(min=1),
    default=BATCH_K,
    show_default=True,
    help="How many to show.",
)
@click.option(
    "--after", type=Time(), help="Said on this date or later, as in 2026-03-02, yesterday or 上周."
)
@click.option(
    "--before", type=Time(), help="Said before this date, as in 2026-03-02, today or 本周."
)
@click.option("--speaker", default="", help="Said by this person.")
@click.option("--role", type=click.Choice(get_args(Role)), help="Said in this role.")
@click.option(
    "--smart",
    is_flag=True,
    help="Show what was said around a clear hit, or how to narrow unclear ones.",
)
@batch
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
    smart: bool,
    batch: str | None,
    as_json: bool,
) -> None:
    """Search what was said, all time.

    The transcript and the archive of CHANNEL are searched for QUERY. No memory is changed.

    A hit costs 50 to 100 tokens; `timeline CHANNEL ID` shows what was said around it (about 200), `detail CHANNEL
    ID...` all of it (500 to 1,000).
    """
    if after and before and after >= before:
        told = f"nothing is said from {after:%Y-%m-%d %H:%M} on and before {before:%Y-%m-%d %H:%M}"
        raise click.UsageError(f"{told}: --after is the earlier one")
    filters = Filters(after, before, speaker.strip(), role or "")
    asked = questions(chosen, channel, query, batch)
    if batch is not None:
        _batch(Library(chosen.store()), asked, count, filters)
        return
    (question,) = asked
    if not question.query.strip():
        raise click.UsageError("QUERY is empty: give some words to look for")
    with library(chosen) as shelves:
        _single(shelves, question, count, filters, smart=smart, as_json=as_json)


def _single(
    library: Library,
    question: Question,
    count: int,
    filters: Filters,
    *,
    smart: bool,
    as_json: bool,
) -> None:
    channel, query = question.channel, question.query
    said = library.said(channel, query, count, filters)
    found = [one.hit for one in said]
    clear = smart and library.clear(channel, found)
    around = library.around(channel, found[0].slot, _BEFORE, _AFTER) if clear else ()
    hint = _hint(found) if smart and found and not clear else ""
    wanted = library.words.words(query)
    lines = [_line(hit, wanted, library) for hit in found]
    if as_json:
        told = [
            _json(one, rank, line)
            for rank, (one, line) in enumerate(zip(said, lines, strict=True), 1)
        ]
        timeline = [passage_json(item) for item in around]
        judged = {"clear": clear, "timeline": timeline, "hint": hint} if smart else {}
        record(
            {**question.fields, "candidates": told, "tokens": sum(map(estimate, lines)), **judged}
        )
    if not found:
        note(
            _nothing(library.shelf(channel).index, filters) if library.may_find(query) else _NO_WORD
        )
    if as_json or not found:
        return
    lines = [line + _again(one) for one, line in zip(said, lines, strict=True)]
    cells = [
        (str(rank), f"{hit.score:.3f}", plain_id(hit.item), line)
        for rank, (hit, line) in enumerate(zip(found, lines, strict=True), 1)
    ]
    table(("#", "score", "id", "what"), cells)
    if around:
        click.echo()
        passage_text(around, found[0].item.id)
    shown = sum(map(estimate, lines)) + tokens_of(around)
    note(
        hint
        or f"about {shown} tokens; `timeline` shows what was said around a hit, `detail` all of it"
    )


def _json(said: Said, rank: int, line: str) -> dict[str, object]:
    item = said.hit.item
    more = {"speaker": item.speaker, "excerpt": line, "tokens": estimate(item.text)}
    return (
        candidate_json(said.hit, rank) | more | {"also": [plain_id(hit.item) for hit in said.again]}
    )


def _again(said: Said) -> str:
    """How often the same was said, and where; the first of many."""
    if not said.again:
        return ""
    ids = ", ".join(plain_id(hit.item) for hit in said.again[:_IDS]) + (
        ", …" if len(said.again) > _IDS else ""
    )
    return f" (also said {counted(len(said.again), 'time')}: {ids})"


def _nothing(index: TranscriptIndex, filters: Filters) -> str:
    """Why nothing was found, where the filters may be why."""
    wanted, known = filters.speaker, [name for name in index.speakers if name]
    if wanted and wanted.casefold() not in (name.casefold() for name in known):
        names = ", ".join(known[:_NAMES]) + (", …" if len(known) > _NAMES else "")
        return f"nobody is called {wanted!r} here" + (
            f"; there are {names}" if names else "; nobody has a name"
        )
    if filters.after or filters.before:
        limits = (("from", filters.after), ("before", filters.before))
        asked = " ".join(f"{word} {time:%Y-%m-%d %H:%M}" for word, time in limits if time)
        return f"nothing was found {asked}; what was said here is of {index.oldest_day} to {index.newest_day}"
    if filters != Filters():
        return "nothing was found; without --speaker and --role there may be more"
    return "nothing was found"


def _line(hit: Hit, wanted: Sequence[str], library: Library) -> str:
    """What an index says of a hit."""
    return headed(hit.item, excerpt(redacted(hit.item.text), wanted, library.words))


def _hint(found: Sequence[Hit]) -> str:
    """How to tell hits apart that are about as good."""
    speakers = differing(hit.item.speaker for hit in found)
    days = sorted(differing(f"{hit.item.when:%Y-%m-%d}" if hit.item.when else "" for hit in found))
    ways = [f"--speaker {quote(speakers[0])}"] if speakers else []
    ways += [f"--after {days[len(days) // 2]}"] if days else []
    narrow = f"narrow the search ({', '.join(ways)}), or " if ways else ""
    return f"several hits are about as good: {narrow}look at `timeline CHANNEL ID` of the likeliest"


def _batch(library: Library, asked: Sequence[Question], count: int, filters: Filters) -> None:
    for name in dict.fromkeys(question.channel for question in asked):
        library.found(name, _WARMING, 1, filters)
    for question in asked:
        started = time.perf_counter()
        found = library.found(question.channel, question.query, count, filters)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        told = [candidate_json(hit, hit.rank) for hit in found]
        record({**question.fields, "candidates": told, "elapsed_ms": elapsed})
