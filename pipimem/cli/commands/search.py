"""`pipimem search`: the whole transcript and the archive, all time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from shlex import quote
from typing import TypedDict, get_args

import click

from pipimem.cli.options import BATCH_K, BatchQuery, Chosen, as_json, batch, chosen, queries
from pipimem.cli.output import counted, note, record
from pipimem.cli.recalls import opened_recall, opened_talk
from pipimem.cli.results import (
    WARMING,
    answer_all,
    hit_json,
    hit_rows,
    message_json,
    show_hits,
    show_messages,
    tokens_of,
)
from pipimem.cli.times import past_time
from pipimem.notes.message import Role
from pipimem.runtime.opened_parts import run_alone
from pipimem.runtime.recall_preview import Item, SearchHit, Source
from pipimem.runtime.search_service import SearchAnswer, copies_of, differing
from pipimem.runtime.talk import ChannelTalk, Where
from pipimem.text.token_count import estimate

_NO_WORD = (
    "nothing was found: QUERY has no word to look for, only such as everybody says all the time"
)
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
    where: Where,
    speaker: str,
    role: Role | None,
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
    narrowed = _Narrowed(after, before, speaker.strip(), role)
    asked = queries(chosen, channel, query, batch)
    if batch is not None:
        _batch(chosen, asked, count, narrowed)
        return
    (one,) = asked
    if not one.text.strip():
        raise click.UsageError("QUERY is empty: give some words to look for")
    with opened_talk(chosen, one.channel) as talk:
        found = run_alone(talk.answer(one.text, count=count, where=where, **narrowed.options()))
        if as_json:
            record({**one.fields, **_json(found, smart=smart)})
        if not found.said and not found.notes:
            note(_nothing(talk, found, narrowed))
        elif not as_json:
            _show(found, smart=smart)


class _Options(TypedDict):
    after: datetime | None
    before: datetime | None
    speaker: str
    role: Role | None


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """What a search is narrowed to: from a time on, before a time, said by a person, in a role."""

    after: datetime | None
    before: datetime | None
    speaker: str
    role: Role | None

    def options(self) -> _Options:
        """The same by the names of a search's options."""
        return _Options(after=self.after, before=self.before, speaker=self.speaker, role=self.role)


def _require_some_time(after: datetime | None, before: datetime | None) -> None:
    """Raises `UsageError` where no time is between the two."""
    if after and before and after >= before:
        days = f"from {after:%Y-%m-%d %H:%M} on and before {before:%Y-%m-%d %H:%M}"
        raise click.UsageError(f"nothing is said {days}: --after is the earlier one")


def _batch(chosen: Chosen, asked: list[BatchQuery], count: int, narrowed: _Narrowed) -> None:
    opened = opened_recall(chosen, archive=False)

    def ranked(channel: str, query: str, count: int) -> tuple[SearchHit, ...]:
        return run_alone(opened.talk(channel).ranked(query, count=count, **narrowed.options()))

    answer_all(
        asked,
        lambda channel: ranked(channel, WARMING, 1),
        lambda one: ranked(one.channel, one.text, count),
        lambda found: {"candidates": [hit_json(hit, rank) for rank, hit in enumerate(found, 1)]},
    )


def _json(found: SearchAnswer, *, smart: bool) -> dict[str, object]:
    candidates = []
    for rank, said in enumerate(found.said, 1):
        about = message_json(said.item, whole=True) | hit_json(said, rank)
        candidates.append({**about, "excerpt": said.excerpt, "also": _plain_ids(said.also)})
    answer: dict[str, object] = {
        "notes": [hit_json(hit, rank) for rank, hit in enumerate(found.notes, 1)],
        "candidates": candidates,
        "tokens": sum(estimate(hit.excerpt) for hit in (*found.notes, *found.said)),
    }
    if smart:
        timeline = [message_json(item) for item in found.around]
        hint = _hint(found.said) if found.said and not timeline else ""
        answer |= {"clear": bool(timeline), "timeline": timeline, "hint": hint}
    return answer


