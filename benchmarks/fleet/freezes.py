"""A host suspended at one file call, its lock taken over by another, then woken: at each call in turn.

Only the database is told that the lease is over: the clock of the suspended host stands, as that of
a virtual machine may. So nothing but the fence at the files keeps it from writing.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipimem import Message
from pipimem.errors import PipimemError
from pipimem.notes.kinds import NOTE_FILES
from pipimem.notes.operations import Author
from pipimem.settings import Settings
from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import FleetDatabase, tables_of
from pipimem.store.forget.traces import traces
from pipimem.store.health.channels import channel_findings
from pipimem.store.history.undo import undo
from pipimem.store.workspace import WorkspaceStore

from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.injection import calls_of
from benchmarks.faults.journeys import (
    CHANNEL,
    JOURNEYS,
    NOW,
    Journey,
    adding,
    damaged,
    lived,
    opened,
    told,
)
from benchmarks.faults.shim import Call, Shim
from benchmarks.faults.tree import Tree

_EXPIRE = """
    update pipimem.lease set until = clock_timestamp() - interval '1 second' where holder <> ''
"""
_TABLES = ("pipimem.lease", *(f"pipimem_rows.{table.name}" for table in tables_of(SCHEMA)))
_OTHER, _LAST = "the other host was here", "the last host of all"


def _nameless(root: Path, say: Say) -> None:
    """Messages that come without ids: written twice they would be two."""
    store = opened(root)
    for text in ("alpha went out", "beta came in"):
        store.append([Message.user(text), Message.assistant(f"{text}, too")])
        say("said", text)
        say("said", f"{text}, too")
    store.close()


def _undo(root: Path, say: Say) -> None:
    store = opened(root)
    say("sequence", undo(store, 2, NOW).sequence)
    say("gone", "the release window opens at nine")
    store.close()


_OF_ONE_HOST = ("undo", "restore")
FROZEN = (
    Journey("append without ids", lived, _nameless),
    Journey("undo of a record", lived, _undo),
    *(
        journey
        for journey in JOURNEYS
        if journey.channel == CHANNEL and not journey.goes_on and journey.name not in _OF_ONE_HOST
    ),
)
"""Those whose whole work is under the lock of one channel.

