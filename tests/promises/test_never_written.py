"""What is private, off the record or a known secret is never written (promise 4).

Every way in is tried; then the whole workspace is searched byte by byte, and so is every request
that the model's server got.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.promises.front_door import (
    ArgumentError,
    Channel,
    Message,
    PipimemError,
    SecretSettings,
    Settings,
    Text,
    before_turn,
    call_tool,
    entries,
    folder_of,
    maintain,
    note,
    remember,
    run_command,
    search,
    take_in,
    update,
)
from tests.promises.rooms import ASYNCIO, context, opened, quiet_settings, say, traces
from tests.promises.test_journeys import well_meant
from tests.servers.openai import OpenAIServer

pytestmark = ASYNCIO
# A word of its own in each, so that a trace tells which stretch left it.
PRIVATE = {
    "quetzal": "my <private>quetzal</private> salary",
    "platypus": "the <PRIVATE reason='x'>platypus\nhas two lines</PRIVATE> and after",
    "axolotl": "[private]axolotl[/private] is hidden",
    "narwhal": "<!-- private -->narwhal<!-- /private --> too",
    "pangolin": "&lt;private&gt;pangolin&lt;/private&gt; in entities",
    "okapi": "＜private＞okapi＜/private＞ in full width",
    "tapir": "<private><private>tapir</private> and tapir</private> twice",
    "翡翠鸟": "<private>翡翠鸟巢</private>公司",
    "dugong": "never closed <private>dugong to the end",
    "vaquita": "a <private/>vaquita</private> tag",
    "numbat": "<p\u200brivate>numbat</private> with an unseen character",
    "gecko": "<pri<private></private>vate>gecko</private> joined by an empty stretch",
}
SECRETS = {
    "hunter2Xy9Qw": "the password is hunter2Xy9Qw",
    "9f8e7d6c5b4a3Zq": "api_key=9f8e7d6c5b4a3Zq7w2",
    "A1b2C3d4E5f6G7h8": "export OPENAI_API_KEY=sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
    "wJalrXUtnFEMI": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYq8Zt3vKw2L",
    "4111 1111 1111 1111": "my card is 4111 1111 1111 1111",
    "MIIEpAIBAAKCAQEA": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx1\n-----END RSA PRIVATE KEY-----"
    ),
    "11010519491231002X": "身份证号 11010519491231002X",
    "Zx8kQ2vv": "密码是 Zx8kQ2vv",
    "eyJhbGciOiJIUzI1NiJ9": (
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    ),
}
HIDDEN = PRIVATE | SECRETS


async def through_turns(channel: Channel, text: str) -> None:
    """A turn: user, assistant and tool say it."""
    turn = await before_turn(channel, text, speaker="Dana")
    said = [Message.user(text, speaker="Dana"), Message.assistant(f"I see: {text}")]
    await channel.after_turn(turn, [*said, Message.tool(f"looked up {text}", speaker="crm")])


async def through_take_in(channel: Channel, text: str) -> None:
    """Talk among people."""
    await take_in(channel, [Message.user(text, speaker="Dana")])


async def through_a_gate(channel: Channel, text: str) -> None:
    """Messages that the host holds at a compaction."""
    held = [Message.user(text, speaker="Dana"), Message.assistant(f"noted, {text}")]
    await channel.before_compaction(held)


async def through_remember(channel: Channel, text: str) -> None:
    """An entry word for word, and a fact with it."""
    await remember(channel, text)
    await remember(channel, f"Dana told us of a thing: {text}", speaker="Dana")


async def through_update(channel: Channel, text: str) -> None:
    """Another text for an entry."""
    if not (known := await entries(channel)):
        await remember(channel, "an entry that will be reworded")
        known = await entries(channel)
    await update(channel, known[0].id, f"an entry reworded: {text}")


async def through_tools(channel: Channel, text: str) -> None:
    """What the bot's model saves."""
    await call_tool(channel, "memory_save", text=text, kind="fact", speaker="Dana")
    await call_tool(channel, "memory_save", items=[{"text": f"several: {text}"}])
    await call_tool(channel, "memory_search", query=text)


async def through_questions(channel: Channel, text: str) -> None:
    """Questions alone: nothing of them is kept."""
    await channel.recall(text)
    await search(channel, text)
    await channel.preview_turn(text)


