"""The files of a channel as a person edits them in a page, beside a bot and an editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import ById, File, Kind, Message, PipimemError, Text, Trust
from pipimem.results import EditConflict, EntryPlace, NoteBlock, SavedNote

from tests.runtime.building import opened, read, workspace, write

pytestmark = pytest.mark.anyio

MEMORY = "# Memory\n\n## Facts\n\n- The port is 8080\n- The host is bonn\n\nA paragraph.\n"
SECRET = "- password: hunter2-Zx9!kd\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


def entry(blocks: tuple[NoteBlock, ...], words: str) -> NoteBlock:
    (found,) = [block for block in blocks if block.kind == "entry" and words in block.text]
    return found


def place(file: File, block: NoteBlock) -> EntryPlace:
    assert block.entry is not None
    return EntryPlace(file, block.section, block.entry.id, block.source)


async def test_a_file_is_shown_block_by_block(root: Path) -> None:
    """With headings, entries and what else stands there, in order."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
    kinds = [(block.kind, block.text) for block in view.blocks]
    assert kinds == [
        ("heading", "Memory"),
        ("heading", "Facts"),
        ("entry", "The port is 8080"),
        ("entry", "The host is bonn"),
        ("entry", "A paragraph."),
    ]
    assert view.text == MEMORY
    assert not view.hides
    listed = view.blocks[2].entry
    assert listed is not None
    assert (listed.trust, listed.kind) == (Trust.HUMAN, Kind.FACT)


async def test_the_entries_that_are_meant_stand_under_their_headings(root: Path) -> None:
    """By kind, by how they came, by words of theirs or of who said them, in any order."""
    write(root, "MEMORY.md", f"{MEMORY}\n## Lessons\n\n- The port was wrong\n\n{SECRET}")
    async with opened(root) as channel:
        await channel.notes.remember("we deploy on Tuesdays", speaker="Alice", kind=Kind.DECISION)

        async def found(**wanted: object) -> list[str]:
            view = await channel.notes.view(File.MEMORY, **wanted)  # type: ignore[arg-type]
            assert view.found == sum(block.kind == "entry" for block in view.blocks)
            assert view.entries == 6
            return [block.text for block in view.blocks if block.text != "Memory"]

        assert await found(kind=Kind.LESSON, words="port") == ["Lessons", "The port was wrong"]
        assert await found(words="8080 PORT") == ["Facts", "The port is 8080"]
        (heading, by_alice) = await found(words="alice")
        assert by_alice.endswith("we deploy on Tuesdays")
        assert await found(trust=Trust.EXPLICIT) == [heading, by_alice]
        assert await found(words="hunter2") == []  # nobody finds out a secret word by word
        assert len(await found(trust=Trust.HUMAN, words="the")) == 5
        part = await channel.notes.view(File.MEMORY, words="port", begin=2, count=2)
        assert [block.text for block in part.blocks] == ["The port is 8080", "Lessons"]
        assert part.total == 4 + 1


async def test_a_draft_of_the_text_that_stands_is_saved(root: Path) -> None:
    """Word for word, as a change by a person that can be undone."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        draft = view.text.replace("8080", "9090")
        saved = await channel.notes.save(File.MEMORY, draft, base=view.text, etag=view.etag)
        assert isinstance(saved, SavedNote)
        assert read(root) == MEMORY.replace("8080", "9090")
        assert saved.etag == (await channel.notes.view(File.MEMORY)).etag
        (newest, *_) = await channel.history.log()
        assert (newest.number, newest.author, newest.actor) == (saved.number, "person", "person")
        await channel.history.undo(saved.number)
        assert read(root) == MEMORY


async def test_a_draft_of_an_older_text_is_a_conflict_and_nothing_is_lost(root: Path) -> None:
    """The merge has what both did; where both changed a line, both stand there."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        theirs = MEMORY.replace("bonn", "essen").replace("- The port is 8080", "- The port is 1")
        write(root, "MEMORY.md", theirs)
        draft = view.text.replace("8080", "9090").replace("A paragraph.", "Two.")
        found = await channel.notes.save(File.MEMORY, draft, base=view.text, etag=view.etag)
        assert isinstance(found, EditConflict)
        assert read(root) == theirs
        assert found.current == theirs
        for words in ("essen", "port is 1", "9090", "Two."):
            assert words in found.merged
        assert found.clashing == ("- The port is 8080\n",)
        again = await channel.notes.save(
            File.MEMORY, found.merged, base=found.current, etag=found.etag
        )
        assert isinstance(again, SavedNote)
        assert read(root) == found.merged


