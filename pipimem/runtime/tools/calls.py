"""What a call of a tool does: it looks something up in memory, or changes entries of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import Any, Protocol

from msgspec import Struct

from pipimem.errors import ArgumentError, ChannelError, PipimemError, StoreError, described
from pipimem.notes.kinds import File, Kind
from pipimem.recall.items import Item, Source
from pipimem.runtime.note_view import ListedEntry
from pipimem.runtime.notes import ChannelNotes, Remembered
from pipimem.runtime.search_service import SearchHit
from pipimem.runtime.talk import ChannelTalk
from pipimem.runtime.tools.arguments import calls_in, checked, checked_item
from pipimem.runtime.tools.definitions import CHANNEL, Tool, tool_named
from pipimem.text.secrets import redacted

_COUNT = 10
# Entries that a new one may replace.
_SIMILAR = 3
_LEFT_OUT = (
    "Something that somebody asked to keep off the record was left out. Do not guess it. To have it"
    " gone from the transcript, too, the person can use `forget`."
)
_OFF_THE_RECORD = "This turn is off the record: memory may be searched only; nothing was done."
_UNDO = "A person can bring them back with `pipimem undo`."
_FILES = {
    Source.SESSION: str(File.SESSION),
    Source.MEMORY: str(File.MEMORY),
    Source.HISTORY: str(File.HISTORY),
    Source.WORKSPACE: "MEMORY.md of the workspace",
    Source.LOG: "log.jsonl",
}

# How the ids of entries begin.
_ENTRIES = {
    f"{Source.MEMORY}:": File.MEMORY,
    f"{Source.SESSION}:": File.SESSION,
    f"{Source.HISTORY}:": File.HISTORY,
}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers: `value` is for programs, `text` the same as JSON for the model.

    A call that could not be carried out has `is_error`, and its value an `error` in a sentence.
    """

    value: dict[str, Any]
    is_error: bool = False

    @property
    def text(self) -> str:
        """The value as JSON."""
        return json.dumps(self.value, ensure_ascii=False)


class ToolContext(Struct, frozen=True):
    """The parts of a conversation that tools work on, and whether they may only read."""

    notes: ChannelNotes
    talk: ChannelTalk
    time_zone: tzinfo
    is_off_the_record: bool


class ToolCaller(Protocol):
    """A conversation whose tools can be called."""

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Carry out one call of a tool."""


async def called(
    channel: ToolContext, name: str, arguments: Mapping[str, Any] | str | None
) -> ToolResult:
    """Carries out one call of a tool; what the model did wrong is told in the result.

    Raises only what is no mistake of the model: the disk, a damaged store.
    """
    try:
        tool = tool_named(name)
        if channel.is_off_the_record and not tool.reads_only:
            raise ArgumentError(_OFF_THE_RECORD)
        return ToolResult(await _ACTIONS[tool.name](channel, tool, checked(tool, arguments)))
    except StoreError:
        raise
    except PipimemError as error:
        return refused(error)


async def called_in(
    opened: Callable[..., Awaitable[ToolCaller]],
    name: str,
    arguments: Mapping[str, Any] | str | None,
) -> ToolResult:
    """Carries out a call in the channel that its arguments name; `opened` opens one by its id.

    A call for a channel that does not exist makes none.
    """
    try:
        given = checked(tool_named(name, with_channel=True), arguments)
        channel = await opened(given.pop(CHANNEL), create=False)
    except StoreError:
        raise
    except ChannelError:
        # The error's own text names the channels there are, which are not the model's to know.
        return refused(ArgumentError("There is no such conversation here; nothing was done."))
    except PipimemError as error:
        return refused(error)
    return await channel.call_tool(name, given)


def refused(error: Exception) -> ToolResult:
    """The result of a call that could not be carried out."""
    return ToolResult({"error": described(error)}, is_error=True)


# ── searching ─────────────────────────────────────────────────────────────────────────────────────


async def _search(channel: ToolContext, _tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    if "around" in given:
        said = await channel.talk.timeline(_message(given["around"]))
        return {"messages": await _shown(channel, _on_the_record(said)), **_left_out(said)}
    if "ids" in given:
        return await _whole(channel, given["ids"])
    if not given["query"].strip():
        raise ArgumentError("'query' must hold some words to look for.")
    hits = await channel.talk.search(
        given["query"],
        count=given.get("count", _COUNT),
        where=given.get("where", "all"),
        after=_time(channel, given, "after"),
        before=_time(channel, given, "before"),
        speaker=given.get("speaker", ""),
    )
    if hits or not given.get("speaker"):
        items = [hit.item for hit in hits]
        shown = [hit for hit in hits if not hit.item.off_the_record]
        return {"hits": await _hits(channel, shown), **_left_out(items)}
    return {"hits": [], "note": f"Is {given['speaker']!r} how the name is written here?"}


async def _whole(channel: ToolContext, names: Sequence[str]) -> dict[str, Any]:
    """Messages and entries by their ids, each with its whole text or why there is none."""
    known = await whole_entries(channel.notes, names)
    results = []
    for name in names:
        if name in known:
            results.append(known[name])
        elif file_of(name) is not None:
            results.append(
                {"error": f"No entry of {file_of(name)} has the id {name!r} now.", "of": name}
            )
        else:
            results += await _each([name], lambda one: _message_whole(channel, one))
    return {"results": results}


async def _message_whole(channel: ToolContext, name: str) -> dict[str, Any]:
    items = await channel.talk.detail(_message(name))
    if not _on_the_record(items):
        raise ArgumentError(_LEFT_OUT)
    (shown,) = await _shown(channel, items)
    return shown


def _on_the_record(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if not item.off_the_record]


def _left_out(items: Sequence[Item]) -> dict[str, Any]:
    """Return the note that messages were left out, so that the model does not guess."""
    return {"note": _LEFT_OUT} if len(_on_the_record(items)) < len(items) else {}


async def _hits(channel: ToolContext, hits: Sequence[SearchHit]) -> list[dict[str, Any]]:
    return await _shown(channel, [replace(hit.item, text=hit.excerpt) for hit in hits])


async def _shown(channel: ToolContext, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Each item with its text and where it comes from."""
    citations = await cited(channel.talk, items)
    return [
        {"id": item.id, "text": item.text, "source": citation}
        for item, citation in zip(items, citations, strict=True)
    ]


