"""Changes by a person: of a whole file or one entry, pinned, moved, forgotten, remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.notes.kinds import Kind
from pipimem.runtime.forgetting import ById, Text
from pipimem.runtime.note_edits import EditConflict, EntryPlace, SavedNote
from pipimem.web.pages import Pages
from pipimem.web.request_fields import file_of, json_object, matched, text_of
from pipimem.web.sentences import sentence

# The precondition of what changes nothing that stands there.
_ANYTHING = "*"


class Editing:
    """What the scripts of the channel page ask for.

    If-Match names the mark of the file, or the id of the entry, which is a hash of its words. The
    answer is 412 where that does not stand there any more, with what does and with both merged.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """One for each kind of change."""
        return [
            Route("/channel/file", self._save, methods=["PUT"]),
            Route("/channel/entry", self._save_entry, methods=["PUT"]),
            Route("/channel/entry", self._take_out, methods=["DELETE"]),
            Route("/channel/pin", self._pin, methods=["POST"]),
            Route("/channel/move", self._move, methods=["POST"]),
            Route("/channel/remember", self._remember, methods=["POST"]),
            Route("/channel/forget", self._preview, methods=["GET"]),
            Route("/channel/forget", self._forget, methods=["POST"]),
        ]

    async def _save(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        saved = await channel.notes.save(
            file_of(request),
            text_of(fields, "draft"),
            base=text_of(fields, "base"),
            etag=matched(request),
        )
        return _answer(saved)

    async def _save_entry(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        saved = await channel.notes.save_entry(_place(request, fields), text_of(fields, "draft"))
        return _answer(saved)

    async def _take_out(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        return _answer(await channel.notes.remove_entry(_place(request, fields)))

    async def _pin(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        pinned = fields.get("pinned")
        if not isinstance(pinned, bool):
            raise HTTPException(400, "pinned must be true or false.")
        return _answer(await channel.notes.pin(_place(request, fields), pinned=pinned))

    async def _move(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        return _answer(await channel.notes.move(_place(request, fields), _kind(fields)))

    async def _remember(self, request: Request) -> Response:
        channel, fields = await self._pages.channel(request), await json_object(request)
        if matched(request) != _ANYTHING:
            raise HTTPException(412, "A new entry stands beside whatever there is: If-Match: *")
        done = await channel.notes.remember(text_of(fields, "text"), kind=_kind(fields))
        if done.refused:
            why = sentence(done.refused[0], self._pages.language(request))
            return JSONResponse({"problem": why}, 409)
        return JSONResponse({"added": len(done.changes), "quoted": done.quoted})

    async def _preview(self, request: Request) -> Response:
        """What a forgetting of an entry, or of a text, would remove."""
        channel = await self._pages.channel(request)
        entry, text = request.query_params.get("entry", ""), request.query_params.get("text", "")
        if not entry and not text.strip():
            raise HTTPException(400, "Give an entry or a text.")
        wanted = ById(entry) if entry else Text(text)
        preview = await channel.notes.preview_forget(wanted)
        shown = ("entries", "messages", "speakers")
        return JSONResponse({name: getattr(preview, name) for name in shown})

    async def _forget(self, request: Request) -> Response:
        """Forget for good; the answer is the receipt: how much was removed, and where."""
        channel, fields = await self._pages.channel(request), await json_object(request)
        entry = fields.get("entry", "")
        if not isinstance(entry, str):
            raise HTTPException(400, "entry must be a text.")
        if matched(request) != (entry or _ANYTHING):
            raise HTTPException(412, "If-Match must name the entry, or be * for a text.")
        counts = await channel.notes.forget(ById(entry) if entry else Text(text_of(fields, "text")))
        return JSONResponse({"removed": counts})


def _place(request: Request, fields: Mapping[str, Any]) -> EntryPlace:
    """The entry that a change is about: If-Match has its id. Raises `HTTPException`."""
    return EntryPlace(
        file_of(request), text_of(fields, "section"), matched(request), text_of(fields, "source")
    )


def _kind(fields: Mapping[str, Any]) -> Kind:
    name = text_of(fields, "kind")
    if name not in list(Kind):
        raise HTTPException(400, "There is no such kind.")
    return Kind(name)


def _answer(saved: SavedNote | EditConflict) -> Response:
    match saved:
        case SavedNote():
            return JSONResponse(asdict(saved), headers={"etag": f'"{saved.etag}"'})
        case EditConflict():
            return JSONResponse(asdict(saved), 412)