async def test_line_ends_and_other_lines_stay_as_they_are(root: Path) -> None:
    """A field of a form has no CR; only the changed line is written anew."""
    path = root / "channels" / "room" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"## Facts\r\n- one\r\n- two  \n- three")
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        draft = view.text.replace("- one", "- uno")
        await channel.notes.save(File.MEMORY, draft, base=view.text, etag=view.etag)
    assert path.read_bytes() == b"## Facts\r\n- uno\r\n- two  \n- three"


async def test_a_secret_is_not_shown_and_stays_where_others_edit(root: Path) -> None:
    """What a person typed into the file is theirs; the page gets a mark."""
    text = f"## Facts\n\n{SECRET}- plain\n"
    write(root, "MEMORY.md", text)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        assert view.hides
        assert "hunter2" not in repr(view)
        draft = view.text.replace("plain", "simple")
        await channel.notes.save(File.MEMORY, draft, base=view.text, etag=view.etag)
        assert read(root) == text.replace("plain", "simple")
        view = await channel.notes.view(File.MEMORY)
        lost = view.text.replace("- password", "- my password")
        with pytest.raises(PipimemError, match="hidden"):
            await channel.notes.save(File.MEMORY, lost, base=view.text, etag=view.etag)
        without = "".join(line for line in view.text.splitlines(True) if "password" not in line)
        await channel.notes.save(File.MEMORY, without, base=view.text, etag=view.etag)
    assert read(root) == "## Facts\n\n- simple\n"


async def test_a_secret_or_private_stretch_of_a_draft_is_not_written(root: Path) -> None:
    """And the answer says so."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        draft = view.text + SECRET + "- <private>my diary</private> fine\n"
        saved = await channel.notes.save(File.MEMORY, draft, base=view.text, etag=view.etag)
    assert isinstance(saved, SavedNote)
    assert saved.hides
    assert "hunter2" not in read(root)
    assert "diary" not in read(root)
    assert "fine" in read(root)


async def test_an_entry_is_edited_whatever_else_changed(root: Path) -> None:
    """It is known by its words; another entry that changed is no conflict."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        port = place(File.MEMORY, entry(view.blocks, "port"))
        write(root, "MEMORY.md", MEMORY.replace("bonn", "essen"))
        saved = await channel.notes.save_entry(port, "The port is 9090")
        assert isinstance(saved, SavedNote)
        assert read(root) == MEMORY.replace("bonn", "essen").replace("8080", "9090")
        gone = await channel.notes.save_entry(port, "The port is 7070")
        assert isinstance(gone, EditConflict)
        assert "- The host is essen\n- The port is 9090\n" not in gone.merged
        assert "- The port is 9090\n- The host is essen\n" in gone.merged
        assert "- The port is 7070\n" in gone.merged
        assert gone.theirs == "The port is 9090"
        assert "7070" not in read(root)


async def test_what_an_entry_became_is_known_beside_another_like_it(root: Path) -> None:
    """The ledger tells, where a record was carried along; likeness alone would take the other."""
    write(root, "MEMORY.md", "## Facts\n\n")
    async with opened(root) as channel:
        for text in ("I'm Dana, I do QA and run the release", "I'd rather not release at nine"):
            await channel.notes.remember(text, speaker="Dana")
        view = await channel.notes.view(File.MEMORY)
        dana = place(File.MEMORY, entry(view.blocks, "I do QA"))
        other = "I'm Dana's deputy, I do QA and run the release"
        await channel.notes.remember(other, speaker="Tom")
        text = read(root)
        line = next(line for line in text.splitlines() if "I'm Dana, I do QA" in line)
        write(root, "MEMORY.md", text.replace(line, "- Dana runs the release and does QA in Essen"))
        await channel.notes.entries()
        found = await channel.notes.save_entry(dana, "Dana does QA in Bonn")
        assert isinstance(found, EditConflict)
        assert found.theirs == "Dana runs the release and does QA in Essen"


async def test_two_edits_of_one_entry_know_of_each_other(root: Path) -> None:
    """However little the words of the first have in common with what stood there."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        port = place(File.MEMORY, entry((await channel.notes.view(File.MEMORY)).blocks, "port"))
        assert isinstance(await channel.notes.save_entry(port, "It listens at 1"), SavedNote)
        found = await channel.notes.save_entry(port, "It listens at 2")
        assert isinstance(found, EditConflict)
        assert found.theirs == "It listens at 1"


async def test_an_entry_is_taken_out(root: Path) -> None:
    """It is not a forgetting: an undo brings it back. Done twice, the second is a conflict."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        port = place(File.MEMORY, entry((await channel.notes.view(File.MEMORY)).blocks, "port"))
        assert isinstance(await channel.notes.remove_entry(port), SavedNote)
        text = MEMORY.replace("- The port is 8080\n", "")
        assert read(root) == text
        (newest, *_) = await channel.history.log()
        (change,) = newest.changes
        assert (change.verb, change.before, change.after) == ("taken out", "The port is 8080", "")
        again = await channel.notes.remove_entry(port)
        assert isinstance(again, EditConflict)
        assert again.merged == text
        await channel.history.undo()
    assert read(root) == MEMORY


