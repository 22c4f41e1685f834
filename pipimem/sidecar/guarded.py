"""The host's own assistant: its exceptions and odd answers become `SidecarError`s."""

from __future__ import annotations

import warnings
from typing import Any, Literal, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from pipimem.errors import AnswerRefused, SidecarError, described
from pipimem.notes.operations import Bullet
from pipimem.sidecar.tasks import (
    ANSWERS,
    Answer,
    Assistant,
    Call,
    HistoryItem,
    Rerank,
    Reranked,
    Task,
    check_order,
)

# A class, or an alias such as tuple[str, ...]; no type of its own in Python 3.11.
Hint = Any


class GuardedAssistant(Struct, frozen=True):
    """`Assistant` that calls `inner` and raises its errors as `SidecarError`."""

    inner: Assistant

    @property
    def name(self) -> str:
        """The inner assistant's name."""
        return self.inner.name

    @property
    def paid(self) -> bool:
        """Whether the inner assistant costs something."""
        return self.inner.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The inner assistant's answer. Raises `SidecarError` only."""
        try:
            return checked_answer(await self.inner.answer(task, call), task)
        except SidecarError:
            raise
        except BaseException as error:  # whatever the host's own code raises
            if not isinstance(error, Exception) and not _is_of_another_task(error):
                raise
            raise SidecarError(
                f"the assistant failed with {type(error).__name__}: {described(error)}"
            ) from error


def _is_of_another_task(error: BaseException) -> bool:
    """Return whether an error is the cancellation of something that this task awaited.

    It is the same error as the cancellation of this task.
    """
    import asyncio  # 20 ms, and loaded by now unless the loop is trio's

    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio's loop, which cancels with an error of its own
        task = None
    is_cancelled = task is not None and task.cancelling() > 0
    return isinstance(error, asyncio.CancelledError) and not is_cancelled


def checked_answer(answer: Answer, task: Task) -> Answer:
    """Return a host's answer with each field of the type it is to have; lists become tuples.

    Raises `AnswerRefused`, naming the field. An answer to another task is returned as it is: who
    gave the task refuses it.
    """
    wanted = ANSWERS[type(task)]
    if not isinstance(answer, wanted):
        return answer
    try:
        found = _with_types(answer)
        assert isinstance(found, wanted)
    except (msgspec.ValidationError, TypeError) as reason:
        raise AnswerRefused(
            f"the assistant's {wanted.__name__} has a field of another type: {reason}"
        ) from reason
    if isinstance(task, Rerank) and isinstance(found, Reranked):
        check_order(found, task)
    return found


def _with_types(value: object) -> object:
    """Return a value whose structs have fields of their types.

    Those are the plain types, without the bounds that a model is held to.
    """
    match value:
        case msgspec.Struct():
            kind, hints = type(value), get_type_hints(type(value))
            return kind(
                **{name: _field(value, name, hints[name]) for name in kind.__struct_fields__}
            )
        case list() | tuple() | set() | frozenset():
            return tuple(map(_with_types, value))
        case Bullet():
            # The adapter for assistants written for 0.2, until 0.4.0.
            warnings.warn(
                "an assistant's history has HistoryItem(text, sources) instead of Bullet, which "
                "works until 0.4.0",
                DeprecationWarning,
                stacklevel=2,
            )
            return _with_types(HistoryItem(value.text, value.sources, value.weight))
        case _:
            return value


def _field(struct: msgspec.Struct, name: str, hint: Hint) -> object:
    """The field as its type. Raises `ValidationError`."""
    origin: Hint = get_origin(hint)
    plain = str if origin is Literal else hint
    try:
        return msgspec.convert(_with_types(getattr(struct, name)), plain)
    except msgspec.ValidationError as reason:
        raise msgspec.ValidationError(f"{name}: {reason}") from reason
