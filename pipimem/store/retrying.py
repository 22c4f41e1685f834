"""Methods of a channel that are called again where its lock was lost, or its own folder deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pipimem.errors import LockLost, StoreError
from pipimem.store.identity import ChannelFolder

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _HasFolder(Protocol):
    @property
    def channel_folder(self) -> ChannelFolder: ...


_S = TypeVar("_S", bound=_HasFolder)


def retried_when_deleted(
    method: Callable[Concatenate[_S, _P], _T],
) -> Callable[Concatenate[_S, _P], _T]:
    """A method that is called again where `.pipimem/` was deleted during the first call.

    Or the lock file in it alone: then it is taken anew.
    """

    @wraps(method)
    def call(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except StoreError as error:
            if not is_worth_retrying(error, self.channel_folder):
                raise
            return method(self, *args, **options)

    return call


def is_worth_retrying(error: StoreError, channel_folder: ChannelFolder) -> bool:
    """Whether an error came by a lock that was lost, or by the deletion of `.pipimem/`."""
    return isinstance(error, LockLost) or channel_folder.is_deleted
