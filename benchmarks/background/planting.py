"""The functions that run in the background, found by watching, and an exception in one of them.

A tracer sees every function of pipimem begin, in every thread. What begins while the host is inside
one of its own calls is the host's; all else is the background's, whatever it is named. So no list
of entry points has to be kept. What the host has plugged in may raise in a turn as well.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType

import pipimem

from benchmarks.background import plugs

_OURS = f"{Path(pipimem.__file__).parent}/"
_RUNTIME = f"{_OURS}runtime/"
_is_of_the_host: ContextVar[bool] = ContextVar("is_of_the_host", default=False)


class Planted(Exception):
    """A bug that nobody expects."""


@contextmanager
def the_hosts_own_call() -> Iterator[None]:
    """What begins in here, in any thread, the host has asked for."""
    token = _is_of_the_host.set(True)
    try:
        yield
    finally:
        _is_of_the_host.reset(token)


def name_of(code: CodeType) -> str:
    """A function as a reader finds it: its file below `pipimem/`, and its qualified name."""
    path = code.co_filename
    name = "plugged in" if path == plugs.__file__ else path.removeprefix(_OURS).removesuffix(".py")
    return f"{name}:{code.co_qualname}"


def watched(tell: Callable[[str], None]) -> None:
    """Tells once of each function in the background, of the runtime or called by it."""
    known: set[CodeType] = set()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code not in known and _is_background(frame):
            known.add(frame.f_code)
            tell(name_of(frame.f_code))

    _trace(seen)


def planted(name: str, done: Callable[[], None]) -> None:
    """Raises `Planted` the first time that function begins there; `done` hears of it before."""
    first = threading.Lock()

    def raising(frame: FrameType, event: str, _: object) -> None:
        is_it = event == "call" and _is_background(frame) and name_of(frame.f_code) == name
        if is_it and first.acquire(blocking=False):
            done()
            raise Planted(f"planted in {name}")

    _trace(raising)


def _is_background(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if frame.f_code.co_name.startswith("<"):  # a lambda, a comprehension: a part of its caller
        return False
    if path == plugs.__file__:
        return True
    if not path.startswith(_OURS) or _is_of_the_host.get():
        return False
    caller = frame.f_back
    return _RUNTIME in path or caller is None or _RUNTIME in caller.f_code.co_filename


def _trace(seen: Callable[[FrameType, str, object], None]) -> None:
    """From now on in this thread and in all that come: asked once a call, for it wants no lines."""
    threading.settrace(seen)
    sys.settrace(seen)
