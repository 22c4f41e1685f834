"""A small workspace with one of each file that pipimem keeps, how its files stood earlier, and what kills left of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
from pipimem import Clock, Message, Pipimem
from pipimem.notes.files import File
from pipimem.notes.usage import Hold, Usage
from pipimem.settings import MaintenanceSettings, Settings
from pipimem.store.workspace import WorkspaceStore

from benchmarks.background.plugs import Letters
from benchmarks.faults.child import Say, in_child
from benchmarks.faults.injection import KILL, Fault, calls_of, met
from benchmarks.faults.journeys import (
    CHANNEL,
    NOW,
    PRUNING,
    SECRET,
    TYPED,
    Journey,
    adding,
    committed,
    opened,
    silent,
    three_files,
    told,
)  # fmt: skip
from benchmarks.faults.tree import Tree

PENDING = "the fact that waits beside its file"
BESIDE = "garden"
"""Another channel of the workspace: its files are put in the place of those of the first."""
# A forgetting has some fifty calls that change something; each of these kills leaves another state.
_KILLS = 8
_IDLE_SECONDS = 0.05
_STANDING = Clock(now=lambda: NOW, wall=lambda: NOW)


@dataclass(frozen=True, slots=True)
class Lived:
    """A workspace as it stands, and as it stood at earlier moments of its life, oldest first.

    `cut_off` are what is left where a forgetting in it was killed.
    """

    now: Tree
    before: tuple[Tree, ...]
    cut_off: tuple[Tree, ...] = ()


def full_workspace(root: Path) -> Lived:
    """Lets a workspace live, one process a stage; the last is killed while a text is waiting."""
    trees: list[Tree] = []
    cut_off: tuple[Tree, ...] = ()
    for stage in _STAGES:
        if stage is _forgotten:
            cut_off = _killed_forgettings(root, trees[-1])
            trees[-1].laid(root)
        ended = in_child(lambda _, stage=stage: stage(root))  # type: ignore[misc]
        assert ended.how == "done", (stage, ended)
        trees.append(Tree.of(root))
    _cut_off(root, trees[-1])
    return Lived(Tree.of(root), tuple(trees), cut_off)


def _killed_forgettings(root: Path, tree: Tree) -> tuple[Tree, ...]:
    """What kills leave that are spread over the calls of a forgetting."""
    forgetting = Journey("forget", lambda _: None, lambda root, _: _forgotten(root))
    calls, found = len(calls_of(forgetting, tree, root)), []
    for number in range(_KILLS):
        tree.laid(root)
        assert met(forgetting, Fault(1 + (number + 1) * calls // (_KILLS + 1), KILL), root).how == "killed"
        found.append(Tree.of(root))
    return tuple(found)


def _another_channel(root: Path) -> None:
    """Another channel with notes, a log and a checkpoint of its own."""
    store = opened(root, BESIDE)
    store.append([Message.user(f"rose {number} is red", id=f"g{number}") for number in range(3)])
    store.commit(adding("the roses are red", cursor=2), NOW)
    store.checkpoint()
    store.commit(adding("the lilies are white"), NOW)


def _set_aside(root: Path) -> None:
    PRUNING.run(root, silent)


def _archived(root: Path) -> None:
    store = opened(root)
    store.commit(three_files(store), NOW)
    store.close()


def _edited(root: Path) -> None:
    path = root / "channels" / CHANNEL / File.MEMORY
    path.write_text(path.read_text().replace("- alice likes tea\n", f"- {TYPED}\n"))
    store = opened(root)
    store.commit(adding("dana takes the early train"), NOW)
    store.close()


def _spoken(root: Path) -> None:
    """Turns, a compaction, and every cache, however little there is to keep."""
    from pipimem.runtime import library, reading

    reading._WORTH_KEEPING = 1  # noqa: SLF001 - small, yet whole
    library._WORTH_KEEPING = library._WORTH_LOADING = 1  # noqa: SLF001 - likewise

    async def talk() -> None:
        async with Pipimem(root, "offline", embedder=Letters(), clock=_STANDING) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            for number in range(3):
                asked, told = f"who waters plant {number}?", f"we decided to plant tree {number}"
                turn = await channel.before_turn(asked, speaker="alice")
                said = Message.user(told, id=f"s{number}", speaker="alice")
                await channel.after_turn(turn, [said, Message.assistant("fine", id=f"t{number}")])
            await channel.compacted(await channel.before_compaction())
            await channel.remember("the spare key hangs behind the door", speaker="bob")
            await channel.before_turn("where is the spare key?")
            await channel.maintain()
            await channel.settle()

    anyio.run(talk)


def _forgotten(root: Path) -> None:
    store = opened(root)
    store.forget(SECRET, keep_transcript=False, now=NOW)
    store.close()


def _undone(root: Path) -> None:
    store = opened(root)
    store.commit(adding("a mistake that is taken back"), NOW)
    store.undo(None, NOW)
    store.close()


def _idled(root: Path) -> None:
    """An agenda of idle work; caches, which a forgetting takes away, are made anew."""
    _spoken(root)
    settings = Settings(maintenance=MaintenanceSettings(idle_seconds=_IDLE_SECONDS))

    async def watch() -> None:
        async with Pipimem(root, "offline", settings=settings, clock=_STANDING):
            with anyio.move_on_after(5):
                while not (root / ".pipimem" / "idle.jsonl").exists():
                    await anyio.sleep(0.05)

    anyio.run(watch)


def _accounted(root: Path) -> None:
    """Two lines of a usage ledger, and a hold that a killed process left."""
    store = WorkspaceStore.open(root)
    when, task, model = NOW.isoformat(), "consolidate", "a/model"
    for number in range(2):
        usage = Usage(when, CHANNEL, task, model, 10, 5, 0, 0.01, 1.5, "ok", f"c{number}")
        store.books.append(usage)
    store.books.place(Hold(when, when, CHANNEL, task, model, 10, 5, 0.01, "c2"))


_STAGES = (
    told, _another_channel, _set_aside, _archived, _edited, _spoken, _forgotten, _undone, _idled, _accounted,
)  # fmt: skip


def _cut_off(root: Path, tree: Tree) -> None:
    """A commit that is killed right before its text takes the place of the file's."""
    commit = Journey("commit", lambda _: None, _pending)
    calls = calls_of(commit, tree, root)
    tree.laid(root)
    assert met(commit, Fault(calls.index("exchange") + 1, KILL), root).how == "killed"


def _pending(root: Path, say: Say) -> None:
    committed(opened(root), adding(PENDING), say, PENDING)
