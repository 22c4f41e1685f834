"""A small workspace with one of each file that pipimem keeps, how its files stood earlier, and a
kill in a forgetting.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import anyio
from pipimem import Clock, Message, Pipimem
from pipimem.notes.files import File
from pipimem.notes.usage import Reservation, Usage
from pipimem.settings import MaintenanceSettings, Settings
from pipimem.store.history.undo import undo
from pipimem.store.workspace import WorkspaceStore

from benchmarks.background.plugs import Letters
from benchmarks.faults.child import KILLED, Say, in_child
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
from benchmarks.faults.shim import Call, Shim
from benchmarks.faults.tree import Tree
from benchmarks.states.enduring import BESIDES

PENDING = "the fact that waits beside its file"
BESIDE = "garden"
"""Another channel of the workspace: its files are put in the place of those of the first."""
TYPED_LATER = "typed by a person"
# A forgetting makes about so many file calls.
_CALLS = 1_500
_SOON = 40
_IDLE_SECONDS = 0.05
_STANDING = Clock(now=lambda: NOW, wall=lambda: NOW)


@dataclass(frozen=True, slots=True)
class Lived:
    """A workspace as it stands, and as it stood at earlier moments of its life, oldest first.

    `to_forget` is right before something is forgotten in it.
    """

    now: Tree
    before: tuple[Tree, ...]
    to_forget: Tree


def full_workspace(root: Path) -> Lived:
    """Lets a workspace live, one process a stage; the last is killed while a text is waiting."""
    trees: list[Tree] = []
    for stage in _STAGES:
        ended = in_child(lambda _, stage=stage: stage(root))  # type: ignore[misc]
        assert ended.how == "done", (stage, ended)
        trees.append(Tree.of(root))
    _cut_off(root, trees[-1])
    return Lived(Tree.of(root), tuple(trees), trees[_STAGES.index(_forgotten) - 1])


def forgets_until_killed(root: Path, dice: random.Random) -> None:
    """Lets a process forget in a workspace of before, a person save while it does, and a kill end
    it.
    """
    edit, kill = sorted(dice.sample(range(1, _CALLS), 2))
    if dice.random() < 0.5:
        kill = edit + dice.randint(1, _SOON)

    def work(_: Say) -> None:
        Shim(root, _Interrupted(root, edit, kill, dice)).install()
        _forgotten(root)

    ended = in_child(work)
    assert ended.how in ("killed", "done", "raised"), ended


@dataclass(slots=True)
class _Interrupted:
    """Saves MEMORY.md at one call, as an editor does, and ends the process at a later one."""

    root: Path
    edit: int
    kill: int
    dice: random.Random
    count: int = 0

    def before(self, call: Call) -> int:  # noqa: ARG002 - the shim's signature
        """The call happens, if there is anybody left."""
        self.count += 1
        if self.count == self.edit and os.fork() == 0:
            # In a process of its own, as editors are: where the store has a lease, it waits for its
            # end.
            self.edit = self.kill = 0
            saved_by_an_editor(self.root / "channels" / CHANNEL / File.MEMORY, self.dice)
            os._exit(0)
        if self.count == self.kill:
            os._exit(KILLED)
        return 0

    def after(self, call: Call, result: object) -> None:
        """Nothing to do."""

    def failed(self, call: Call) -> None:
        """Nothing to do."""


def saved_by_an_editor(path: Path, dice: random.Random) -> None:
    """A person types a line at the end: written in place, anew in place, or under another name and
    renamed.
    """
    text = path.read_text()
    new = text + ("" if text.endswith("\n") else "\n") + f"- {TYPED_LATER}\n"
    match dice.choice(("append", "rewrite", "rename")):
        case "append":
            with path.open("a") as file:
                file.write(new.removeprefix(text))
        case "rewrite":
            path.write_text(new)
        case "rename":
            path.with_name("buffer").write_text(new)
            path.with_name("buffer").replace(path)


def _another_channel(root: Path) -> None:
    """Another channel with notes, a log and a checkpoint of its own."""
    store = opened(root, BESIDE)
    store.append([Message.user(f"rose {number} is red", id=f"g{number}") for number in range(3)])
    store.commit(adding(BESIDES[0], cursor=2), NOW)
    store.checkpoint()
    store.commit(adding(BESIDES[1]), NOW)


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
    from pipimem.runtime import recall_service, transcript_search

    recall_service._WORTH_KEEPING = 1  # noqa: SLF001 - small, yet whole
    transcript_search._WORTH_KEEPING = 1  # noqa: SLF001 - likewise

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
            await channel.flush()

    anyio.run(talk)


def _forgotten(root: Path) -> None:
    store = opened(root)
    store.forget(SECRET, keep_transcript=False, now=NOW)
    store.close()


def _undone(root: Path) -> None:
    store = opened(root)
    store.commit(adding("a mistake that is taken back"), NOW)
    undo(store, None, NOW)
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
        store.usage_store.append(usage)
    store.usage_store.place(Reservation(when, when, CHANNEL, task, model, 10, 5, 0.01, "c2"))


_STAGES = (
    told, _another_channel, _set_aside, _archived, _edited, _spoken, _forgotten, _undone, _idled,
    _accounted,
)  # fmt: skip


def _cut_off(root: Path, tree: Tree) -> None:
    """A commit that is killed right before its text takes the place of the file's."""
    commit = Journey("commit", lambda _: None, _pending)
    calls = calls_of(commit, tree, root)
    tree.laid(root)
    assert met(commit, Fault(calls.index("exchange") + 1, KILL), root).how == "killed"


def _pending(root: Path, say: Say) -> None:
    committed(opened(root), adding(PENDING), say, PENDING)
