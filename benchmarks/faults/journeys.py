"""The journeys that faults meet: what lies there before, what is done, and what is promised at each
step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import anyio
from msgspec import structs
from pipimem import Clock, Message, Pipimem
from pipimem.notes.kinds import File, Kind
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Decision,
    Evidence,
    FoldBlocks,
    SetSection,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.history.undo import restore, undo
from pipimem.store.transcript import log
from pipimem.store.workspace import WorkspaceStore

from benchmarks.faults.child import Say

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
CHANNEL = "team"
SECRET = "the blue elephant"
TYPED = "typed by hand, zebra"
STRANGE = "Room 7/=上线"
"""A channel whose folder cannot be told from its name alone."""


@dataclass(frozen=True, slots=True)
class Journey:
    """`prepare` lays what lies there before, `run` does it and says what was acknowledged.

    What is said: `entry` TEXT, `message` ID CONTENT, `gone` TEXT, `forgotten` TEXT, `sequence`
    NUMBER, `made` CHANNEL, `template`. With `apart`, a reader may see some of the files before and
    some after: the words go out of one file after the other. With `goes_on`, an error does not end
    it: what comes later is decided on what is there then.
    """

    name: str
    prepare: Callable[[Path], None]
    run: Callable[[Path, Say], None]
    channel: str = CHANNEL
    apart: bool = False
    goes_on: bool = False


def adding(*texts: str, cursor: int | None = None) -> Decision:
    """A decision that adds facts to MEMORY.md."""
    facts = tuple(
        Add(Kind.FACT, text, Trust.INFERRED, Evidence(("m1",), 1, "alice", NOW)) for text in texts
    )
    decision = Decision("consolidate", Author.MODEL, facts)
    return (
        decision
        if cursor is None
        else structs.replace(decision, progress=structs.replace(decision.progress, cursor=cursor))
    )


def opened(root: Path, name: str = CHANNEL, *, create: bool = True) -> ChannelStore:
    """The store of a channel, as a fresh process opens it."""
    return ChannelStore.open(WorkspaceStore.open(root), name, create=create)


def committed(store: ChannelStore, decision: Decision, say: Say, *entries: str) -> None:
    """Commits, and says so once it is acknowledged."""
    done = store.commit(decision, NOW)
    say("sequence", done.sequence)
    for text in entries:
        say("entry", text)


def appended(store: ChannelStore, say: Say, *messages: Message) -> None:
    """Appends, and says so once it is acknowledged."""
    store.append(messages)
    for message in messages:
        say("message", message.id, message.content)


def silent(kind: str, *values: object) -> None:
    """Nobody listens."""


def lived(root: Path) -> None:
    """A workspace with a channel that has a past: three notes, two commits, four messages."""
    WorkspaceStore.init(root)
    store = ChannelStore.open(WorkspaceStore.open(root), CHANNEL, create=True, key=bytes(32))
    appended(
        store,
        silent,
        *(Message.user(f"message {number}", id=f"u{number}") for number in range(1, 5)),
    )
    block = AddBlock(NOW, NOW + timedelta(hours=1), "tea", (Bullet("they spoke of tea"),))
    first = adding("alice likes tea", "dana waters the plants on fridays", cursor=2)
    first = structs.replace(
        first, operations=(*first.operations, block, SetSection("Next Steps", ("one",)))
    )
    store.commit(first, NOW)
    store.commit(adding("the release window opens at nine"), NOW)
    store.close()


# ── the first turn ────────────────────────────────────────────────────────────────────────────────


def nothing(root: Path) -> None:
    """An empty folder."""


def _first_turn(root: Path, say: Say) -> None:
    WorkspaceStore.init(root)
    say("template")

    async def turn() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(STRANGE, kind="group", title="The room")
            say("made", STRANGE)
            begun = await channel.before_turn("when is the release?", speaker="alice")
            said = [
                Message.user("when is the release?", id="u1"),
                Message.assistant("at nine", id="a1"),
            ]
            await channel.after_turn(begun, said)
            for message in said:
                say("message", message.id, message.content)

    anyio.run(turn)


def runtime(root: Path) -> Pipimem:
    """The runtime of the offline rules, at a clock that stands."""
    return Pipimem(
        root, "offline", clock=Clock(now=lambda: NOW, wall=lambda: NOW, monotonic=lambda: 0.0)
    )


# ── in a channel that has a past ──────────────────────────────────────────────────────────────────


def _append(root: Path, say: Say) -> None:
    store = opened(root)
    appended(store, say, Message.user("hello", id="u5"), Message.assistant("hi", id="a5"))
    appended(store, say, Message.user("are you there?", id="u6"))


def _remember(root: Path, say: Say) -> None:
    async def asked() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            await channel.notes.remember("the office cat is called Miso", speaker="alice")
            say("entry", "the office cat is called Miso")

    anyio.run(asked)


def three_files(store: ChannelStore) -> Decision:
    """A decision that touches the three notes and the archive."""
    heading = store.notes().history.document.sections[-1].title
    fold = FoldBlocks("2026-03", "tea", (Bullet("tea, mostly"),), (heading,))
    decision = adding("bob likes coffee", cursor=4)
    return structs.replace(
        decision, operations=(*decision.operations, SetSection("Next Steps", ("two",)), fold)
    )


def _consolidate(root: Path, say: Say) -> None:
    store = opened(root)
    committed(store, three_files(store), say, "bob likes coffee")
    committed(store, adding("carol likes milk"), say, "carol likes milk")
    store.close()


def edited(root: Path) -> None:
    """A channel whose MEMORY.md a person edited in place: a line came, a line went."""
    lived(root)
    path = root / "channels" / CHANNEL / File.MEMORY
    path.write_text(path.read_text().replace("- alice likes tea\n", f"- {TYPED}\n"))


def edited_from_old(root: Path) -> None:
    """The same from an older text in an editor's buffer, saved by renaming."""
    lived(root)
    path = root / "channels" / CHANNEL / File.MEMORY
    old = path.read_text()
    store = opened(root)
    store.commit(adding("erin came later"), NOW)
    store.close()
    path.with_name("buffer").write_text(
        old.replace("- alice likes tea\n", f"- alice likes tea\n- {TYPED}\n")
    )
    path.with_name("buffer").replace(path)