WAYS: tuple[Callable[[Channel, str], Awaitable[None]], ...] = (
    through_turns,
    through_take_in,
    through_a_gate,
    through_remember,
    through_update,
    through_tools,
    through_questions,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_no_way_in_writes_what_is_hidden(
    workspace: Path, way: Callable[[Channel, str], Awaitable[None]]
) -> None:
    """Each form of private stretches and kinds of secrets, one way a time, to the end of the bot."""
    async with opened(workspace) as channel:
        await say(channel, "We decided that the lantern release is on Thursday")
        for text in HIDDEN.values():
            with suppress(PipimemError):  # nothing was left to keep
                await way(channel, text)
        await channel.compacted(await channel.before_compaction())
        await maintain(channel)
    assert traces(workspace, HIDDEN) == {}
    assert "lantern" in note(workspace, "room", "log.jsonl")


async def test_what_is_around_it_is_kept(workspace: Path) -> None:
    """The mark stands in its place: a masked message is no lost message."""
    async with opened(workspace) as channel:
        await say(channel, "my <private>quetzal</private> salary is paid on the third")
        await say(channel, "the password is hunter2Xy9Qw, and the gate is green")
    kept = note(workspace, "room", "log.jsonl")
    assert "my [PRIVATE] salary is paid on the third" in kept
    assert "[secret:" in kept
    assert "the gate is green" in kept


async def test_no_model_is_asked_with_it(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request to the model's server has it, at a gate, in idle work or for a rerank."""
    with OpenAIServer(well_meant) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        settings = quiet_settings(recall=replace(quiet_settings().recall, rerank="always"))
        async with opened(workspace, model="openai/test", settings=settings) as channel:
            for text in HIDDEN.values():
                await through_turns(channel, text)
            await say(channel, "the quetzal is off", record=False)
            await channel.before_compaction(deadline=300)
            await maintain(channel)
        assert len(server.requests) >= 1
        sent = "\n".join(
            json.dumps(dict(each.body), ensure_ascii=False) for each in server.requests
        )
    assert "lantern" not in sent
    assert [word for word in HIDDEN if word.casefold() in sent.casefold()] == []


def commands(text: str, replayed: Path) -> list[tuple[str, ...]]:
    """Ways in by the command line."""
    return [
        ("remember", "room", text),
        ("recall", "room", text),
        ("replay", "room", str(replayed), "--kind", "group"),
        ("import", str(replayed), "--channel", "other", "--yes"),
    ]


async def test_no_command_writes_it(workspace: Path, tmp_path: Path) -> None:
    """`remember`, `recall`, `replay` and `import`, with all of it in one text."""
    text = "; ".join(HIDDEN[word] for word in ("quetzal", "narwhal", "hunter2Xy9Qw", "翡翠鸟"))
    replayed = tmp_path / "talk.jsonl"
    lines = [{"role": "user", "name": "Dana", "content": each} for each in HIDDEN.values()]
    lines.append({"role": "user", "name": "Dana", "content": "the lantern is lit"})
    replayed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for line in commands(text, replayed):
        ran = run_command(workspace, *line)
        assert "Traceback" not in ran.errors, ran.errors
    assert traces(workspace, HIDDEN) == {}
    assert "lantern" in note(workspace, "room", "log.jsonl")
    assert "lantern" in note(workspace, "other", "log.jsonl")


# ── turns off the record


UNRECORDED = (
    "my quetzal contract with Zorblax ends in May",
    "remember that the quetzal costs a platypus",
    "我要从翡翠鸟巢公司辞职",
)
WORDS = ("quetzal", "zorblax", "翡翠", "鸟巢", "xochitl", "platypus")


async def say_off_the_record(channel: Channel, text: str, number: int) -> list[Message]:
    """Take a turn off the record; returns the messages as the host holds them."""
    turn = await before_turn(channel, text, speaker="Xochitl", record=False)
    assert turn.problem == ""
    ids = (f"in-{number}", f"out-{number}") if number % 2 else ("", "")
    said = [
        Message.user(text, speaker="Xochitl", id=ids[0]),
        Message.assistant(f"I keep it for myself: {text}", id=ids[1]),
        Message.tool(f"looked up {text}"),
    ]
    await channel.after_turn(turn, said)
    shown = f"{turn.context}\n\n{text}" if turn.context else text
    return [replace(said[0], content=shown), *said[1:]]


async def test_no_journey_leaves_a_trace_of_a_turn_off_the_record(workspace: Path) -> None:
    """Turns, gates with all that the host holds, restarts, maintenance, searches, undo, forget."""
    held: list[Message] = []
    for _ in range(2):
        async with opened(workspace) as channel:
            for number, text in enumerate(UNRECORDED):
                await say(channel, "We decided that the lantern release is on Thursday")
                held += await say_off_the_record(channel, text, number)
                await say(channel, "I prefer oolong tea, remember that")
            assert (await channel.before_compaction(held)).may_compact
            for text in UNRECORDED:
                await through_questions(channel, text)
            await maintain(channel)
            await channel.history.undo()
            await channel.compacted(await channel.before_compaction(held))
            # The host kept its messages over the compaction.
            await channel.before_compaction(held)
            await channel.notes.forget(Text("oolong"))
        async with opened(workspace) as channel:
            said = [Message.user(f"Xochitl: {text}") for text in UNRECORDED]
            await channel.before_compaction(said)
            await channel.reset()
        assert traces(workspace, WORDS) == {}
    assert note(workspace, "room", "log.jsonl").count("lantern") >= 6


@pytest.mark.parametrize("how", ["broken off", "compacted meanwhile", "killed"])
async def test_a_turn_off_the_record_that_does_not_end(workspace: Path, how: str) -> None:
    """`after_turn` never came, or a gate before it, or the process stopped: no trace either."""
    held = [
        Message.user(UNRECORDED[0], speaker="Xochitl"),
        Message.assistant("So the quetzal contract ends in May"),
        Message.tool("crm: Zorblax"),
    ]
    async with opened(workspace) as channel:
        turn = await before_turn(channel, UNRECORDED[0], speaker="Xochitl", record=False)
        if how == "compacted meanwhile":
            await channel.before_compaction(held)
            await channel.after_turn(turn, held)
        elif how == "broken off":
            await channel.before_compaction([*held, Message.user("good morning", id="2")])
    async with opened(workspace) as channel:
        more = [Message.user("hello"), Message.assistant("hi")]
        await channel.before_compaction([*held, *more])
    assert traces(workspace, WORDS) == {}
    assert "hello" in note(workspace, "room", "log.jsonl")
    assert '"hi"' in note(workspace, "room", "log.jsonl")


async def test_a_turn_off_the_record_recalls_and_counts_for_nothing(workspace: Path) -> None:
    """The turn has its context; the tools only search until it ends."""
    async with opened(workspace) as channel:
        await remember(channel, "Zorblax has office 12")
        turn = await before_turn(channel, "where sits Zorblax?", record=False)
        assert "office 12" in turn.context
        before = note(workspace, "room")
        refused = await call_tool(channel, "memory_save", text="Zorblax moves to office 13")
        assert "13" not in note(workspace, "room")
        assert refused
        assert "office 12" in await call_tool(channel, "memory_search", query="Zorblax office")
        await channel.after_turn(turn, [Message.user("where sits Zorblax?")])
        assert note(workspace, "room") == before
    assert traces(workspace, ["where sits"]) == {}


@pytest.mark.parametrize("at_first", [True, False], ids=["with its messages", "without"])
async def test_a_host_keeps_its_messages_over_many_compactions(
    workspace: Path, at_first: bool
) -> None:
    """Each told twice: a mark of a message stays as long as gates meet it."""
    async with opened(workspace) as channel:
        held = await say_off_the_record(channel, UNRECORDED[0], 0)
        for number in range(4):
            await say(channel, f"hello {number}")
            receipt = await channel.before_compaction(held if at_first or number else ())
            await channel.compacted(receipt)
            await channel.compacted(receipt)
    assert traces(workspace, WORDS) == {}


async def test_the_same_words_on_the_record_are_stored(workspace: Path) -> None:
    """A turn off the record takes nothing with it that was said on the record; a gate, the first
    to see messages of other ids, stores them.
    """
    async with opened(workspace) as channel:
        turn = await before_turn(channel, "yes", record=False)
        held = [Message.user("yes", id="o1"), Message.assistant("ok", id="o2")]
        await channel.after_turn(turn, held)
        await say(channel, "yes")
        said = [Message.user("yes", id="m5", speaker="Tom"), Message.assistant("ok", id="m8")]
        await channel.before_compaction([*held, *said])
    kept = [json.loads(line) for line in note(workspace, "room", "log.jsonl").splitlines()]
    who = [(line.get("name", ""), line["content"]) for line in kept if line["role"] == "user"]
    assert who == [("Dana", "yes"), ("Tom", "yes")]
    assert not {"o1", "o2"} & {line["id"] for line in kept}


# ── a list of the workspace's own


LISTED = Settings(secrets=SecretSettings(words=("Quetzal",), patterns=(r"EMP-\d{6}",)))


async def test_listed_words_are_not_written(workspace: Path) -> None:
    """`[secrets] words` and `patterns` hold for messages, names, entries and tools."""
    settings = quiet_settings(secrets=LISTED.secrets)
    async with opened(workspace, settings=settings) as channel:
        for way in WAYS:
            with suppress(PipimemError):
                await way(channel, "project QUETZAL of EMP-123456 ships in May")
        await say(channel, "hello", speaker="Quetzal")
        await channel.compacted(await channel.before_compaction())
    assert traces(workspace, ["quetzal", "EMP-123456"]) == {}
    assert "ships in May" in note(workspace, "room", "log.jsonl")


async def test_errors_and_reprs_tell_nothing(workspace: Path) -> None:
    """Hosts log them."""
    said = f"{HIDDEN['hunter2Xy9Qw']} {HIDDEN['quetzal']}"
    async with opened(workspace) as channel:
        turn = await before_turn(channel, said, speaker="Dana")
        message = Message.user(said, speaker="Dana")
        shown = f"{channel!r} {turn!r} {message!r}"
        for call in (
            lambda: remember(channel, "<private>quetzal</private>"),
            lambda: channel.notes.forget(said),
            lambda: take_in(channel, [said]),  # type: ignore[list-item]
            lambda: channel.after_turn(said, []),  # type: ignore[arg-type]
            lambda: channel.before_compaction(said),  # type: ignore[arg-type]
        ):
            with pytest.raises((ArgumentError, PipimemError, TypeError)) as refused:
                await call()
            shown += str(refused.value)
        assert "quetzal" not in await context(channel, "quetzal?")
    assert "Dana" in shown
    assert [word for word in HIDDEN if word in shown] == []
    assert (folder_of(workspace, "room") / "log.jsonl").exists() is False