async def test_an_entry_is_not_taken_out_by_an_empty_draft(root: Path) -> None:
    """The refusal names the way; nothing is written, and nothing is in the log."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        port = place(File.MEMORY, entry((await channel.notes.view(File.MEMORY)).blocks, "port"))
        for draft in ("", " ", "\n\n", "<!-- the port -->"):
            with pytest.raises(PipimemError, match=r"needs words.*Take out"):
                await channel.notes.save_entry(port, draft)
        assert await channel.history.log() == ()
    assert read(root) == MEMORY


async def test_words_of_an_entry_go_back_as_they_came(root: Path) -> None:
    """With inner lines, comments and a conflict, whose merge has the entry with its bullet."""
    text = "## Facts\n\n1. one <!-- of May -->\n   - inner\n\n   more\nlazy\n- two\n"
    write(root, "MEMORY.md", text)
    async with opened(root) as channel:
        block = entry((await channel.notes.view(File.MEMORY)).blocks, "one")
        assert block.words == "one <!-- of May -->\n- inner\n\nmore\nlazy"
        one = place(File.MEMORY, block)
        await channel.notes.save_entry(one, block.words)
        assert read(root) == text
        await channel.notes.save_entry(one, block.words.replace("inner", "inner\n- second"))
        assert read(root) == text.replace("   - inner\n", "   - inner\n   - second\n")
        found = await channel.notes.save_entry(one, "another\nline")
        assert isinstance(found, EditConflict)
        assert "1. another\n   line\n" in found.merged


async def test_a_pin_keeps_who_said_it(root: Path) -> None:
    """Marking is not rewording."""
    async with opened(root) as channel:
        await channel.notes.remember("the port is 8080", speaker="Alice")
        before = entry((await channel.notes.view(File.MEMORY)).blocks, "port")
        await channel.notes.pin(place(File.MEMORY, before), pinned=True)
        after = entry((await channel.notes.view(File.MEMORY)).blocks, "port")
        assert after.is_pinned
        assert after.text == "the port is 8080 📌"
        assert before.entry is not None
        assert after.entry is not None
        assert (after.entry.speaker, after.entry.trust) == ("Alice", before.entry.trust)
        await channel.notes.pin(place(File.MEMORY, after), pinned=False)
        last = entry((await channel.notes.view(File.MEMORY)).blocks, "port")
        assert last.text == "the port is 8080"
        assert last.entry is not None
        assert last.entry.speaker == "Alice"


async def test_an_entry_is_moved_under_another_heading(root: Path) -> None:
    """That a person typed it is no reason against it."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        view = await channel.notes.view(File.MEMORY)
        port = place(File.MEMORY, entry(view.blocks, "port"))
        saved = await channel.notes.move(port, Kind.DECISION)
        assert isinstance(saved, SavedNote)
        view = await channel.notes.view(File.MEMORY)
        assert entry(view.blocks, "port").section == "Decisions"
        assert isinstance(await channel.notes.move(port, Kind.LESSON), EditConflict)


async def test_what_a_forgetting_would_remove(root: Path) -> None:
    """Entries and messages, before anything is removed."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        await channel.talk.append([Message.user("bonn it is", speaker="Alice")])
        preview = await channel.notes.preview_forget(Text("bonn"))
        assert preview.entries == ("The host is bonn",)
        assert preview.messages == ("Alice: bonn it is",)
        assert read(root) == MEMORY


async def test_a_forgetting_is_shown_with_what_goes_from_the_archive(root: Path) -> None:
    """By the id of a message: what was learnt from it, wherever it went."""
    write(root, "HISTORY.archive.md", "# History\n\n- Alice (2026-03-01): bonn it is\n- tea\n")
    async with opened(root) as channel:
        await channel.talk.append([Message.user("bonn it is", id="m1", speaker="Alice")])
        preview = await channel.notes.preview_forget(ById("m1"))
        assert preview.entries == ("Alice (2026-03-01): bonn it is",)
        assert (preview.messages, preview.speakers) == (("Alice: bonn it is",), ())
        assert (await channel.notes.preview_forget(Text("Alice"))).speakers == ("Alice",)
        counts = await channel.notes.forget(ById("m1"))
        assert (counts["archive"], counts["messages"]) == (1, 1)


async def test_the_stamp_tells_of_a_save(root: Path) -> None:
    """By whoever writes."""
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        before = await channel.notes.stamp()
        assert await channel.notes.stamp() == before
        write(root, "MEMORY.md", MEMORY + "- more\n")
        assert await channel.notes.stamp() != before
        between = await channel.notes.stamp()
        write(root, "SESSION.md", "# Session\n")
        assert await channel.notes.stamp() != between