def _message(name: str) -> str:
    return name.removeprefix(f"{Source.LOG}:")


def _time(channel: ToolContext, given: Mapping[str, Any], name: str) -> datetime | None:
    """A time in the zone of the workspace where none is given."""
    if name not in given:
        return None
    try:
        time = datetime.fromisoformat(given[name])
    except ValueError:
        raise ArgumentError(
            f"{name!r} must be a day or a time as 2026-03-01 or 2026-03-01T09:00, "
            f"not {given[name]!r}."
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=channel.time_zone)


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────


async def cited(talk: ChannelTalk, items: Sequence[Item]) -> list[dict[str, Any]]:
    """A citation for each item; what is not known of it is left out."""
    citations = []
    for item, messages in zip(items, await talk.sources(*items), strict=True):
        citation = {
            "file": _FILES[item.source],
            "section": "" if item.source is Source.LOG else item.section,
            "messages": list(messages),
            "date": item.time,
            "speaker": item.speaker,
        }
        citations.append(_known(citation))
    return citations


def cited_entry(file: File, entry: ListedEntry) -> dict[str, Any]:
    """The citation of an entry of a file; what is not known of it is left out."""
    said = entry.since.isoformat(timespec="minutes") if entry.since else ""
    citation = {
        "file": str(file),
        "section": entry.section,
        "messages": list(entry.sources),
        "date": said,
        "speaker": entry.speaker,
    }
    return _known(citation)


def _known(citation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in citation.items() if value}


def file_of(name: str) -> File | None:
    """The file of the entry of an id; `None` where it is the id of a message."""
    return next((file for prefix, file in _ENTRIES.items() if name.startswith(prefix)), None)


