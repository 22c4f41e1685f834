"""A turn: the snapshot once a session, recall each turn, nothing written before the reply."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from pipimem import ArgumentError, Channel, Message, Pipimem
from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.results import MemoryRequest
from pipimem.runtime.channel import upkeep_of
from pipimem.state.channel_state import ChannelState

from tests.runtime.building import Hands, opened, read, say, settings, workspace, write

pytestmark = pytest.mark.anyio

MEMORY = (
    "## Constraints\n\n- 周五不许发布\n\n## Facts\n\n- the staging database listens on port 5433\n"
)


async def test_every_turn_stands_on_its_own(tmp_path: Path) -> None:
    """What binds comes with each, the rest of the snapshot with the first; what a message needs
    is shown whether or not it was shown before.
    """
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        for number in range(10):
            hello = await channel.before_turn("你好")
            await channel.after_turn(hello, [Message.user("你好"), Message.assistant("ok")])
            assert "周五不许发布" in hello.standing
            assert ("5433" in hello.standing) is (number == 0)
            assert hello.recalled == ""
            asked = await say(channel, "which port does the staging database use?")
            assert "周五不许发布" in asked
            assert "5433" in asked


async def test_the_standing_part_repeats_its_bytes(tmp_path: Path) -> None:
    """From the first turn on, in another session and after a restart; an edit changes them."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    standing = []
    for _ in range(2):
        async with opened(root) as channel:
            for text in ("你好", "which port does the staging database use?"):
                turn = await channel.before_turn(text)
                await channel.after_turn(turn, [])
                standing.append(turn.standing)
    first, later, *again = standing
    assert first.startswith(later + "\n")
    assert again == [first, later]
    write(root, "MEMORY.md", MEMORY.replace("周五", "周末"))
    async with opened(root) as channel:
        assert not (await channel.before_turn("你好")).standing.startswith(later)


async def test_a_turn_says_what_it_costs_and_what_it_rests_on(tmp_path: Path) -> None:
    """Tokens of both parts, and the messages behind the entries; both parts are in the context."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("we never deploy on Fridays", kind=Kind.CONSTRAINT)
        add = Add(Kind.FACT, "the port is 5433", Trust.EXPLICIT, Evidence(("m7", "m9")))
        await channel._jobs.commit(Decision("test", Author.MODEL, (add,)))
        first = await channel.before_turn("你好")
        assert first.sources == ("m7", "m9")
        await channel.after_turn(first, [])
        turn = await channel.before_turn("which port?")
        assert turn.context == f"{turn.standing}\n\n{turn.recalled}"
        assert turn.sources == ("m7", "m9")
        assert 30 < turn.standing_tokens < 60
        assert 30 < turn.recalled_tokens < 60
        assert (await channel.before_turn("你好")).sources == ()


@pytest.mark.slow
async def test_a_turn_stays_within_its_tokens(tmp_path: Path) -> None:
    """A first turn within 1,900 of the snapshot and 1,800 of recall, a later one within 700 and
    1,800, whatever memory holds.
    """
    root = workspace(tmp_path)
    sections = []
    for name in ("Constraints", "Preferences", "Participants", "Facts", "Decisions"):
        lines = [f"- the `nimbus` {name} {n}: {'生产环境 <b> ' * (n % 60)}\n" for n in range(300)]
        sections.append(f"## {name}\n\n{''.join(lines)}\n")
    write(root, "MEMORY.md", "".join(sections))
    (root / "MEMORY.md").write_text("# Shared\n\n" + "".join(sections), encoding="utf-8")
    async with opened(root) as channel:
        for snapshot_tokens in (1_900, 700):
            turn = await channel.before_turn("what is nimbus 59, nimbus 119 and nimbus 179?")
            assert 300 < turn.standing_tokens <= snapshot_tokens
            assert 100 < turn.recalled_tokens <= 1_800
            await channel.after_turn(turn, [])


async def test_what_was_shown_and_is_asked_for_again_counts_as_recalled(tmp_path: Path) -> None:
    """An entry that every turn shows is used by the one that asks for it."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("we never deploy on Fridays", kind=Kind.CONSTRAINT)
        await say(channel, "hello")
        assert await _recalls(channel) == [0]
        turn = await channel.before_turn("may we deploy on Fridays?")
        assert turn.recalled == ""
        await channel.after_turn(turn, [])
        assert await _recalls(channel) == [1]


