"""`forget` removes the thing everywhere, spares what others said, and ends undo (promises 1, 7)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.promises.front_door import (
    By,
    CannotTakeBack,
    Channel,
    Consolidated,
    FixedClock,
    HistoryItem,
    Kind,
    Learned,
    Message,
    NothingFound,
    ScriptedAssistant,
    call_tool,
    detail,
    diff,
    entries,
    folder_of,
    forget,
    forget_preview,
    log,
    maintain,
    note,
    remember,
    restore,
    retract,
    run_command,
    take_in,
    texts,
    undo,
)
from tests.promises.processes import command
from tests.promises.rooms import (
    ASYNCIO,
    MORNING,
    context,
    opened,
    require_human_files,
    say,
    traces,
    write_human_files,
)

pytestmark = ASYNCIO
WORD = "quokkapass"
OTHERS = ("tea is green", "milk is white", "Tom guards the gate", "周会每周三 10:00")


def verified(workspace: Path, text: str = WORD) -> bool:
    """Whether `pipimem forget --verify` finds nothing of a text any more."""
    return run_command(workspace, "forget", "room", "--verify", text).code == 0


async def live_with(channel: Channel, clock: FixedClock) -> None:
    """Have the word wherever one can be: entry, sheet, history, transcript, journal, versions."""
    for text in OTHERS:
        await remember(channel, text)
    await remember(channel, f"Ines keeps the code {WORD} in her desk", speaker="Ines")
    for text in (
        f"We decided that the door code is {WORD}",
        f"remember that {WORD} opens the cellar",
        "We decided that the lantern release is on Thursday",
    ):
        await say(channel, text, f"I see: {text}", speaker="Ines")
        clock.advance(timedelta(minutes=5))
    await channel.compacted(await channel.before_compaction())
    await maintain(channel)
    path = folder_of_channel(channel) / "MEMORY.md"
    path.write_text(path.read_text() + f"- typed by hand: {WORD}\n")
    archive = f"## Expired 2026-01-02 · Facts\n\n- the old code was {WORD}\n- lamps are in hall 3\n"
    path.with_name("HISTORY.archive.md").write_text(archive)
    await say(channel, "hello")
    await channel.preview_turn(f"what is {WORD}?")


def folder_of_channel(channel: Channel) -> Path:
    """Return the folder of a channel, which its repr ends with."""
    return Path(repr(channel).rsplit("'", 2)[1])


async def test_a_text_is_gone_from_every_byte(workspace: Path) -> None:
    """Files, transcript, journal, versions, ledger, indexes; others stay; `--verify` proves it."""
    write_human_files(workspace)
    clock = FixedClock(MORNING)
    async with opened(workspace, clock=clock) as channel:
        await live_with(channel, clock)
    # The indexes are kept where a bot ends.
    async with opened(workspace, clock=clock) as channel:
        await context(channel, f"what is the door code {WORD}?")
        assert len(traces(workspace, [WORD])) >= 4
        counts = await forget(channel, WORD)
        assert counts
        assert traces(workspace, [WORD]) == {}
        kept = [entry.text for entry in await entries(channel)]
        assert [text for text in OTHERS if text not in kept] == []
        assert WORD not in await context(channel, f"what is the door code {WORD}?")
        assert WORD not in await call_tool(channel, "memory_search", query="door code cellar")
        await say(channel, "hello again")
    assert traces(workspace, [WORD]) == {}
    assert verified(workspace)
    assert "lantern" in note(workspace, "room", "log.jsonl")
    assert "lamps are in hall 3" in note(workspace, "room", "HISTORY.archive.md")
    require_human_files(workspace)


async def test_an_entry_goes_by_its_id(workspace: Path) -> None:
    """That entry from notes, journal and versions; an entry of like words stays."""
    async with opened(workspace) as channel:
        await remember(channel, f"the code is {WORD}")
        await remember(channel, "the code is kept by Tom")
        [entry] = [entry for entry in await entries(channel) if WORD in entry.text]
        await forget(channel, [entry.id])
        assert [entry.text for entry in await entries(channel)] == ["the code is kept by Tom"]
    assert traces(workspace, [WORD]) == {}


async def test_all_of_a_speaker_goes(workspace: Path) -> None:
    """Their messages and what rests on them alone, by API and command line; others' words stay."""
    async with opened(workspace) as channel:
        await say(channel, f"remember that {WORD} opens the cellar", speaker="Ines")
        await say(channel, "remember that the gate is green", speaker="Tom")
        await channel.before_compaction()
        assert len(await entries(channel)) == 2
    ran = run_command(workspace, "forget", "room", "--speaker", "Ines", "--yes")
    assert ran.code == 0, ran.errors
    assert traces(workspace, [WORD]) == {}
    assert "the gate is green" in note(workspace, "room")
    assert "the gate is green" in note(workspace, "room", "log.jsonl")