def _commit(root: Path, say: Say) -> None:
    store = opened(root)
    committed(store, adding("bob likes coffee"), say, "bob likes coffee")
    store.close()


def backlog(root: Path) -> None:
    """A channel with talk that is not consolidated yet."""
    lived(root)
    talk = [Message.user("remember that the gate code is 4711", id="u5", speaker="alice"),
            Message.assistant("noted", id="a5"),
            Message.user("we decided to ship on friday", id="u6", speaker="bob"),
            Message.assistant("fine", id="a6")]  # fmt: skip
    appended(opened(root), silent, *(replace(message, time=NOW) for message in talk))


def _compact(root: Path, say: Say) -> None:
    async def gate() -> None:
        async with runtime(root) as pipimem:
            channel = await pipimem.channel(CHANNEL)
            last = Message.user("we always deploy from the main branch", id="u7", speaker="carol")
            receipt = await channel.before_compaction([last])
            say("receipt", receipt.may_compact, receipt.state)
            if receipt.may_compact:
                say("message", last.id, last.content)
                await channel.compacted(receipt)

    anyio.run(gate)


def _undo(root: Path, say: Say) -> None:
    store = opened(root)
    say("sequence", undo(store, None, NOW).sequence)
    say("gone", "the release window opens at nine")
    store.close()


def _restore(root: Path, say: Say) -> None:
    store = opened(root)
    say("sequence", restore(store, 1, NOW).sequence)
    say("gone", "the release window opens at nine")
    say("entry", "alice likes tea")
    store.close()


def told(root: Path) -> None:
    """A channel that was told something it will have to forget, in notes, archive, state and
    transcript.
    """
    lived(root)
    store = opened(root)
    store.append([Message.user(f"remember {SECRET}", id="u5"), Message.user("and cake", id="u6")])
    store.commit(adding(f"alice saw {SECRET}"), NOW)
    store.commit(three_files(store), NOW)
    store.commit(
        structs.replace(adding(), operations=(SetSection("Next Steps", (f"feed {SECRET}",)),)), NOW
    )
    store.close()


def _forget(root: Path, say: Say) -> None:
    store = opened(root)
    store.forget(SECRET, keep_transcript=False, now=NOW)
    say("forgotten", SECRET)
    store.close()


def damaged(root: Path) -> None:
    """A channel whose state is no database any more, and a transcript that is due to be rotated."""
    lived(root)
    path = root / "channels" / CHANNEL / ".pipimem" / "state.db"
    path.write_bytes(b"no database " * 1_000)


def _begin_anew(root: Path, say: Say) -> None:
    # Megabytes would cost the time of the other faults.
    log._ROTATE_AT = 1  # noqa: SLF001
    store = opened(root)
    appended(store, say, Message.user("hello", id="u5"))
    committed(store, adding("bob likes coffee"), say, "bob likes coffee")
    committed(store, adding("carol likes milk"), say, "carol likes milk")
    appended(store, say, Message.user("still there?", id="u6"))
    store.close()


REMEMBERING = Journey("remember", lived, _remember, goes_on=True)
CONSOLIDATION = Journey("a commit of three files", lived, _consolidate)
EDIT = Journey("a hand edit taken in", edited, _commit)
COMPACTION = Journey("the gate before a compaction", backlog, _compact, goes_on=True)
FORGETTING = Journey("forget", told, _forget, apart=True)
DAMAGED = Journey("a damaged state set aside", damaged, _begin_anew)
JOURNEYS = (
    Journey("init and a first turn", nothing, _first_turn, channel=STRANGE, goes_on=True),
    Journey("append", lived, _append),
    REMEMBERING,
    CONSOLIDATION,
    EDIT,
    Journey("an old buffer merged", edited_from_old, _commit),
    COMPACTION,
    Journey("undo", lived, _undo),
    Journey("restore", lived, _restore),
    FORGETTING,
    DAMAGED,
)
