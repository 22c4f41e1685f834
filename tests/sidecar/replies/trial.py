"""Replies tried on a memory of sixty facts, by the real path: call, decision, commit, files
on disk.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.errors import AnswerRefused
from pipimem.memory.consolidate import consolidate
from pipimem.memory.fold import due_months, fold
from pipimem.memory.tidy import tidy
from pipimem.memory.window import windows
from pipimem.notes.entry import content_id
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Assistant, Call
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.sidecar.replies import judging
from tests.sidecar.replies.judging import Loss

HERE = Path(__file__).parent
NOW = datetime.fromisoformat("2026-03-04T09:30:00+08:00")
KEY = bytes(range(16))
CALL = Call("room", "c-1", 20)
# Who each entry comes from, in the order of the file.
TYPED, ASKED = 6, 12

_REPLY = re.compile(
    r"^## (consolidate|tidy|fold) (en|zh) (good|bad|mixed): ([^\n]+)\n\n````\n(.*?)\n````$",
    re.M | re.S,
)
_BULLET = re.compile(r"^- (.+)$", re.MULTILINE)
_NAME = re.compile(r"\b([eh])(\d\d)\b")


@dataclass(frozen=True)
class Reply:
    """One reply of the file, with the real ids of the entries."""

    task: str
    language: str
    verdict: str
    name: str
    text: str


@dataclass(frozen=True)
class Tried:
    """What became of a reply: why it was refused, and what is gone although nobody wanted it."""

    refused: str
    lost: tuple[Loss, ...] = ()
    named: tuple[str, ...] = ()
    added: int = 0


def facts() -> list[str]:
    """The sixty facts, `e01` first."""
    return _BULLET.findall((HERE / "MEMORY.md").read_text(encoding="utf-8"))


def entry_ids() -> list[str]:
    """Their ids."""
    return [content_id(KEY, text) for text in facts()]


def replies() -> list[Reply]:
    """Every reply of the file."""
    entries = entry_ids()
    told = [
        content_id(KEY, text)
        for text in _BULLET.findall((HERE / "HISTORY.md").read_text(encoding="utf-8"))
    ]

    def real(found: re.Match[str]) -> str:
        names, number = (entries if found[1] == "e" else told), int(found[2])
        return names[number - 1] if number <= len(names) else found[0]

    found = _REPLY.findall((HERE / "replies.md").read_text(encoding="utf-8"))
    return [
        Reply(task, language, verdict, name, _NAME.sub(real, text))
        for task, language, verdict, name, text in found
    ]


class Trial:
    """A workspace that is copied afresh for each reply; `folder` is where copies go."""

    def __init__(self, folder: Path) -> None:
        self._template, self._copy = folder / "template", folder / "copy"
        WorkspaceStore.init(self._template)
        store = self._opened(self._template, create=True)
        _fill(store)
        store.close()

    async def reply(self, task: str, text: str, wanted: frozenset[str] = frozenset()) -> Tried:
        """What a model's text does to the memory; `wanted` are entries whose end is right."""
        return await self.assistant(task, Scripted([text]), judging.named(text, task), wanted)

    async def assistant(
        self,
        task: str,
        assistant: Assistant,
        named: Mapping[str, str],
        wanted: frozenset[str],
        change: Callable[[Decision], Decision] = lambda decision: decision,
    ) -> Tried:
        """What an assistant's answer does; `named` says which entries the answer ends, and by
        which text.
        """
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._template, self._copy)
        store = self._opened(self._copy)
        before = _texts(store.notes())
        try:
            decision = await _decided(task, assistant, store)
        except AnswerRefused as reason:
            return Tried(str(reason), judging.losses(before, _read(store), {}, wanted))
        store.commit(change(decision), NOW, "trial")
        after = _read(store)
        store.close()
        gone = judging.gone(before, after)
        kept = frozenset(before[File.MEMORY].values())
        added = sum(1 for text in after[File.MEMORY].values() if text not in kept)
        return Tried(
            "",
            judging.losses(before, after, named, wanted),
            tuple(x for x in gone if x in named),
            added,
        )

    def _opened(self, root: Path, *, create: bool = False) -> ChannelStore:
        return ChannelStore.open(
            WorkspaceStore.open(root), "room", create=create, kind="group", key=KEY
        )


def _fill(store: ChannelStore) -> None:
    texts, kinds = facts(), _kinds()
    typed = "".join(f"- {text}\n" for text in texts[:TYPED])
    (store.folder / "MEMORY.md").write_text(f"# Memory\n\n## Identity\n\n{typed}", encoding="utf-8")
    (store.folder / "HISTORY.md").write_text(
        (HERE / "HISTORY.md").read_text(encoding="utf-8"), encoding="utf-8"
    )
    adds = [
        Add(kinds[text], text, Trust.EXPLICIT if number <= ASKED else Trust.INFERRED, Evidence())
        for number, text in enumerate(texts, 1)
        if number > TYPED
    ]
    store.commit(Decision("remember", Author.PERSON, tuple(adds)), NOW, "trial")
    lines = (HERE / "talk.jsonl").read_text(encoding="utf-8").splitlines()
    store.append(_message(json.loads(line)) for line in lines)
    assert len(_texts(store.notes())[File.MEMORY]) == len(texts) == 60


def _kinds() -> dict[str, Kind]:
    """The kind of each fact, by the heading it stands under."""
    kinds, kind = {}, Kind.FACT
    for line in (HERE / "MEMORY.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = kind_of(line[3:]) or Kind.FACT
        elif line.startswith("- "):
            kinds[line[2:]] = kind
    return kinds


def _message(line: Mapping[str, str]) -> Message:
    when = datetime.fromisoformat(line["ts"])
    return Message(line["role"], line["content"], line["id"], when, line["name"])  # type: ignore[arg-type]


async def _decided(task: str, assistant: Assistant, store: ChannelStore) -> Decision:
    notes = store.notes()
    match task:
        case "consolidate":
            (window,) = windows(store.transcript.window(0, None))
            return await consolidate(assistant, notes, window, NOW, CALL, since=NOW, today=NOW)
        case "tidy":
            return await tidy(assistant, notes, NOW, CALL)
        case _:
            archive = store.archive()
            return await fold(assistant, notes, archive, due_months(notes, NOW), CALL)


def _read(store: ChannelStore) -> dict[File, dict[str, str]]:
    """The entries of the files as they are on disk, read anew."""
    return {
        file: {
            entry.id: entry.text for entry in Note.read(file, _text(store, file), store.key).entries
        }
        for file in (File.MEMORY, File.HISTORY, File.ARCHIVE)
    }


def _text(store: ChannelStore, file: File) -> str:
    path = store.folder / file
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _texts(notes: Notes) -> dict[File, dict[str, str]]:
    return {
        file: {entry.id: entry.text for entry in notes.note(file).entries if entry.bullet}
        for file in (File.MEMORY, File.HISTORY)
    }