@pytest.mark.parametrize("how", ["forget", "retract", "command"])
async def test_a_message_goes(workspace: Path, how: str) -> None:
    """By its id, with what was learnt of it alone; what was said beside it stays."""
    async with opened(workspace) as channel:
        said = Message.user(f"remember that {WORD} opens the cellar", speaker="Ines", id="m-1")
        other = Message.user("remember that the gate is green", speaker="Tom", id="m-2")
        await take_in(channel, [said, other])
        await channel.before_compaction()
        assert WORD in note(workspace, "room")
        if how == "forget":
            await forget(channel, message="m-1")
        elif how == "retract":
            assert await retract(channel, "m-1") is True
        with pytest.raises(NothingFound):
            await retract(channel, "m-9")
    if how == "command":
        ran = run_command(workspace, "forget", "room", "--message", "m-1", "--yes")
        assert ran.code == 0, ran.errors
    assert traces(workspace, [WORD]) == {}
    assert "the gate is green" in note(workspace, "room")
    lines = [json.loads(line) for line in note(workspace, "room", "log.jsonl").splitlines()]
    assert [(line["id"], line["content"]) for line in lines] == [
        ("m-1", ""),
        ("m-2", "remember that the gate is green"),
    ]


async def test_a_message_nothing_was_learnt_of_ends_no_undo(workspace: Path) -> None:
    """A message taken back on the platform is emptied; changes before it stay undoable."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        await take_in(channel, [Message.user(f"hm, {WORD}", speaker="Ines", id="m-1")])
        assert await retract(channel, "m-1") is False
        assert traces(workspace, [WORD]) == {}
        await undo(channel)
        assert await entries(channel) == ()


SPELLINGS = {
    "upper case": (f"the code is {WORD.upper()}", WORD),
    "asked in upper case": (f"the code is {WORD}", WORD.upper()),
    "several blanks": ("the door   code of quokkapass", "door code of quokkapass"),
    "full width": ("the code is ｑｕｏｋｋａｐａｓｓ", WORD),
    "asked in full width": (f"the code is {WORD}", "ｑｕｏｋｋａｐａｓｓ"),
    "a line break": ("the door\n  code of quokkapass", "door code of quokkapass"),
}
UNSEEN = {
    "a zero-width space": (f"the code is {WORD[:5]}\u200b{WORD[5:]}", WORD, WORD[5:]),
    "an apostrophe of a phone": (f"the {WORD}’s owner is Ann", f"{WORD}'s owner", WORD),
    "bold words": (f"the **{WORD}** door code", f"{WORD} door code", WORD),
    "quotation marks": (f"say “hello {WORD}” at the door", f'"hello {WORD}"', WORD),
    "a joined emoji": (
        f"we decided dinner with 👨\u200d👩\u200d👧 {WORD} is at seven",
        f"we decided dinner with 👨\u200d👩\u200d👧 {WORD} is at seven",
        WORD,
    ),
    "an emoji nobody asked for": (f"the bus 👍🏽 {WORD} is late", f"the bus {WORD} is late", WORD),
    "a soft hyphen": (f"the code is {WORD[:5]}\u00ad{WORD[5:]}", WORD, WORD[5:]),
    "a blank that does not break": (f"door\u00a0code\u202f{WORD}", f"door code {WORD}", WORD),
    "half a character": (f"the code \ud83d is {WORD}", f"the code \ud83d is {WORD}", WORD),
    "a NUL byte": (f"the code\0is {WORD}", f"the code\0is {WORD}", WORD),
    "an accent by itself": (f"the cafe\u0301 of {WORD}", f"the café of {WORD}", WORD),
    "an accent asked by itself": (f"the café of {WORD}", f"the cafe\u0301 of {WORD}", WORD),
    "words of code": (f"the `door` _code_ of ~~{WORD}~~", f"the door code of {WORD}", WORD),
    "bold Chinese": (f"门锁的**密码**是{WORD}", f"门锁的密码是{WORD}", WORD),
    "a hyphen of a page": (f"Mary\u2010{WORD} is the guard", f"Mary-{WORD}", WORD),
}


@pytest.mark.parametrize("name", SPELLINGS)
async def test_a_spelling_makes_no_difference(workspace: Path, name: str) -> None:
    """In notes and in talk; what is asked for may be spelt otherwise than what stands there."""
    stands, asked = SPELLINGS[name]
    async with opened(workspace) as channel:
        await remember(channel, stands)
        await remember(channel, "tea is green")
        await say(channel, stands)
        await forget(channel, asked)
        assert [entry.text for entry in await entries(channel)] == ["tea is green"]
    assert traces(workspace, [WORD, "ｑｕｏｋｋａ"]) == {}


@pytest.mark.parametrize("name", UNSEEN)
async def test_what_the_eye_reads_alike_goes(workspace: Path, name: str) -> None:
    """Characters that nobody sees, typographic signs and marks of Markdown make no difference.

    The preview shows them, and the proof finds them before, also in what was learnt.
    """
    stands, asked, left = UNSEEN[name]
    async with opened(workspace) as channel:
        await remember(channel, stands)
        await say(channel, stands, speaker="Ines")
        await remember(channel, "tea is green")
        await channel.before_compaction()
        assert not verified(workspace, asked)
        would_go = await forget_preview(channel, asked)
        assert would_go.entries
        assert would_go.messages
        await forget(channel, asked)
        assert verified(workspace, asked)
        assert "tea is green" in [entry.text for entry in await entries(channel)]
    assert traces(workspace, [left]) == {}


async def test_a_part_of_another_word_stays(workspace: Path) -> None:
    """`Tom` is no part of `tomorrow`; with `inside_words` it is."""
    async with opened(workspace) as channel:
        await remember(channel, "Tom has the key")
        await remember(channel, "the tomorrow file is old")
        await forget(channel, "Tom")
        assert [entry.text for entry in await entries(channel)] == ["the tomorrow file is old"]


async def test_the_transcript_may_be_kept(workspace: Path) -> None:
    """With `--keep-transcript` the log alone has it, and it is not learnt from it again."""
    async with opened(workspace) as channel:
        await say(channel, f"remember that {WORD} opens the cellar", speaker="Ines")
        await channel.before_compaction()
        assert WORD in note(workspace, "room")
    ran = run_command(workspace, "forget", "room", WORD, "--keep-transcript", "--yes")
    assert ran.code == 0, ran.errors
    assert set(traces(workspace, [WORD])) <= {"channels/room/log.jsonl"}
    assert WORD in note(workspace, "room", "log.jsonl")
    async with opened(workspace) as channel:
        await say(channel, "hello", speaker="Tom")
        await channel.before_compaction()
        assert WORD not in note(workspace, "room")


async def test_nothing_before_a_forget_is_taken_back(workspace: Path) -> None:
    """Undo, diff and restore end there, and show nothing of it; later changes are undoable."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        await remember(channel, f"the code is {WORD}")
        number = (await log(channel))[0].number
        await forget(channel, WORD)
        shown = str(await log(channel, 100)) + str(await texts(channel))
        for call in (
            lambda: undo(channel, number),
            lambda: undo(channel, number - 1),
            lambda: restore(channel, number),
            lambda: diff(channel, number - 1),
        ):
            with pytest.raises((CannotTakeBack, NothingFound)) as refused:
                await call()
            shown += str(refused.value)
        assert WORD not in shown
        await remember(channel, "milk is white")
        await undo(channel)
        assert [entry.text for entry in await entries(channel)] == ["tea is green"]


