"""Wrong arguments of public calls are told in a sentence, before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pipimem import By, ById, Pipimem, Text
from pipimem.errors import ArgumentError
from pipimem.runtime.channel import Channel
from pipimem.runtime.forgetting import require_target

from tests.cases import each
from tests.runtime.test_channel_by_hand import opened, workspace

NAIVE = datetime(2026, 3, 1, 12, 0)  # noqa: DTZ001 - it is the one that is refused


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": 5}, "model must be str, not int"),
        ({"assistant": "gpt"}, "assistant must be an object of yours, not 'gpt'"),
        ({"embedder": "local"}, "an embedder in pipimem.toml"),
        ({"settings": {}}, "settings must be Settings or None, not dict"),
        ({"clock": datetime.now}, "clock must be Clock or None"),
        ({"keeps_context": "yes"}, "keeps_context must be bool or None, not str"),
    ],
)
def test_a_memory_is_made_of_what_it_needs(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    """Not later, in the middle of a turn."""
    with pytest.raises(ArgumentError, match=said):
        Pipimem(workspace(tmp_path), **given)


@each("folder", [None, 5, b"memory"])
def test_a_workspace_is_a_path(folder: Any) -> None:
    """Also what a path cannot be made of is told."""
    with pytest.raises(ArgumentError, match="workspace must be str or PathLike"):
        Pipimem(folder)


CALLS: list[tuple[str, Callable[[Channel], Any]]] = [
    ("NaN", lambda channel: channel.before_compaction([], deadline=float("nan"))),
    ("deadline must be", lambda channel: channel.before_compaction([], deadline="soon")),  # type: ignore[arg-type]
    ("until must be a day", lambda channel: channel.notes.remember("x is y", until=NAIVE)),
    ("several ids", lambda channel: channel.notes.remember("x is y", supersedes="memory:abc")),
    ("text must be", lambda channel: channel.notes.forget(Text(None))),  # type: ignore[arg-type]
    ("what must be", lambda channel: channel.notes.forget(5)),  # type: ignore[arg-type]
    ("speaker must be", lambda channel: channel.notes.forget(By(5))),  # type: ignore[arg-type]
    ("nothing to forget", lambda channel: channel.notes.forget(())),
    ("since must be", lambda channel: channel.history.diff("2026-01-01")),  # type: ignore[arg-type]
    ("since has no offset", lambda channel: channel.history.diff(NAIVE)),
    ("point must be", lambda channel: channel.history.restore(None)),  # type: ignore[arg-type]
    ("point has no offset", lambda channel: channel.history.restore(NAIVE)),
    ("from 0 on", lambda channel: channel.history.restore(-1)),
    ("since must be", lambda channel: channel.usage("today")),  # type: ignore[arg-type]
    ("limit must be", lambda channel: channel.recall("the port", limit="x")),  # type: ignore[arg-type]
    ("limit must be", lambda channel: channel.recall("the port", limit=0)),
    ("text must be", lambda channel: channel.recall(None)),  # type: ignore[arg-type]
]


@pytest.mark.anyio
@pytest.mark.parametrize(("said", "call"), CALLS)
async def test_a_wrong_argument_is_told(
    tmp_path: Path, said: str, call: Callable[[Channel], Any]
) -> None:
    """And nothing is changed."""
    async with opened(workspace(tmp_path)) as (_, channel):
        with pytest.raises(ArgumentError, match=said):
            await call(channel)
        assert await channel.history.log() == ()


@pytest.mark.anyio
async def test_what_is_no_id_names_no_channel_to_remove(tmp_path: Path) -> None:
    """The one that is open stays."""
    async with opened(workspace(tmp_path)) as (pipimem, channel):
        with pytest.raises(ArgumentError, match="id must be str, not None"):
            await pipimem.remove(None)  # type: ignore[arg-type]
        assert [info.id for info in await pipimem.channels()] == [channel.id]


def test_an_observer_has_what_it_is_told_by(tmp_path: Path) -> None:
    """Else the first turn would find out."""
    pipimem = Pipimem(workspace(tmp_path))
    with pytest.raises(ArgumentError, match="None has no begin"):
        pipimem.add_observer(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must have the methods begin and end"):
        pipimem.add_observer(print)  # type: ignore[arg-type]


class _Whole(str):
    """A text that nobody may take apart."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("it was looked through letter by letter")


def test_a_text_to_forget_is_not_looked_through_letter_by_letter() -> None:
    """A million letters held the event loop for 47 ms."""
    require_target(Text(_Whole("the door code")))
    with pytest.raises(ArgumentError, match="what must be"):
        require_target([ById("memory:abc"), 5])


def test_an_observer_says_whether_it_wants_content(tmp_path: Path) -> None:
    """One that does not is not told of anything."""

    class Silent:
        def begin(self, operation: object) -> object:
            return operation

        def end(self, operation: object, begun: object) -> None:
            """Nothing."""

    pipimem = Pipimem(workspace(tmp_path))
    with pytest.raises(ArgumentError, match="must say wants_content"):
        pipimem.add_observer(Silent())  # type: ignore[arg-type]
