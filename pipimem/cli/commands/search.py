"""`pipimem search`: the whole transcript and the archive, all time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from shlex import quote
from typing import get_args

import click

from pipimem.cli.options import BATCH_K, BatchQuery, Chosen, as_json, batch, chosen, queries
from pipimem.cli.output import counted, note, record
from pipimem.cli.recalls import ChannelRecalls
from pipimem.cli.results import (
    WARMING,
    answer_all,
    hit_json,
    hit_rows,
    message_json,
    plain_id,
    search_service,
    show_hits,
    show_messages,
    tokens_of,
)
from pipimem.cli.times import past_time
from pipimem.notes.message import Role
from pipimem.runtime.recall_preview import Item
from pipimem.runtime.search_service import (
    Filters,
    Hit,
    HitGroup,
    SearchHit,
    SearchService,
    copies_of,
    differing,
)
from pipimem.text.token_count import estimate

_NO_WORD = (
    "nothing was found: QUERY has no word to look for, only such as everybody says all the time"
)
# What a clear hit is expanded to: about 200 tokens.
_BEFORE, _AFTER = 2, 2
# Of what was said again so many ids, and of the known speakers so many names: nobody reads more.
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
    "--after",
    type=past_time,
    metavar="TIME",
    help="Said on this date or later, as in 2026-03-02, yesterday or 上周.",
)
@click.option(
    "--before",
    type=past_time,
    metavar="TIME",
    help="Said before this date, as in 2026-03-02, today or 本周.",
)
@click.option(
    "--in",
    "where",
    type=click.Choice(["all", "notes", "log"]),
    default="all",
    show_default=True,
    help="In the notes, in what was said, or in both.",
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
    where: str,
    speaker: str,
    role: str | None,
    smart: bool,
    batch: str | None,
    as_json: bool,
) -> None:
    """Search the notes and what was said, all time.

    The notes, the transcript and the archive of CHANNEL are searched for QUERY. No memory is
    changed.

    A hit costs 50 to 100 tokens; `timeline CHANNEL ID` shows what was said around it (about 200),
    `detail CHANNEL ID...` all of it (500 to 1,000).
    """
    _require_some_time(after, before)
    filters = Filters(after, before, speaker.strip(), role or "")
    asked = queries(chosen, channel, query, batch)
    if batch is not None:
        _batch(SearchService(chosen.store(), own=chosen.settings().secrets), asked, count, filters)
        return
    (one,) = asked
    if not one.text.strip():
        raise click.UsageError("QUERY is empty: give some words to look for")
    notes = () if where == "log" else _noted(chosen, one, count, filters)
    with search_service(chosen) as service:
        found = _Found(())
        if where != "notes":
            found = _searched(service, one, count, filters, smart=smart)
        found = replace(found, notes=notes)
        if as_json:
            record({**one.fields, **_json(found, smart=smart)})
        if not found.said and not found.notes:
            note(_nothing(service, one, filters))
        elif not as_json:
            _show(found)


def _require_some_time(after: datetime | None, before: datetime | None) -> None:
    """Raises `UsageError` where no time is between the two."""
    if after and before and after >= before:
        days = f"from {after:%Y-%m-%d %H:%M} on and before {before:%Y-%m-%d %H:%M}"
        raise click.UsageError(f"nothing is said {days}: --after is the earlier one")


def _noted(
    chosen: Chosen, asked: BatchQuery, count: int, filters: Filters
) -> tuple[SearchHit, ...]:
    return tuple(
        ChannelRecalls(chosen, embeds=False).in_notes(asked.channel, asked.text, count, filters)
    )


def _batch(service: SearchService, asked: list[BatchQuery], count: int, filters: Filters) -> None:
    answer_all(
        asked,
        lambda channel: service.found(channel, WARMING, 1, filters),
        lambda one: service.found(one.channel, one.text, count, filters),
        lambda found: {"candidates": [hit_json(hit, hit.rank) for hit in found]},
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Hits with their excerpts; what was said around a clear one, or how to tell them apart.

    `notes` are what the notes have.
    """

    said: tuple[HitGroup, ...]
    excerpts: Sequence[str] = ()
    clear: bool = False
    around: tuple[Item, ...] = ()
    hint: str = ""
    notes: tuple[SearchHit, ...] = ()


def _searched(
    service: SearchService, asked: BatchQuery, count: int, filters: Filters, *, smart: bool
) -> _Found:
    said = service.hit_groups(asked.channel, asked.text, count, filters)
    hits = [one.hit for one in said]
    found = _Found(said, service.excerpts(asked.text, hits))
    if not smart or not hits:
        return found
    if service.is_clear(asked.channel, hits):
        around = service.around(asked.channel, hits[0].slot, _BEFORE, _AFTER)
        return replace(found, clear=True, around=around)
    return replace(found, hint=_hint(hits))


