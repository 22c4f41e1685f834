"""A channel's memory as a question finds it, without an event loop."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from pipimem import Message, Text
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Trust
from pipimem.recall.index import IndexSync
from pipimem.runtime import vocabulary as vocabulary_module
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.recall_service import IndexLru, RecallService
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import RecallSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import MORNING, opened, workspace, write


def reading(root: Path) -> RecallService:
    store = WorkspaceStore.open(root)
    return RecallService(
        ChannelStore.open(store, "room", create=False), Vocabulary(store), RecallSettings()
    )


def texts(found: RecallService, question: str, now: datetime = MORNING) -> list[str]:
    found.notes()
    return [item.text for item in found.recalled(question, now).injected]


def test_an_edit_is_read_at_the_next_question(tmp_path: Path) -> None:
    """The file is the memory."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room = reading(root)
    assert texts(room, "what is the mail server called?") == ["the mail server is called hermes"]
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called apollo now\n")
    assert texts(room, "what is the mail server called?") == [
        "the mail server is called apollo now"
    ]


def test_a_question_asked_again_finds_what_memory_says_by_then(tmp_path: Path) -> None:
    """After a hand edit or a commit, and without what was shown already."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room, question = reading(root), "what is the mail server called?"
    room.notes()
    first = room.recalled(question, MORNING)
    shown = room.recalled(question, MORNING, shown=frozenset(first.ids))
    assert (shown.candidates, shown.injected) == (first.candidates, ())
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called apollo now\n")
    assert texts(room, question) == ["the mail server is called apollo now"]
    before = room.recalled(question, MORNING).candidates
    add = Add(Kind.FACT, "The mail server is called zeus since today.", Trust.EXPLICIT)
    room.store.commit(Decision("remember", Author.PERSON, (add,)), MORNING)
    room.notes()
    assert len(room.recalled(question, MORNING).candidates) == len(before) + 1


def test_a_thread_that_read_earlier_puts_no_older_notes_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads read at once, the first is slow to index what it read, and somebody saved in
    between: the save counts.
    """
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room = reading(root)
    is_indexing, may_go_on = threading.Event(), threading.Event()
    updated = IndexSync.updated

    def slow_at_first(sync: IndexSync, *words: object) -> IndexSync:
        if not is_indexing.is_set():
            is_indexing.set()
            may_go_on.wait(60)
        return updated(sync, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(IndexSync, "updated", slow_at_first)
    slow, quick = threading.Thread(target=room.notes), threading.Thread(target=room.notes)
    slow.start()
    assert is_indexing.wait(60)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called apollo now\n")
    quick.start()
    quick.join(0.3)
    may_go_on.set()
    slow.join()
    quick.join()
    found = room.recalled("what is the mail server called?", MORNING).injected
    assert [item.text for item in found] == ["the mail server is called apollo now"]


def test_an_index_laid_to_rest_is_there_again_at_the_next_question(tmp_path: Path) -> None:
    """Within the bound only the channel that was asked last is at hand; nothing is lost by it."""
    root = workspace(tmp_path)
    index_lru, store = IndexLru(most=1), WorkspaceStore.open(root)
    vocabulary, rooms = Vocabulary(store), []
    for name in ("one", "two"):
        folder = root / "channels" / name
        folder.mkdir()
        text = f"## Facts\n\n- the printer stands in room {name}\n- coffee is on floor {name}\n"
        (folder / "MEMORY.md").write_text(text, encoding="utf-8")
        opened = ChannelStore.open(store, name, create=False)
        rooms.append(RecallService(opened, vocabulary, RecallSettings(), index_lru))
    for _ in range(2):
        for room, name in zip(rooms, ("one", "two"), strict=True):
            assert texts(room, "where is the printer?") == [f"the printer stands in room {name}"]
            assert [each.is_loaded for each in rooms] == [each is room for each in rooms]
            assert [each.size() for each in rooms] == [2 if each is room else 0 for each in rooms]


def test_words_txt_counts(tmp_path: Path) -> None:
    """A group of words.txt finds what was said with another word of it."""
    root = workspace(tmp_path)
    (root / "words.txt").write_text("帆船, sailing boat\n", encoding="utf-8")
    write(root, "MEMORY.md", "## Facts\n\n- 帆船停在三号码头\n- 食堂在二楼\n")
    assert texts(reading(root), "where is the sailing boat?") == ["帆船停在三号码头"]


def test_what_is_installed_over_a_running_process_does_not_change_its_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has loaded cuts the words, so what it cuts is kept under the stamp of that."""
    store = WorkspaceStore.open(workspace(tmp_path))
    package = tmp_path / "package"
    package.mkdir()
    (package / "stop_words.txt").write_text("the\n", encoding="utf-8")
    spec = ModuleSpec("package", None, is_package=True)
    spec.submodule_search_locations = [str(package)]
    find: Callable[[str], ModuleSpec] = lambda _: spec  # noqa: E731
    vocabulary_module._code_stamp.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(vocabulary_module, "find_spec", find)
        before = Vocabulary(store).stamp()
        (package / "stop_words.txt").write_text("the\nand\n", encoding="utf-8")
        assert Vocabulary(store).stamp() == before
    vocabulary_module._code_stamp.cache_clear()


def test_a_cold_recall_loads_no_event_loop() -> None:
    """The command line's recall is a process for one question: what it does not need it does not
    load.
    """
    code = "import sys, pipimem.runtime.recall_service; print(*[m for m in ('anyio', 'asyncio', 'click') if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


@pytest.mark.anyio
async def test_words_are_kept_at_the_close_and_never_on_a_turn(tmp_path: Path) -> None:
    """The next start cuts nothing; a file that is damaged is found out, and all is cut again."""
    root = workspace(tmp_path)
    entries = [f"- the gateway number{n} 订单系统{n}号" for n in range(150)]
    write(root, "MEMORY.md", "## Facts\n\n" + "\n".join(entries) + "\n")
    kept = root / "channels" / "room" / ".pipimem" / "words.idx"
    async with opened(root) as channel:
        await channel.before_turn("订单系统7号")
        assert not kept.exists()
    assert kept.exists()
    room = reading(root)
    assert "the gateway number7 订单系统7号" in texts(room, "gateway number7")
    assert room._state is not None
    assert room._state.token_cache.cut == 0
    kept.write_bytes(kept.read_bytes()[:-5])
    again = reading(root)
    assert texts(again, "gateway number7") == texts(room, "gateway number7")
    assert again._state is not None
    assert again._state.token_cache.cut == 150


@pytest.mark.anyio
async def test_what_is_forgotten_is_not_in_the_kept_words_either(tmp_path: Path) -> None:
    """They are taken away with the text, and what is kept later knows nothing of it."""
    root = workspace(tmp_path)
    entries = ["- the zebra is called Hortensia", *(f"- the gateway number{n}" for n in range(150))]
    write(root, "MEMORY.md", "## Facts\n\n" + "\n".join(entries) + "\n")
    kept = root / "channels" / "room" / ".pipimem" / "words.idx"
    async with opened(root) as channel:
        await channel.before_turn("zebra")
    assert "hortensia" in kept.read_text(encoding="utf-8")
    async with opened(root) as channel:
        await channel.before_turn("zebra")
        await channel.notes.forget(Text("the zebra is called Hortensia"))
        assert not kept.exists()
    assert not kept.exists() or "hortensia" not in kept.read_text(encoding="utf-8")


def test_each_recall_tells_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line: the steps with their times, how many were found, why none; never what was asked."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room = reading(root)
    monkeypatch.setenv("PIPIMEM_DEBUG", "1")
    for question in ("which mail server do we have?", "haha"):
        room.notes()
        room.recalled(question, MORNING)
    found, silent = capsys.readouterr().err.splitlines()
    steps = r"look [\d.]+, refine [\d.]+, rank [\d.]+, dedupe [\d.]+, fit [\d.]+"
    assert re.fullmatch(
        rf"pipimem recall 'room': ms: {steps}; 1 candidates, 1 injected, 0 left out", found
    )
    assert silent.endswith("0 candidates, 0 injected, 0 left out, chat that asks for nothing")
    monkeypatch.setenv("PIPIMEM_DEBUG", "0")
    room.notes()
    room.recalled("which server?", MORNING)
    assert capsys.readouterr().err == ""


@pytest.mark.anyio
async def test_turns_are_counted_and_kept_when_the_channel_closes(tmp_path: Path) -> None:
    """How many, and how long each waited; of all processes together."""
    root = workspace(tmp_path)
    for _ in range(2):
        async with opened(root) as channel:
            for _ in range(2):
                turn = await channel.before_turn("where do we keep the keys?")
                await channel.after_turn(turn, [Message.user("where do we keep the keys?")])
            store = upkeep_of(channel).store
    kept = store.caches.kept_figures()
    assert (kept.turns, len(kept.waits)) == (4, 4)
    assert min(kept.waits) > 0
