"""Arguments of public calls, checked with a sentence that says what to give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from os import PathLike
from types import NoneType

from pipimem.clock import Clock
from pipimem.errors import ArgumentError, require_count, require_type
from pipimem.settings import Settings

# What hosts have in its place is a message of parts.
_TEXT_HINT = "Join the texts of its parts; a message without words is an empty one."


def require_question(text: object, speaker: object) -> None:
    """Raises `ArgumentError` unless both are texts."""
    require_type(text, str, "text", _TEXT_HINT)
    require_type(speaker, str, "speaker", "Without a name it is empty.")


def require_limit(limit: object) -> None:
    """Raises `ArgumentError` unless it says how many at most, or is `None`."""
    if limit is not None:
        require_count(limit, "limit")


def require_deadline(seconds: object) -> None:
    """Raises `ArgumentError` unless it is a number of seconds, or `None`."""
    require_type(seconds, (int, float, NoneType), "deadline", "Give seconds.")
    if isinstance(seconds, float) and math.isnan(seconds):
        raise ArgumentError("deadline must be a number of seconds, not NaN.")


def require_time(time: object, name: str) -> None:
    """Raises `ArgumentError` unless it is a time with its offset, or `None`."""
    require_type(time, (datetime, NoneType), name, "Give a time with its offset, or None.")
    if isinstance(time, datetime) and time.tzinfo is None:
        raise ArgumentError(
            f"{name} has no offset: give a time like datetime.now().astimezone(), or None."
        )


def require_point(point: object, name: str) -> None:
    """Raises `ArgumentError` unless it is a time with its offset, or the number of a change."""
    if isinstance(point, datetime):
        require_time(point, name)
        return
    require_type(point, int, name, "Give a time, or the number of a change; `log` has them.")
    require_count(point, name, least=0)


def require_targets(what: object, speaker: object, message: object) -> None:
    """Raises `ArgumentError` unless there is a text, ids, a speaker or a message to forget."""
    hint = "Give a text, or ids of entries."
    require_type(what, (str, Sequence), "what", hint)
    # A text is a sequence too, and one of a million letters would hold the event loop.
    if isinstance(what, Sequence) and not isinstance(what, str):
        for each in what:
            require_type(each, str, "what", hint)
    require_type(speaker, str, "speaker", "For nobody's words it is empty.")
    require_type(message, str, "message", "Give the id of a message.")
    if not (what or speaker or message):
        raise ArgumentError("There is nothing to forget: give a text, ids, speaker or message.")


def require_parts(
    workspace: object,
    model: object,
    settings: object,
    clock: object,
    keeps_context: object,
    assistant: object,
    embedder: object,
) -> None:
    """Raises `ArgumentError` for what no `Pipimem` can be made of."""
    require_type(workspace, (str, PathLike), "workspace", "Give the folder's path.")
    require_type(model, str, "model", 'Give litellm\'s name of it, as "openai/gpt-5-mini".')
    require_type(settings, (Settings, NoneType), "settings", "pipimem.toml is read without any.")
    require_type(clock, (Clock, NoneType), "clock", "Give a pipimem.Clock.")
    require_type(keeps_context, (bool, NoneType), "keeps_context")
    for name, value in (("assistant", assistant), ("embedder", embedder)):
        if isinstance(value, (str, bytes, int, float, dict)):
            raise ArgumentError(
                f"{name} must be an object of yours, not {value!r}. A model is named by `model`, "
                "an embedder in pipimem.toml: name under [embedder]."
            )
