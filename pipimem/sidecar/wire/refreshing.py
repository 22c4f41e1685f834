"""The answer to `Refresh` on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from pipimem.sidecar.contracts import Refresh, Refreshed
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import BulletText, Title, decoded, one_line, schema_of

_Items = Annotated[list[BulletText], msgspec.Meta(max_length=8)]


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    title: Title
    current_state: _Items
    user_intent: _Items
    active_files: _Items
    decisions: _Items
    constraints: _Items
    errors: _Items
    next_steps: _Items
    worklog: _Items


# Field of the answer → section of SESSION.md.
_SECTIONS = {
    "current_state": "Current State",
    "user_intent": "User Intent",
    "active_files": "Active Files",
    "decisions": "Decisions",
    "constraints": "Constraints",
    "errors": "Errors & Corrections",
    "next_steps": "Next Steps",
    "worklog": "Worklog",
}


def schema(_: Refresh) -> Schema:
    """The shape of the answer."""
    return schema_of("session", _Answer)


def parsed(answer: str, _: Refresh) -> Refreshed:
    """A model's text as `Refreshed`; raises `AnswerRefused`. An empty list empties its section."""
    got = decoded(answer, _Answer)
    lists: dict[str, list[str]] = {field: getattr(got, field) for field in _SECTIONS}
    sections = {
        _SECTIONS[field]: tuple(dict.fromkeys(one_line(item, field) for item in items))
        for field, items in lists.items()
    }
    title = " ".join(got.title.split())
    return Refreshed({"Session Title": (title,), **sections} if title else sections)