@pytest.mark.parametrize("by_rename", [False, True], ids=["in place", "by rename"])
async def test_an_old_buffer_saved_afterwards_brings_nothing_back(
    workspace: Path, by_rename: bool
) -> None:
    """The editor's own line stays; the forgotten lines go, and `doctor` or the log reports it."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        await remember(channel, f"the code is {WORD}")
        await remember(channel, "milk is white")
        path = folder_of(workspace, "room") / "MEMORY.md"
        buffer = path.read_text()
        await forget(channel, WORD)
        buffer = buffer.replace("- tea is green", "- tea is green and hot")
        if by_rename:
            path.with_name("buffer").write_text(buffer)
            path.with_name("buffer").replace(path)
        else:
            path.write_text(buffer)
        assert WORD not in await say(channel, "what is the code?")
        await remember(channel, "salt is grey")
        kept = [entry.text for entry in await entries(channel)]
        assert kept == ["tea is green and hot", "milk is white", "salt is grey"]
        told = " ".join(f"{change.why} {change.refused}" for change in await log(channel))
    assert traces(workspace, [WORD]) == {}
    assert "forgotten" in told


async def test_it_is_not_learnt_again_from_older_talk(workspace: Path) -> None:
    """A model that goes back to what was said before the forgetting is refused; said anew by
    somebody it may be learnt.
    """
    fact = Learned(Kind.FACT, f"the code is {WORD}", ("m1",), speaker="Ines")
    anew = Learned(Kind.FACT, f"the code is {WORD}", ("m5",), speaker="Tom")

    def told(learned: Learned, source: str) -> Consolidated:
        return Consolidated((learned,), history=(HistoryItem("talk", (source,)),), sheet={})

    answers = [told(fact, "m1"), told(fact, "m3"), told(anew, "m5")]
    model = ScriptedAssistant({"consolidate": answers})
    clock = FixedClock(MORNING)
    async with opened(workspace, assistant=model, clock=clock) as channel:

        async def talk(number: int, text: str, speaker: str) -> None:
            clock.advance(timedelta(minutes=5))
            said = Message.user(text, speaker=speaker, id=f"m{number}")
            await take_in(channel, [said, Message.assistant("ok", id=f"m{number + 1}")])
            await channel.before_compaction()

        await talk(1, f"the code is {WORD}", "Ines")
        assert WORD in note(workspace, "room")
        await forget(channel, WORD)
        await talk(3, "so, what now?", "Ines")
        assert traces(workspace, [WORD]) == {}
        await talk(5, f"the code is {WORD}", "Tom")
        assert f"- the code is {WORD}" in note(workspace, "room")


async def test_a_forget_of_another_process_reaches_a_running_bot(workspace: Path) -> None:
    """Nothing that the bot still has in mind brings it back: turns, a gate, its close."""
    clock = FixedClock(MORNING)
    async with opened(workspace, clock=clock) as channel:
        await live_with(channel, clock)
        turn = await channel.before_turn(f"who knows {WORD}?", speaker="Omar")
        ran = command(workspace, "forget", "room", WORD, "--yes")
        assert ran.code == 0, ran.errors
        await channel.after_turn(turn, [Message.user("who knows?", speaker="Omar")])
        assert WORD not in await say(channel, "what is the door code?")
        await channel.compacted(await channel.before_compaction())
        await maintain(channel)
    assert traces(workspace, [WORD]) == {}


async def test_a_turn_under_way_says_it_no_more(workspace: Path) -> None:
    """A forget between `before_turn` and `after_turn` also counts for the messages of that turn."""
    async with opened(workspace) as channel:
        await remember(channel, f"the code is {WORD}")
        turn = await channel.before_turn(f"forget {WORD}, please", speaker="Ines")
        await forget(channel, WORD)
        said = [Message.user(f"forget {WORD}, please"), Message.assistant(f"{WORD} is gone")]
        await channel.after_turn(turn, said)
    assert traces(workspace, [WORD]) == {}


async def test_what_others_said_stays(workspace: Path) -> None:
    """A person's words go; the same fact told by another person stays in their words."""
    async with opened(workspace) as channel:
        await say(channel, "remember that the cellar is under the stairs", speaker="Ines")
        await say(channel, "remember that the gate is under the bridge", speaker="Tom")
        await channel.before_compaction()
        await forget(channel, speaker="Ines")
        kept = note(workspace, "room") + note(workspace, "room", "log.jsonl")
        assert "bridge" in kept
        with pytest.raises(NothingFound):
            await forget(channel, speaker="Nobody")
    assert traces(workspace, ["stairs"]) == {}