def _json(found: _Found, *, smart: bool) -> dict[str, object]:
    candidates = []
    for rank, (said, excerpt) in enumerate(zip(found.said, found.excerpts, strict=True), 1):
        also = [plain_id(hit.item) for hit in said.again]
        about = message_json(said.hit.item, whole=True) | hit_json(said.hit, rank)
        candidates.append({**about, "excerpt": excerpt, "also": also})
    notes = [hit_json(hit, rank) for rank, hit in enumerate(found.notes, 1)]
    texts = [hit.excerpt for hit in found.notes]
    answer: dict[str, object] = {
        "notes": notes,
        "candidates": candidates,
        "tokens": sum(map(estimate, (*texts, *found.excerpts))),
    }
    if smart:
        timeline = [message_json(item) for item in found.around]
        answer |= {"clear": found.clear, "timeline": timeline, "hint": found.hint}
    return answer


def _show(found: _Found) -> None:
    """The notes, then what was said; a message that a note quotes whole stands beside that note."""
    copies = copies_of([hit.item for hit in found.notes], [one.hit.item for one in found.said])
    quoted = frozenset(chain.from_iterable(copies.values()))
    said = [one for one in found.said if one.hit.item.id not in quoted]
    excerpts = {one.hit.slot: text for one, text in zip(found.said, found.excerpts, strict=True)}
    _show_hits(
        found.notes,
        [hit.excerpt + _quotes(copies.get(hit.item.id, ()), found.said) for hit in found.notes],
        [one.hit for one in said],
        [excerpts[one.hit.slot] + _again(one) for one in said],
        found,
    )


def _show_hits(
    notes: Sequence[SearchHit],
    texts: Sequence[str],
    said: Sequence[Hit],
    lines: Sequence[str],
    found: _Found,
) -> None:
    if texts:
        show_hits(hit_rows(notes, texts))
    if texts and lines:
        click.echo()
    if lines:
        show_hits(hit_rows(said, lines))
    if found.around:
        click.echo()
        show_messages(found.around, found.said[0].hit.item.id)
    tokens = sum(map(estimate, (*texts, *lines))) + tokens_of(found.around)
    more = "`timeline` shows what was said around a hit, `detail` all of it"
    note(found.hint or f"about {tokens} tokens; {more}")


def _quotes(names: Sequence[str], said: Iterable[HitGroup]) -> str:
    """The messages that a note quotes whole, and those that say the same again."""
    groups = [one for one in said if one.hit.item.id in names]
    found = [plain_id(hit.item) for one in groups for hit in (one.hit, *one.again)]
    return f" (said in {_first(found, _IDS)})" if found else ""


def _again(said: HitGroup) -> str:
    """How often the same was said, and where; the first of many."""
    if not said.again:
        return ""
    ids = _first([plain_id(hit.item) for hit in said.again], _IDS)
    return f" (also said {counted(len(said.again), 'time')}: {ids})"


def _first(names: list[str], most: int) -> str:
    """The first of some names, with an ellipsis where there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _nothing(service: SearchService, asked: BatchQuery, filters: Filters) -> str:
    """Why nothing was found, where the filters may be why."""
    if not service.may_find(asked.text):
        return _NO_WORD
    index = service.channel_search(asked.channel).index
    known = list(filter(None, index.speakers))
    if filters.speaker and filters.speaker.casefold() not in map(str.casefold, known):
        return _unknown_speaker(filters.speaker, known)
    if filters.after or filters.before:
        days = f"{index.oldest_day} to {index.newest_day}"
        return f"nothing was found {_limits(filters)}; this channel has messages from {days}"
    if filters != Filters():
        return "nothing was found; without --speaker and --role there may be more"
    return "nothing was found"


def _unknown_speaker(name: str, known: list[str]) -> str:
    others = f"there are {_first(known, _NAMES)}" if known else "nobody has a name"
    return f"nobody is called {name!r} here; {others}"


def _limits(filters: Filters) -> str:
    limits = (("from", filters.after), ("before", filters.before))
    return " ".join(f"{word} {time:%Y-%m-%d %H:%M}" for word, time in limits if time)


def _hint(found: list[Hit]) -> str:
    """How to tell hits apart that are about as good."""
    speakers = differing(hit.item.speaker for hit in found)
    days = sorted(differing(f"{hit.item.when:%Y-%m-%d}" for hit in found if hit.item.when))
    ways = []
    if speakers:
        ways.append(f"--speaker {quote(speakers[0])}")
    if days:
        ways.append(f"--after {days[len(days) // 2]}")
    narrow = f"narrow the search ({', '.join(ways)}), or " if ways else ""
    return f"several hits are about as good: {narrow}look at `timeline CHANNEL ID` of the likeliest"