async def test_what_a_question_found_counts_though_it_had_no_room(tmp_path: Path) -> None:
    """An entry that is asked for is used, printed or not."""
    root = workspace(tmp_path)
    long = {"cellar": "the nimbus cellar is damp, ", "attic": "the nimbus attic is dry, "}
    async with opened(root) as channel:
        for text in long.values():
            await channel.notes.remember(f"{text}{'as we saw on the walk around it ' * 100}")
        turn = await channel.before_turn("how are the nimbus cellar and the nimbus attic?")
        assert turn.recall
        assert len(turn.recall.injected) < len(turn.recall.candidates) == 2
        await channel.after_turn(turn, [])
        assert await _recalls(channel) == [1, 1]


async def _recalls(channel: Channel) -> list[int]:
    await upkeep_of(channel).flush()
    return [record.recalls for record in (await upkeep_of(channel).notes()).ledger.records.values()]


async def test_the_snapshot_is_spent_only_when_the_turn_was_accepted(tmp_path: Path) -> None:
    """A turn that never came to an answer is asked again with the snapshot."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        lost = await channel.before_turn("你好")
        again = await channel.before_turn("你好")
    assert lost.first
    assert again.shown == lost.shown


@pytest.mark.parametrize("by_setting", [False, True])
async def test_a_host_that_keeps_the_blocks_is_shown_nothing_twice(
    by_setting: bool, tmp_path: Path
) -> None:
    """By the argument or the setting; what is new in what stands comes alone; a reset begins
    anew.
    """
    root, asked = workspace(tmp_path), "which port does the staging database use?"
    write(root, "MEMORY.md", MEMORY)
    (root / "pipimem.toml").write_text(f"[recall]\nkeeps_context = {str(by_setting).lower()}\n")
    keeps = None if by_setting else True
    async with Pipimem(root, keeps_context=keeps) as pipimem:
        channel = await pipimem.channel("room")
        first = await say(channel, "你好")
        assert "周五不许发布" in first
        assert "5433" in first
        assert await say(channel, asked) == ""
        write(root, "MEMORY.md", MEMORY.replace("发布\n", "发布\n- 密钥只放密钥库\n"))
        later = await say(channel, asked)
        assert "密钥只放密钥库" in later
        assert "周五不许发布" not in later
        assert await say(channel, asked) == ""
        await channel.reset()
        assert "5433" in await say(channel, asked)


async def test_before_turn_never_waits_for_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the disk takes its time with one, the turn goes on with the notes from before it."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    begun, disk_is_done = threading.Event(), threading.Event()
    real = ChannelState.append

    def slow(self: ChannelState, *args: Any) -> None:
        begun.set()
        disk_is_done.wait(60)
        real(self, *args)

    async with opened(root) as channel, anyio.create_task_group() as tasks:
        await say(channel, "你好")
        monkeypatch.setattr(ChannelState, "append", slow)
        tasks.start_soon(channel.notes.remember, "the gateway is called Hermes")
        await anyio.to_thread.run_sync(begun.wait)
        try:
            with anyio.fail_after(60):
                turn = await channel.before_turn("你好, which port does the staging database use?")
                assert "Hermes" not in turn.context
        finally:
            disk_is_done.set()
    assert "Hermes" in read(root)


async def test_before_turn_writes_nothing(tmp_path: Path) -> None:
    """Until the reply is on its way the workspace is as it was, to the byte and the minute."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
        await channel.before_turn("which port does the staging database use?")
        assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