async def test_a_rule_that_quotes_a_forgotten_person_loses_the_quote_alone(
    workspace: Path,
) -> None:
    """It is another person's rule, learnt from their answer to a question."""
    asked = "乳胶手套老是破，手套能不能换丁腈的"
    async with opened(workspace) as channel:
        said = [
            Message.user(asked, speaker="阿凯", id="m-1"),
            Message.user("可以，以后全院统一用丁腈手套", speaker="周敏", id="m-2"),
        ]
        await take_in(channel, said)
        await channel.before_compaction()
        assert asked in note(workspace, "room")
        would_go = await channel.notes.preview_forget(By("阿凯"))
        assert "→ 周敏" in would_go.entries[0]
        await forget(channel, speaker="阿凯")
        [entry] = await entries(channel)
    assert traces(workspace, [asked, "乳胶"]) == {}
    assert entry.text.startswith("周敏")
    assert entry.text.endswith("可以，以后全院统一用丁腈手套")
    assert "可以，以后全院统一用丁腈手套" in note(workspace, "room", "log.jsonl")


async def test_a_models_forget_is_undoable(workspace: Path) -> None:
    """The tool takes entries out, and an undo brings them back; what a person typed stays."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        path = folder_of(workspace, "room") / "MEMORY.md"
        path.write_text(path.read_text() + "- typed by hand\n")
        await say(channel, "hello")
        ids = {entry.text: entry.id for entry in await entries(channel)}
        await call_tool(channel, "memory_forget", ids=[ids["tea is green"], ids["typed by hand"]])
        assert "typed by hand" in path.read_text()
        await call_tool(channel, "memory_forget", ids=[ids["tea is green"]])
        assert "tea is green" not in path.read_text()
        await undo(channel)
        assert "tea is green" in path.read_text()


async def test_a_process_that_begins_later_finds_nothing(workspace: Path) -> None:
    """Neither caches nor indexes of a later process hold it."""
    clock = FixedClock(MORNING)
    async with opened(workspace, clock=clock) as channel:
        await live_with(channel, clock)
        await take_in(channel, [Message.user(f"talk {number} of tea") for number in range(600)])
        await maintain(channel)
    async with opened(workspace, clock=clock) as channel:
        await forget(channel, WORD)
    for arguments in (("search", "room", "code"), ("recall", "room", f"code {WORD}")):
        shown = command(workspace, *arguments)
        assert WORD not in shown.output
    assert traces(workspace, [WORD]) == {}


async def test_detail_of_a_forgotten_message_is_empty(workspace: Path) -> None:
    """Its line stays, with who and when, so that numbers and ids go on."""
    async with opened(workspace) as channel:
        await take_in(channel, [Message.user(WORD, speaker="Ines", id="m-1")])
        await forget(channel, message="m-1")
        [item] = await detail(channel, "m-1")
        assert item.text == ""