To undo the newest record, or all since one, takes back what another host did meanwhile, and is to.
"""


_UNTOUCHED = (lived, told, damaged)


class _Stopper:
    """Suspends this process, with all its threads, before its call of a number."""

    def __init__(self, at: int, say: Say) -> None:
        self._at, self._say, self._count = at, say, 0

    def before(self, call: Call) -> int:
        """The call happens, sooner or later."""
        self._count += 1
        if self._count == self._at:
            self._say("met", call.name, call.path)
            os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    def after(self, call: Call, result: Any) -> None:
        """Nothing to do."""

    def failed(self, call: Call) -> None:
        """Nothing to do."""


@dataclass(frozen=True, slots=True)
class Freezer:
    """A workspace in `root` and the database of its fleet."""

    root: Path
    database: FleetDatabase

    def prepared(self, journey: Journey) -> Tree:
        """The workspace a journey begins with, in the fleet."""
        Tree((), ()).laid(self.root)
        text = f'[fleet]\ndatabase = "{self.database.address}"\nlease_seconds = 60\n'
        (self.root / "pipimem.toml").write_text(text)
        ended = in_child(lambda _: journey.prepare(self.root))
        assert ended.how == "done", ended
        self._keep_rows()
        return Tree.of(self.root)

    def _keep_rows(self) -> None:
        self.database.rows("drop schema if exists kept cascade")
        self.database.rows("create schema kept")
        for table in _TABLES:
            name = table.rpartition(".")[2]
            self.database.rows(f"create table kept.{name} as select * from {table}")

    def _lay_rows(self) -> None:
        """Put back the rows that belong to the files of the prepared workspace."""
        for table in _TABLES:
            name = table.rpartition(".")[2]
            self.database.rows(f"delete from {table}")
            self.database.rows(f"insert into {table} select * from kept.{name}")

    def calls(self, journey: Journey, tree: Tree) -> list[str]:
        """The names of the journey's file calls, in their order."""
        self._lay_rows()
        return calls_of(journey, tree, self.root)

    def frozen(self, journey: Journey, tree: Tree, at: int) -> list[str]:
        """What went wrong when the journey was suspended before its call number `at`."""
        tree.laid(self.root)
        self._lay_rows()
        others: list[Ended] = []

        def work(say: Say) -> None:
            Shim(self.root, _Stopper(at, say)).install()
            journey.run(self.root, say)

        def meanwhile(child: int) -> float:
            state = os.waitid(os.P_PID, child, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if state is not None and state.si_code == os.CLD_STOPPED:
                self.database.rows(_EXPIRE)
                others.append(in_child(lambda say: _other_host(self.root, say)))
                os.kill(child, signal.SIGCONT)
            return float("inf")

        ended = in_child(work, meanwhile)
        others.append(in_child(lambda say: _last_host(self.root, say)))
        where = "".join(f" ({line[0]} {line[1]})" for line in ended.of("met"))
        wrong = [*_misbehaved(ended, others), *_judged(self.root, journey, [ended, *others])]
        return [f"{journey.name}, frozen at call {at}{where}: {one}" for one in wrong]


def _other_host(root: Path, say: Say) -> None:
    store = opened(root)
    store.append([Message.user(_OTHER, id="other")])
    say("message", "other", _OTHER)
    store.commit(adding(_OTHER), NOW)
    say("entry", _OTHER)
    store.append([Message.user(f"{_OTHER} again")])
    say("said", f"{_OTHER} again")


def _last_host(root: Path, say: Say) -> None:
    store = opened(root)
    store.append([Message.user(_LAST, id="last")])
    say("message", "last", _LAST)
    store.commit(adding(_LAST), NOW)
    say("entry", _LAST)
    store.close()


def _misbehaved(ended: Ended, others: list[Ended]) -> Iterator[str]:
    for one in (ended, *others):
        if one.how != "done":
            yield f"a host {one.how}: {one.of('raised')}"


def _judged(root: Path, journey: Journey, ends: list[Ended]) -> list[str]:
    """What is missing, doubled, out of order, or taken for a person's hand."""
    try:
        return list(Judge(root, ends).wrong(hand=journey.prepare not in _UNTOUCHED))
    except PipimemError as error:
        return [f"cannot be read: {error}"]


class Judge:
    """What must be true of a channel after hosts came and went."""

    def __init__(self, root: Path, ends: list[Ended]) -> None:
        self._root, self._ends = root, ends
        self._store = opened(root, create=False)

    def wrong(self, *, hand: bool) -> Iterator[str]:
        """All that is not; with `hand` a person had edited the files."""
        yield from self._of_messages()
        yield from self._of_entries()
        yield from self._of_changes(hand=hand)
        yield from self._of_forgetting()
        workspace = WorkspaceStore.open(self._root)
        for finding in channel_findings(workspace, self._store.folder, NOW, Settings()):
            if finding.wrong:
                yield f"the doctor: {finding}"

    def _said(self, kind: str) -> list[tuple[object, ...]]:
        return [line for ended in self._ends for line in ended.of(kind)]

    def _of_messages(self) -> Iterator[str]:
        messages = list(self._store.transcript.messages())
        numbers = [message.number for message in messages]
        if numbers != sorted(set(numbers)):
            yield f"numbers of messages out of order: {numbers}"
        ids = Counter(message.id for message in messages)
        yield from (f"message {name} {count} times" for name, count in ids.items() if count > 1)
        if self._store.transcript.damaged():
            yield "damaged lines in the transcript"
        texts = Counter(message.content for message in messages)
        for name, content in self._said("message"):
            if ids[str(name)] != 1 or texts[str(content)] != 1:
                yield f"message {name} is there {ids[str(name)]} times"
        for (text,) in self._said("said"):
            if texts[str(text)] != 1:
                yield f"{text!r} was said {texts[str(text)]} times"

    def _of_entries(self) -> Iterator[str]:
        notes = self._store.notes()
        lines = Counter(
            line
            for file in NOTE_FILES
            for line in notes.note(file).text.splitlines()
            if line.startswith("- ")
        )
        gone = {text for (text,) in self._said("gone")}
        for (text,) in self._said("entry"):
            if text not in gone and lines[f"- {text}"] != 1:
                yield f"entry {text!r} is there {lines[f'- {text}']} times"
        for text in gone:
            if lines[f"- {text}"]:
                yield f"{text!r} is there again"
        yield from (
            f"{line!r} is there {count} times" for line, count in lines.items() if count > 1
        )

    def _of_changes(self, *, hand: bool) -> Iterator[str]:
        records = list(self._store.changes())
        sequences = [record.sequence for record in records]
        if sequences != sorted(set(sequences)):
            yield f"changes out of order: {sequences}"
        kept = set(sequences)
        for (number,) in self._said("sequence"):
            if kept and number not in kept and number >= min(kept):
                yield f"change {number} was acknowledged and is lost"
        if not hand and any(record.author is Author.EDITOR for record in records):
            yield "a file was not as the newest change left it"

    def _of_forgetting(self) -> Iterator[str]:
        for (text,) in self._said("forgotten"):
            for trace in traces([self._root / "channels" / CHANNEL], str(text)):
                yield f"{text!r} is not forgotten: {trace}"