async def test_an_edit_is_seen_by_the_next_turn(tmp_path: Path) -> None:
    """No restart, no command: the file is the memory."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        await say(channel, "你好")
        write(root, "MEMORY.md", MEMORY + "- the mail server is called hermes\n")
        assert "hermes" in await say(channel, "what is the mail server called?")


async def test_a_secret_and_a_private_stretch_never_reach_the_disk(tmp_path: Path) -> None:
    """Not in the transcript, not in the state, not anywhere in the workspace."""
    root = workspace(tmp_path)
    key = "sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN"
    async with opened(root) as channel:
        await say(channel, f"记住：密钥是 {key}", speaker="Dana")
        await say(channel, "remember that I like tea <private>and that I am ill</private>")
        await channel.notes.remember(f"the key {key} opens the test account")
    everything = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert key.encode() not in everything
    assert b"I am ill" not in everything
    assert b"I like tea" in everything


async def test_a_broken_memory_never_spoils_a_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A binary file where Markdown should be: what it had before serves, and the log says so."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("the roof is red")
        path = root / "channels" / "room" / "MEMORY.md"
        path.write_bytes(b"\x00\xff binary")
        turn = await channel.before_turn("which colour is the roof?")
        assert "the roof is red" in turn.context
        await channel.after_turn(turn, [Message.user("你好"), Message.assistant("hi")])
        await channel.notes.remember("the door is green")
        turn = await channel.before_turn("which colour is the door?")
        assert "the door is green" in turn.context
        assert path.read_bytes() == b"\x00\xff binary"
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]


async def test_messages_are_known_by_id(tmp_path: Path) -> None:
    """A callback that the platform delivers twice is one message."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        for _ in range(2):
            await channel.after_turn(
                None, [Message.user("hello", id="cb1"), Message.assistant("hi", id="cb2")]
            )
    assert read(root, "log.jsonl").count("\n") == 2


async def test_nothing_of_one_channel_shows_in_another(tmp_path: Path) -> None:
    """Two conversations share the workspace's background, nothing else."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    async with opened(root) as channel:
        await say(channel, "你好")
    from pipimem import Pipimem

    async with Pipimem(root) as pipimem:
        other = await pipimem.channel("other room")
        turn = await other.before_turn("which port does the staging database use? 周五能发布吗")
    assert turn.context == ""


async def test_the_system_prompt_says_who_and_where(tmp_path: Path) -> None:
    """SOUL, AGENTS, the three files, and that they are data."""
    root = workspace(tmp_path)
    (root / "SOUL.md").write_text("You are pipi, dry and kind.", encoding="utf-8")
    async with opened(root) as channel:
        prompt = await channel.session_prompt()
    assert prompt.startswith("You are pipi, dry and kind.")
    for word in ("SESSION.md", "MEMORY.md", "HISTORY.md", "not preloaded", "data"):
        assert word in prompt


@pytest.mark.parametrize("name", ["SOUL.md", "AGENTS.md"])
async def test_a_bot_does_not_speak_without_its_rules(name: str, tmp_path: Path) -> None:
    """A broken SOUL or AGENTS is told before the first turn, by its name and line; memory itself
    goes on.
    """
    root = workspace(tmp_path)
    (root / name).write_bytes("You are pipi.\n从不说谎".encode("gb18030"))
    async with opened(root) as channel:
        with pytest.raises(UnreadableNote, match=rf"{name}, line 2: not UTF-8.*save it as UTF-8"):
            await channel.session_prompt()
        assert (await channel.before_turn("hello")).problem == ""


async def test_event_time_is_what_hands_say(tmp_path: Path) -> None:
    """A message without a time gets the channel's clock."""
    root = workspace(tmp_path)
    async with opened(root, hands=Hands()) as channel:
        await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    assert read(root, "log.jsonl").count('"ts": "2026-03-02T09:00:00+08:00"') == 2


