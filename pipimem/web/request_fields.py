"""What a request says, checked: its JSON object, its query, its precondition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.message import YEARS

# The longest note that can be edited here; the store refuses longer ones as well.
_MOST_BYTES = 8_000_000


async def json_object(request: Request) -> Mapping[str, Any]:
    """The body as an object. Raises `HTTPException` for another one, and for a very long one."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "This is too long to be edited in a page.")
    try:
        value = msgspec.json.decode(bytes(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, "The body is no JSON.") from error
    if not isinstance(value, dict):
        raise HTTPException(400, "The body is no JSON object.")
    return value


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """A field that must be a text. Raises `HTTPException`."""
    value = fields.get(name)
    if not isinstance(value, str):
        raise HTTPException(400, f"{name} must be a text.")
    return value


def file_of(request: Request) -> File:
    """The file that the query names, MEMORY.md without one. Raises `HTTPException`."""
    name = request.query_params.get("file", File.MEMORY)
    for file in NOTE_FILES:
        if name == file:
            return file
    raise HTTPException(404, "There is no such file.")


def number_of(request: Request, name: str, default: int, least: int = 1) -> int:
    """A whole number of the query, `default` where there is none. Raises `HTTPException`."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= least):
        raise HTTPException(400, f"{name} must be a whole number from {least} on.")
    return int(text)


def day_of(request: Request, name: str) -> date | None:
    """A day of the query, `None` where there is none. Raises `HTTPException`.

    Days of years in which nobody can have talked are refused: some have no day after them.
    """
    text = request.query_params.get(name, "")
    try:
        day = date.fromisoformat(text) if text else None
    except ValueError as error:
        raise HTTPException(400, f"{name} must be a day, as 2026-03-02.") from error
    if day is not None and day.year not in YEARS:
        raise HTTPException(400, f"{name} must be in a year from {YEARS.start} on.")
    return day


def matched(request: Request) -> str:
    """The mark that If-Match names, without its quotes."""
    return request.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