def _show(found: SearchAnswer, *, smart: bool) -> None:
    """The notes, then what was said; a message that a note quotes whole stands beside that note."""
    copies = copies_of([hit.item for hit in found.notes], [hit.item for hit in found.said])
    quoted = frozenset(chain.from_iterable(copies.values()))
    said = [hit for hit in found.said if hit.item.id not in quoted]
    texts = [hit.excerpt + _quotes(copies.get(hit.item.id, ()), found.said) for hit in found.notes]
    lines = [hit.excerpt + _again(hit) for hit in said]
    _show_both(list(hit_rows(found.notes, texts)), list(hit_rows(said, lines)))
    if smart:
        _show_around(found, [*texts, *lines])
    else:
        note(_cost([*texts, *lines], ()))


def _show_around(found: SearchAnswer, shown: Sequence[str]) -> None:
    """The talk around the first hit if it is clearly the answer, else how to narrow the search."""
    if found.around:
        click.echo()
        show_messages(found.around, found.said[0].item.id)
    hint = _hint(found.said) if found.said and not found.around else ""
    note(hint or _cost(shown, found.around))


def _show_both(notes: Sequence[tuple[str, ...]], said: Sequence[tuple[str, ...]]) -> None:
    if notes:
        show_hits(notes)
    if notes and said:
        click.echo()
    if said:
        show_hits(said)


def _cost(texts: Iterable[str], around: Sequence[Item]) -> str:
    """How many tokens were shown, and how to see more."""
    tokens = sum(map(estimate, texts)) + tokens_of(around)
    more = "`timeline` shows what was said around a hit, `detail` all of it"
    return f"about {tokens} tokens; {more}"


def _plain_ids(names: Iterable[str]) -> list[str]:
    """The own ids of messages, as the transcript has them."""
    return [name.removeprefix(f"{Source.LOG}:") for name in names]


def _quotes(names: Sequence[str], said: Iterable[SearchHit]) -> str:
    """The messages that a note quotes whole, and those that say the same again."""
    quoted = [hit for hit in said if hit.item.id in names]
    found = _plain_ids(name for hit in quoted for name in (hit.item.id, *hit.also))
    return f" (said in {_first(found, _IDS)})" if found else ""


def _again(said: SearchHit) -> str:
    """How often the same was said, and where; the first of many."""
    if not said.also:
        return ""
    ids = _first(_plain_ids(said.also), _IDS)
    return f" (also said {counted(len(said.also), 'time')}: {ids})"


def _first(names: list[str], most: int) -> str:
    """The first of some names, with an ellipsis where there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _nothing(talk: ChannelTalk, found: SearchAnswer, narrowed: _Narrowed) -> str:
    """Why nothing was found, where the filters may be why."""
    if not found.has_words:
        return _NO_WORD
    extent = run_alone(talk.extent())
    known = list(extent.speakers)
    if narrowed.speaker and narrowed.speaker.casefold() not in map(str.casefold, known):
        return _unknown_speaker(narrowed.speaker, known)
    if narrowed.after or narrowed.before:
        days = f"{extent.oldest_day} to {extent.newest_day}"
        return f"nothing was found {_limits(narrowed)}; this channel has messages from {days}"
    if narrowed.speaker or narrowed.role:
        return "nothing was found; without --speaker and --role there may be more"
    return "nothing was found"


def _unknown_speaker(name: str, known: list[str]) -> str:
    others = f"there are {_first(known, _NAMES)}" if known else "nobody has a name"
    return f"nobody is called {name!r} here; {others}"


def _limits(narrowed: _Narrowed) -> str:
    limits = (("from", narrowed.after), ("before", narrowed.before))
    return " ".join(f"{word} {time:%Y-%m-%d %H:%M}" for word, time in limits if time)


def _hint(found: Sequence[SearchHit]) -> str:
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