async def test_talk_is_kept_though_a_probation_cannot_be_ended(tmp_path: Path) -> None:
    """MEMORY.md became unreadable during the turn: counting the recall waits, what was said does
    not.
    """
    root = workspace(tmp_path)
    async with opened(root) as channel:
        until = Hands().now + timedelta(days=30)
        add = Add(
            Kind.FACT,
            "the staging database listens on port 5433",
            Trust.INFERRED,
            probation_until=until,
        )
        await channel._jobs.commit(Decision("test", Author.MODEL, (add,)))
        turn = await channel.before_turn("which port does the staging database use?")
        assert "5433" in turn.context
        memory = read(root)
        write(root, "MEMORY.md", "\0")
        await channel.after_turn(turn, [Message.user("which port?"), Message.assistant("5433")])
        write(root, "MEMORY.md", memory)
    assert "which port?" in read(root, "log.jsonl")


async def test_a_name_is_written_without_secrets(tmp_path: Path) -> None:
    """Platforms let people call themselves anything."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.talk.append(
            [Message.user("hi", speaker="Dana <private>x</private> password: hunter2Xy9")]
        )
    assert '"name": "Dana [PRIVATE] password: [secret:password]"' in read(root, "log.jsonl")


async def test_remembering_has_no_part_in_private_stretches_of_the_talk(tmp_path: Path) -> None:
    """An open tag in what is to be remembered hides nothing said afterwards, and the other way
    round.
    """
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("the door is green <private>and")
        await channel.talk.append([Message.user("good morning"), Message.user("<private>listen")])
        await channel.notes.remember("the roof is red")
    assert "good morning" in read(root, "log.jsonl")
    assert "the roof is red" in read(root)


async def test_names_of_any_kind_are_written_without_secrets(tmp_path: Path) -> None:
    """A room's title, a session's label, who asks to remember: each comes from a platform, and
    none is checked there.
    """
    root, name = workspace(tmp_path), "x <private>hidden</private> password: hunter2Xy9"
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", title=name)
        await channel.talk.append([Message("user", "hi", session=name)])
        await channel.notes.remember("the roof is red", speaker=name)
    files = (path for path in root.rglob("*") if path.is_file())
    everything = "".join(path.read_bytes().decode("utf-8", "replace") for path in files)
    assert everything.count("x [PRIVATE] password: [secret:password]") >= 4
    assert "hidden" not in everything
    assert "hunter2Xy9" not in everything


async def test_a_broken_shared_file_silences_no_channel(tmp_path: Path) -> None:
    """The workspace's MEMORY.md or words.txt is no text: it alone is left out, until it is one
    again.
    """
    root = workspace(tmp_path)
    for name in ("MEMORY.md", "words.txt"):
        (root / name).write_bytes(b"\x00\xff binary")
    async with opened(root) as channel:
        await channel.notes.remember("the roof is red")
        turn = await channel.before_turn("which colour is the roof?")
        assert turn.problem == ""
        assert "the roof is red" in turn.context
        assert (root / "MEMORY.md").read_bytes() == b"\x00\xff binary"
        (root / "MEMORY.md").write_text(
            "# Shared\n\n- the house is called Seagull\n", encoding="utf-8"
        )
        assert "Seagull" in (await channel.before_turn("what is the house called?")).context


async def test_talk_is_kept_though_the_notes_cannot_be_read_again(tmp_path: Path) -> None:
    """During a long turn the channel gave its memory back, and MEMORY.md became unreadable: the
    recall is not counted.
    """
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("the roof is red")
        turn = await channel.before_turn("which colour is the roof?")
        await upkeep_of(channel).unload()
        memory = read(root)
        write(root, "MEMORY.md", "\0")
        await channel.after_turn(turn, [Message.user("which colour?"), Message.assistant("red")])
        write(root, "MEMORY.md", memory)
    assert "which colour?" in read(root, "log.jsonl")


async def test_a_request_to_forget_is_told_to_the_host_and_not_learnt(tmp_path: Path) -> None:
    """The host can act on it; until then nothing is written that says it again."""
    async with opened(workspace(tmp_path)) as channel:
        text = "Forget that my phone is a Pixel 9. I always work from Lyon on Fridays."
        turn = await channel.before_turn(text, speaker="Tom")
        assert turn.requests == (MemoryRequest("forget", "my phone is a Pixel 9", "Tom"),)
        await channel.after_turn(turn, [Message.user(text, speaker="Tom"), Message.assistant("ok")])
        await channel.before_compaction()
        memory = read(tmp_path / "workspace") + read(tmp_path / "workspace", "HISTORY.md")
    assert "Lyon" in memory
    assert "Pixel" not in memory


HELLO = Message.user("hello")


@pytest.mark.parametrize(
    "call",
    [
        lambda channel, turn: channel.before_turn(None),
        lambda channel, turn: channel.before_turn([{"type": "text", "text": "tea"}]),
        lambda channel, turn: channel.before_turn("tea", speaker=7),
        lambda channel, turn: channel.recall(None),
        lambda channel, turn: channel.after_turn("turn", [HELLO]),
        lambda channel, turn: channel.after_turn(turn, [HELLO, {"role": "user", "content": "x"}]),
        lambda channel, turn: channel.after_turn(turn, None),
        lambda channel, turn: channel.after_turn(turn, HELLO),
        lambda channel, turn: channel.talk.append("tea"),
        lambda channel, turn: channel.before_compaction([HELLO, "tea"]),
        lambda channel, turn: channel.before_compaction(deadline="10"),
        lambda channel, turn: channel.compacted(None),
    ],
)
async def test_an_argument_of_another_type_is_refused_before_anything_is_stored(
    tmp_path: Path, call: Any
) -> None:
    """The host reads in a sentence what to give; the next turn goes on as if nothing was."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        turn = await channel.before_turn("hello")
        with pytest.raises(ArgumentError, match=r"must be .*, not "):
            await call(channel, turn)
        assert read(root, "log.jsonl") == ""
        await channel.after_turn(turn, [HELLO])
    assert "hello" in read(root, "log.jsonl")


