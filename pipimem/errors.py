"""The error tree: everything pipimem raises on purpose stands here.

PipimemError
├── ArgumentError            a host handed in a value of another type
├── SettingsError            pipimem.toml says something that is not understood
├── WorkspaceError           the folder is not a workspace, or cannot be used as one
├── ChannelError             a channel is unknown, or its folder belongs to another channel
│   └── ChannelMoved         it was moved to another workspace, or is being moved
├── UnreadableNote           a Markdown file is binary, too large or not UTF-8
├── TranscriptError          a recorded conversation has a broken line
├── ArchiveError             an archive or another program's files cannot be taken in
├── StoreError               the disk refused: full, read-only, broken
│   ├── LockTimeout          another process holds the channel for too long
│   ├── LockLost             the lock was taken by another, or its file replaced, while it was held
│   ├── DatabaseUnavailable  the database of a fleet does not answer
│   ├── DamagedState         a `state.db` is damaged, or another channel's
│   └── CommitUnsure         nobody knows whether a change was written
├── SidecarError             the model gave no answer that can be used
│   ├── ModelUnavailable     no key, unknown model, no connection, refused
│   ├── ModelTimeout         no answer in time
│   ├── BudgetSpent          the day's budget holds no further request
│   ├── NoProgress           the same question was just answered, and nothing came of it
│   └── AnswerRefused        an answer that may not change memory
├── CannotTakeBack           a change cannot be undone: later ones stand on it, or it is for good
└── NothingFound             what was asked for is not there
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import datetime
from types import NoneType
from typing import TYPE_CHECKING


def described(error: BaseException) -> str:
    """The text of an exception; the `__str__` of one that is not ours may itself raise."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the sentence about the first error is written
        return "it cannot say what is wrong"


class PipimemError(Exception):
    """Base of every error pipimem raises; its text says what to do next."""


class ArgumentError(PipimemError, TypeError):
    """A value that was handed in is of another type; nothing was stored."""


class SettingsError(PipimemError):
    """A key or value in pipimem.toml is not understood."""


class WorkspaceError(PipimemError):
    """The folder is not a workspace, or cannot be used as one."""


class ChannelError(PipimemError):
    """A channel is unknown, or its folder belongs to another channel."""


class ChannelMoved(ChannelError):
    """A channel was moved to another workspace, or is being moved; nothing is written here."""


class UnreadableNote(PipimemError):
    """A Markdown file is binary, too large or not UTF-8; it is left as it is."""


class TranscriptError(PipimemError):
    """A recorded conversation has a broken line; nothing of it was taken in."""


class ArchiveError(PipimemError):
    """An archive, or what another program kept, cannot be taken in; nothing of it was."""


class StoreError(PipimemError):
    """The disk refused: full, read-only or broken."""


class LockTimeout(StoreError):
    """Another process holds the channel for too long."""


class LockLost(StoreError):
    """The lock was taken by another, or its file replaced, while it was held; nothing was written.

    In a fleet what was just being written may be there: it is looked for before it is tried again.
    """


class DatabaseUnavailable(StoreError):
    """The database in which several hosts agree who writes does not answer, or refuses."""


class DamagedState(StoreError):
    """A `state.db` is damaged, or another channel's; the next change sets it aside."""


class CommitUnsure(StoreError):
    """A transaction ended with an error, and nobody knows whether it counts: look, then go on."""


class SidecarError(PipimemError):
    """The model gave no answer that can be used.

    `quote` is what a provider said, who may quote what was asked: the usage ledger, in which no
    forgetting looks, keeps the `sentence` before it alone.
    """

    def __init__(self, sentence: str = "", quote: str = "") -> None:
        super().__init__(f"{sentence}: {quote}" if quote else sentence)
        self.sentence = sentence


class ModelUnavailable(SidecarError):
    """No key, an unknown model, no connection, or the provider refused."""


class ModelTimeout(SidecarError):
    """The model gave no answer in time."""


class BudgetSpent(SidecarError):
    """The day's budget of tokens or money is used up: no model is asked until tomorrow."""


class NoProgress(SidecarError):
    """The same question was just answered, and nothing came of it."""


class AnswerRefused(SidecarError):
    """A model's answer may not change memory: cut, malformed, foreign ids, too destructive.

    `field` is the field of the answer that is wrong; empty where the whole answer is.
    """

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class CannotTakeBack(PipimemError):
    """A change cannot be undone: later ones stand on it, or it is for good; nothing was changed."""


class NothingFound(PipimemError):
    """What was asked for is not there."""


if not TYPE_CHECKING:  # or checkers would accept every name

    def __getattr__(name: str) -> object:
        """Return `DamagedState` by its name of 0.2, with a warning; it goes in 0.4.0."""
        if name != "JournalError":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warnings.warn(
            "pipimem.errors.JournalError is DamagedState now; the old name works until 0.4.0",
            DeprecationWarning,
            stacklevel=2,
        )
        return DamagedState


def worded(error: Exception) -> str:
    """An error as a sentence; the system's refusal with the file it is about."""
    if not isinstance(error, OSError):
        return str(error)
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"the system refused: {reason}"


def require_type(value: object, kind: type | tuple[type, ...], name: str, hint: str = "") -> None:
    """Raises `ArgumentError` unless a value is of a type; `hint` says what to give instead."""
    if isinstance(value, kind):
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = " or ".join(each.__name__.replace("NoneType", "None") for each in kinds)
    found = "None" if value is None else type(value).__name__
    raise ArgumentError(f"{name} must be {wanted}, not {found}. {hint}".rstrip())


def require_one_of(value: object, known: Iterable[str], name: str) -> None:
    """Raises `ArgumentError` unless a value is one of some words."""
    words = list(known)
    if value not in words:
        raise ArgumentError(
            f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {value!r}."
        )


def require_count(value: object, name: str, least: int = 1) -> None:
    """Raises `ArgumentError` unless a value is a whole number from `least` on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"{name} must be a whole number from {least} on, not {value!r}.")


def require_time(time: object, name: str) -> None:
    """Raises `ArgumentError` unless it is a time with its offset, or `None`."""
    require_type(time, (datetime, NoneType), name, "Give a time with its offset, or None.")
    if isinstance(time, datetime) and time.tzinfo is None:
        raise ArgumentError(
            f"{name} has no offset: give a time like datetime.now().astimezone(), or None."
        )
