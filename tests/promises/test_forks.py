"""A process forks after it has opened a workspace; threads have an event loop each."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Channel, Message, Pipimem, PipimemError
from tests.promises.lived_workspace import messages
from tests.promises.processes import finish, start

ROOM = "room"
CHILDREN = 3
ROUNDS = 4


async def speak(channel: Channel, who: str) -> None:
    """Turns and entries of a process or thread."""
    for number in range(ROUNDS):
        turn = await front_door.before_turn(channel, f"What of {who}?", speaker="alice")
        assert not turn.problem, turn.problem
        said = [Message.user(f"What of {who}?", id=f"{who}-{number}")]
        await front_door.after_turn(channel, turn, said)
        await front_door.remember(channel, f"fact {number} of {who}")


def wanted(*speakers: str) -> tuple[Counter[str], Counter[str]]:
    """The ids and the lines that stand once after all have spoken."""
    pairs = [(who, number) for who in speakers for number in range(ROUNDS)]
    ids = Counter(f"{who}-{number}" for who, number in pairs)
    return ids, Counter(f"- fact {number} of {who}" for who, number in pairs)


def found(root: Path) -> tuple[Counter[str], Counter[str]]:
    """The ids in the transcript and the facts in MEMORY.md."""
    lines = front_door.note(root, ROOM).splitlines()
    return messages(root, ROOM), Counter(line for line in lines if line.startswith("- fact"))


def forked(work: Callable[[], None]) -> int:
    """Fork a child that does something; returns its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - a child must not run on as its parent
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def wait_for(*children: int) -> None:
    """Wait for children; each must have ended well."""
    codes = [os.waitpid(child, 0)[1] for child in children]
    assert codes == [0] * len(codes)


def fork_after_opening(root: str, how: str) -> None:
    """Open, speak, and fork children that speak; the parent goes on beside them."""

    async def open_and_speak() -> tuple[Pipimem, Channel]:
        pipimem = front_door.quiet(Path(root))
        channel = await pipimem.channel(ROOM, kind="group")
        await speak(channel, "before")
        return pipimem, channel

    pipimem, channel = anyio.run(open_and_speak)

    async def run(who: str) -> None:
        if how == "the inherited channel":
            await speak(channel, who)
            return
        if how == "the inherited workspace":
            async with pipimem:
                await speak(await pipimem.channel(ROOM, kind="group"), who)
            return
        async with front_door.quiet(Path(root)) as own:
            await speak(await own.channel(ROOM, kind="group"), who)

    children = [forked(lambda n=n: anyio.run(run, f"child{n}")) for n in range(CHILDREN)]  # type: ignore[misc]
    anyio.run(speak, channel, "parent")
    wait_for(*children)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "how", ["the inherited channel", "the inherited workspace", "a workspace of its own"]
)
def test_children_of_a_fork_and_their_parent_lose_nothing(workspace: Path, how: str) -> None:
    """As servers do that load first and fork then."""
    assert finish(start(fork_after_opening, str(workspace), how)) == 0
    speakers = [f"child{number}" for number in range(CHILDREN)]
    assert found(workspace) == wanted("before", "parent", *speakers)


def fork_while_threads_write(root: str, rounds: int) -> None:
    """Fork while a thread is in the middle of commits: the child has none of its locks."""
    is_over = threading.Event()

    async def write() -> None:
        async with front_door.quiet(Path(root)) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            number = 0
            while not is_over.is_set():
                await front_door.remember(channel, f"thread {number}")
                number += 1

    async def speak_once(who: str) -> None:
        async with front_door.quiet(Path(root)) as own:
            await speak(await own.channel(ROOM, kind="group"), who)

    writer = threading.Thread(target=anyio.run, args=(write,))
    writer.start()
    for number in range(rounds):
        wait_for(forked(lambda number=number: anyio.run(speak_once, f"child{number}")))  # type: ignore[misc]
    is_over.set()
    writer.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns of forks beside threads")
def test_a_fork_beside_a_thread_that_commits_does_not_hang(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """The child writes as any other process."""
    rounds = 100 if is_long else 3
    assert finish(start(fork_while_threads_write, str(workspace), rounds)) == 0
    assert found(workspace) == wanted(*(f"child{number}" for number in range(rounds)))
    count_trials(rounds)


def in_threads(*works: Callable[[], None]) -> None:
    """Do several things at once, each in a thread; raises what any raised."""
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("backends", [("asyncio",) * 3, ("trio", "asyncio", "trio")])
def test_threads_with_a_workspace_each_lose_nothing(
    workspace: Path, backends: tuple[str, ...]
) -> None:
    """As hosts with a loop for each bot, of either kind."""

    async def run(who: str) -> None:
        async with front_door.quiet(workspace) as own:
            await speak(await own.channel(ROOM, kind="group"), who)

    names = [f"thread{number}" for number in range(len(backends))]
    in_threads(
        *(
            lambda who=who, backend=backend: anyio.run(run, who, backend=backend)
            for who, backend in zip(names, backends, strict=True)
        )
    )
    assert found(workspace) == wanted(*names)


def test_threads_that_share_a_channel_lose_nothing_and_never_hang(workspace: Path) -> None:
    """A call in another event loop works, or is refused in a sentence; what was acknowledged is
    there once.
    """
    acknowledged: list[str] = []
    refused: list[str] = []

    async def run(channel: Channel, who: str) -> None:
        for number in range(ROUNDS):
            text = f"fact {number} of {who}"
            try:
                await front_door.remember(channel, text)
            except PipimemError as error:
                refused.append(str(error))
            else:
                acknowledged.append(f"- {text}")

    async def opened() -> Channel:
        return await front_door.quiet(workspace).channel(ROOM, kind="group")

    channel = anyio.run(opened)
    in_threads(*(lambda who=who: anyio.run(run, channel, who) for who in ("one", "two", "three")))
    assert acknowledged
    assert [each for each in refused if "event loop" not in each] == []
    lines = Counter(front_door.note(workspace, ROOM).splitlines())
    assert [text for text in acknowledged if lines[text] != 1] == []
    anyio.run(run, channel, "afterwards")
    assert "fact 0 of afterwards" in front_door.note(workspace, ROOM)