async def whole_entries(notes: ChannelNotes, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By their ids the entries of all files of which some are asked for."""
    known: dict[str, dict[str, Any]] = {}
    for prefix, file in _ENTRIES.items():
        if not any(name.startswith(prefix) for name in names):
            continue
        for block in (await notes.view(file)).blocks:
            if block.entry is not None:
                name = f"{prefix}{block.entry.id}"
                known[name] = _entry_whole(notes, file, name, block.entry)
    return known


def _entry_whole(notes: ChannelNotes, file: File, name: str, entry: ListedEntry) -> dict[str, Any]:
    return {
        "id": name,
        "text": notes.masked(entry.text),
        "trust": str(entry.trust),
        "messages": list(entry.sources),
        "source": cited_entry(file, entry),
    }


# ── changing ──────────────────────────────────────────────────────────────────────────────────────


async def _save(channel: ToolContext, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    async def saved(item: Mapping[str, Any]) -> dict[str, Any]:
        one = checked_item(tool, item)
        text = _titled(one["text"], one.get("title", ""), one.get("tags", ()))
        # Before it is there: of two entries that say nearly the same a search shows one.
        similar = await channel.talk.search(text, count=_SIMILAR + 1, where="notes")
        done = await channel.notes.remember(
            text,
            kind=Kind(one.get("kind", Kind.FACT)),
            speaker=one.get("speaker", ""),
            until=_day(one, "until"),
            supersedes=one.get("supersedes", ()),
            as_quote=True,
        )
        known = {f"{Source.MEMORY}:{entry.id}" for entry in await channel.notes.entries()}
        known -= {f"{Source.MEMORY}:{change.id}" for change in done.changes}
        others = [hit for hit in similar if hit.item.id in known]
        return {**_changed(done), "similar": await _hits(channel, others[:_SIMILAR])}

    return await _all(given, saved)


async def _update(channel: ToolContext, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    async def updated(item: Mapping[str, Any]) -> dict[str, Any]:
        one = checked_item(tool, item)
        kind = Kind(one["kind"]) if "kind" in one else None
        return _changed(await channel.notes.update(one["id"], one["text"], kind=kind))

    return await _all(given, updated)


async def _forget(channel: ToolContext, _tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    if "query" in given:
        hits = await channel.talk.search(given["query"], where="notes")
        entries = [hit for hit in hits if hit.item.source is Source.MEMORY]
        return {"would_take_out": await _hits(channel, entries), "taken_out": []}

    async def taken(name: str) -> dict[str, Any]:
        return {"id": name, **_changed(await channel.notes.take_out(name))}

    results = await _each(given["ids"], taken)
    is_done = any("changes" in result for result in results)
    return {"results": results, "note": _UNDO} if is_done else {"results": results}


async def _rate(channel: ToolContext, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    async def rated(item: Mapping[str, Any]) -> dict[str, Any]:
        one = checked_item(tool, item)
        return {
            "id": one["id"],
            **_changed(await channel.notes.rate(one["id"], helpful=one["helpful"])),
        }

    return await _all(given, rated)


async def _all(
    given: Mapping[str, Any], act: Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """One call, or a result for each of several."""
    if "items" in given:
        return {"results": await _each(calls_in(given), act)}
    return await act(given)


async def _each(
    items: Sequence[Any], act: Callable[[Any], Awaitable[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """A result for each item; one that fails says why, the others are carried out."""
    results = []
    for item in items:
        try:
            results.append(await act(item))
        except StoreError:
            raise
        except PipimemError as error:
            results.append({"error": described(error), "of": item})
    return results


def _changed(done: Remembered) -> dict[str, Any]:
    """What became of a change."""
    changes = [
        {
            "done": change.verb,
            "id": f"{Source.MEMORY}:{change.id}",
            "before": change.before,
            "after": change.after,
            "section": change.section,
        }
        for change in done.changes
    ]
    if done.refused:
        raise PipimemError(f"Nothing was changed: {'; '.join(done.refused)}.")
    return {"changes": changes} if changes else {"changes": [], "note": "It stands so already."}


def _titled(text: str, title: str, tags: Sequence[str]) -> str:
    """The line of an entry: its title in front, its tags behind."""
    title, text = title.strip(), text.strip()
    words = [*filter(None, (tag.strip().lstrip("#") for tag in tags))]
    plain = " ".join(filter(None, (title, text, *words)))
    if redacted(plain) != plain:
        return plain  # so that the signs of title and tags hide no secret from who masks it
    line = f"{title}: {text}" if title else text
    return " ".join([line, *(f"#{word}" for word in words)])


def _day(given: Mapping[str, Any], name: str) -> date | None:
    if name not in given:
        return None
    try:
        return date.fromisoformat(given[name])
    except ValueError:
        raise ArgumentError(f"{name!r} must be a day as 2026-03-31, not {given[name]!r}.") from None


_Action = Callable[[ToolContext, Tool, Mapping[str, Any]], Awaitable[dict[str, Any]]]
_ACTIONS: Mapping[str, _Action] = {
    "memory_search": _search,
    "memory_save": _save,
    "memory_update": _update,
    "memory_forget": _forget,
    "memory_feedback": _rate,
}
