"""Names of 0.1 and 0.2 on a channel: they work until 0.4.0, and warn with the new name."""

# ruff: noqa: ANN401 - attributes of any type

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from pipimem.errors import ArgumentError
from pipimem.runtime.forgetting import By, ById, ForgetPreview, Typed, What
from pipimem.runtime.note_edits import EditConflict, EntryPlace, SavedNote
from pipimem.runtime.transcript_recall import Visible

if TYPE_CHECKING:
    from pipimem.runtime.notes import ChannelNotes

C = TypeVar("C")

# By the old name of an attribute of `Channel`, the path of the new one.
OLD_NAMES = {
    "entries": "notes.entries",
    "remember": "notes.remember",
    "update": "notes.update",
    "take_out": "notes.take_out",
    "rate": "notes.rate",
    "masked": "notes.masked",
    "forget": "notes.forget",
    "files": "notes",
    "search": "talk.search",
    "timeline": "talk.timeline",
    "detail": "talk.detail",
    "sources": "talk.sources",
    "retract": "talk.retract",
    "take_in": "talk.append",
    "transcript": "talk",
    "preview": "preview_turn",
}
# The same of what `Channel.files` returned.
OLD_FILE_NAMES = {"take_out": "remove_entry", "forget_preview": "preview_forget"}


def with_old_names(**parts: type) -> Callable[[type[C]], type[C]]:
    """Give a class the old names of its parts' methods, and `before_turn` its old parameter.

    `parts` are the classes of the parts by their names.
    """

    def named(channel: type[C]) -> type[C]:
        for old, path in OLD_NAMES.items():
            setattr(channel, old, _OldName(old, path, parts))
        channel.before_turn = _with_sees_from(channel.before_turn)  # type: ignore[attr-defined]
        return channel

    return named


def _warn(old: str, new: str) -> None:
    message = f"{old} is deprecated and goes in pipimem 0.4.0: use {new}."
    warnings.warn(message, DeprecationWarning, stacklevel=3)  # at the caller's line


class _OldName(Struct, frozen=True):
    """An attribute of a class that warns, and gives what stands at a path today."""

    old: str
    path: str
    parts: Mapping[str, type]

    def __get__(self, channel: Any, owner: type) -> Any:
        if channel is None:
            return _OldSignature(inspect.signature(self._of_class(owner)))
        _warn(f"Channel.{self.old}", f"Channel.{self.path}")
        found = attrgetter(self.path)(channel)
        match self.old:
            case "forget":
                return partial(_forget, found)
            case "files":
                return _OldFiles(found)
        return found

    def _of_class(self, owner: type) -> Any:
        """What a signature is read from."""
        if self.old == "forget":
            return _forget
        part, _, name = self.path.rpartition(".")
        return getattr(self.parts.get(part, owner), name) if part else self.parts.get(name, owner)


class _OldSignature:
    """An old method on the class: `inspect.signature` reads what it takes."""

    def __init__(self, signature: inspect.Signature) -> None:
        self.__signature__ = signature

    def __call__(self) -> None:
        """Raise `TypeError`: it is called on a channel."""
        raise TypeError("call it on a channel")


class _OldFiles(Struct, frozen=True):
    """`Channel.files` of 0.2: `Channel.notes` with the old names of two methods."""

    _notes: ChannelNotes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._notes, name)

    def take_out(self, place: EntryPlace) -> Awaitable[SavedNote | EditConflict]:
        """Remove an entry of a file."""
        _warn("Channel.files.take_out", "Channel.notes.remove_entry")
        return self._notes.remove_entry(place)

    def forget_preview(self, what: str | Sequence[str]) -> Awaitable[ForgetPreview]:
        """Return what a `forget` would remove."""
        _warn("Channel.files.forget_preview", "Channel.notes.preview_forget")
        return self._notes.preview_forget(_what(what))


def _forget(
    forget: Callable[..., Awaitable[dict[str, int]]],
    what: str | Sequence[str] = (),
    *,
    speaker: str = "",
    message: str = "",
    keep_transcript: bool = False,
    inside_words: bool = False,
) -> Awaitable[dict[str, int]]:
    """`Channel.forget` of 0.2 by that of `ChannelNotes`."""
    wanted = _what(what, speaker=speaker, message=message, inside_words=inside_words)
    return forget(wanted, keep_transcript=keep_transcript)


def _what(
    what: str | Sequence[str], *, speaker: str = "", message: str = "", inside_words: bool = False
) -> What:
    """Return the value for what was several parameters. Raises `ArgumentError`."""
    if isinstance(what, str) and what:
        if message:
            raise ArgumentError("Give a text or the id of a message, not both.")
        return By(speaker, what, inside_words) if speaker else Typed(what, inside_words)
    if not isinstance(what, Sequence):
        raise ArgumentError("what must be a text, or ids of entries.")
    found: list[By | ById] = [ById(name, inside_words) for name in what]
    if message:
        found.append(ById(f"log:{message.removeprefix('log:')}", inside_words))
    if speaker:
        found.append(By(speaker, inside_words=inside_words))
    return found


def _with_sees_from(before_turn: Callable[..., Awaitable[C]]) -> Callable[..., Awaitable[C]]:
    """The method with its parameter of 0.1: `""` for the newest, `None` for nothing, or an id."""

    @wraps(before_turn)
    async def call(*arguments: Any, **options: Any) -> C:
        if "sees_from" in options:
            since = options.pop("sees_from")
            _warn("sees_from=", "visible=")
            nothing = Visible.NOTHING if since is None else Visible.NEWEST
            options["visible"] = since or nothing
        return await before_turn(*arguments, **options)

    return call
