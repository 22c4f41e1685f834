"""A method of a channel as an operation that observers are told of."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from pipimem.observer import Operation, OperationKind
from pipimem.runtime.channel_entries import ChannelEntries
from pipimem.runtime.turns import Receipt, Turn

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Self = TypeVar("_Self", bound=ChannelEntries)


def observed(
    kind: OperationKind, method: Callable[Concatenate[_Self, _P], Coroutine[Any, Any, _T]]
) -> Callable[Concatenate[_Self, _P], Coroutine[Any, Any, _T]]:
    """The method, each call of which is an operation; its result says what came of it."""

    @wraps(method)
    async def call(self: _Self, /, *args: _P.args, **options: _P.kwargs) -> _T:
        with self._jobs.observers.of(kind, self._store.channel_id) as operation:
            result = await method(self, *args, **options)
            note_result(operation, result)
        return result

    return call


def note_result(operation: Operation, result: object) -> None:
    """Fill in what a result says: how many entries were found or taken out, and the outcome."""
    match result:
        case Turn():
            operation.records = len(result.shown)
            if result.recall is None:
                operation.outcome = "silent"
        case Receipt():
            operation.outcome = result.state
        case tuple():
            operation.records = len(result)
        case dict():
            operation.records = sum(count for count in result.values() if isinstance(count, int))
