"""Exceptions in the background: planted once, in nothing the host asked for, and judged."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest
from benchmarks.background.__main__ import DIED, HUNG, LAME, LIVES, SILENT, UNMET, judged
from benchmarks.background.planting import Planted, planted, the_hosts_own_call, watched
from benchmarks.background.plugs import Letters
from benchmarks.faults.child import Ended
from pipimem.runtime.channel import no_op

from tests.cases import each

ENTRY = "runtime/channel:no_op"
Line = tuple[object, ...]


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    """No other test is watched."""
    before = sys.gettrace()
    yield
    sys.settrace(before)
    threading.settrace(before)  # type: ignore[arg-type]


def test_what_runs_in_the_background_is_found() -> None:
    """Functions of the runtime, those they call, and what is plugged in; no call of the host's."""
    seen: list[str] = []
    watched(seen.append)
    with the_hosts_own_call():
        no_op(None)  # type: ignore[arg-type]
    assert seen == []
    no_op(None)  # type: ignore[arg-type]
    with the_hosts_own_call():
        Letters().queries(["tea"])
    assert seen == [ENTRY, "plugged in:Letters.queries"]


def test_an_exception_is_planted_once_and_not_in_a_call_of_the_hosts() -> None:
    """In a thread that begins later as well."""
    told: list[str] = []
    caught: list[Exception] = []

    def background() -> None:
        for _ in range(2):
            try:
                no_op(None)  # type: ignore[arg-type]
            except Planted as error:
                caught.append(error)

    planted(ENTRY, lambda: told.append("done"))
    with the_hosts_own_call():
        no_op(None)  # type: ignore[arg-type]
    thread = threading.Thread(target=background)
    thread.start()
    thread.join()
    assert (told, [str(error) for error in caught]) == (["done"], [f"planted in {ENTRY}"])


@each(
    ("how", "said", "verdict"),
    [
        ("done", [("planted",), ("logged", "ERROR: team: refresh"), ("alive",)], LIVES),
        ("done", [("logged", "long before"), ("planted",), ("alive",)], SILENT),
        ("done", [("planted",), ("logged", "x"), ("wrong", "before_turn"), ("alive",)], LAME),
        ("done", [("alive",)], UNMET),
        ("raised", [("planted",), ("raised", ["KeyError"], "x", "a traceback")], DIED),
        ("hung", [("planted",)], HUNG),
    ],
)
def test_a_host_is_judged_by_what_it_said(how: str, said: list[Line], verdict: str) -> None:
    """It lives where it ends as it should, its calls go well, and its operator is told."""
    assert judged(ENTRY, "trio", Ended(how, tuple(said))).how == verdict