async def test_a_turn_opens_with_what_concerns_who_speaks(tmp_path: Path) -> None:
    """In a direct chat health stands and the person's wishes open what is recalled, whatever is
    said; the standing part keeps its bytes.
    """
    root = workspace(tmp_path)
    async with Pipimem(root) as pipimem:
        channel = await pipimem.channel("ida", kind="dm")
        await channel.notes.remember("answer in French", kind=Kind.WISH, speaker="Ida")
        await channel.notes.remember("I'm allergic to nuts", kind=Kind.HEALTH, speaker="Ida")
        first = await channel.before_turn("你好", speaker="Ida")
        await channel.after_turn(first, [])
        later = await channel.before_turn("which port does nimbus use?", speaker="Ida")
    for turn in (first, later):
        assert "allergic to nuts" in turn.standing
        assert "answer in French" in turn.recalled
        assert "answer in French" not in turn.standing
    assert first.standing == later.standing


async def test_in_a_group_a_turn_opens_with_the_speakers_wishes(tmp_path: Path) -> None:
    """And with the health of who spoke just before, or is named; nobody else's."""
    root = workspace(tmp_path)
    async with Pipimem(root) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await channel.notes.remember("answer in French", kind=Kind.WISH, speaker="Ida")
        await channel.notes.remember("I'm allergic to nuts", kind=Kind.HEALTH, speaker="Tom")
        leo = await channel.before_turn("where shall we eat?", speaker="Leo")
        named = await channel.before_turn("does Tom like satay?", speaker="Ida")
        assert "French" not in leo.context
        assert "nuts" not in leo.context
        assert named.recalled.index("French") < named.recalled.index("nuts")
        await channel.after_turn(named, [Message.user("I am hungry", speaker="Tom")])
        again = await channel.before_turn("where shall we eat?", speaker="Leo")
    assert "nuts" in again.recalled
    assert again.standing == named.standing == leo.standing
