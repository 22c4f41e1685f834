"""The four journeys: a turn, a compaction, idle maintenance, and a person who edits.

In each of them the workspace's SOUL.md, AGENTS.md and MEMORY.md stay byte-identical (promise 1),
and a turn reads only and asks no model (promise 8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.promises.front_door import (
    Consolidated,
    FixedClock,
    HistoryItem,
    Kind,
    Learned,
    Message,
    ModelUnavailable,
    Outdated,
    Pipimem,
    Refreshed,
    ScriptedAssistant,
    Tidied,
    before_turn,
    entries,
    folder_of,
    log,
    maintain,
    note,
    remember,
    run_command,
    take_in,
)
from tests.promises.rooms import (
    ASYNCIO,
    MORNING,
    context_with,
    opened,
    quiet_settings,
    require_human_files,
    say,
    write_human_files,
)
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

pytestmark = ASYNCIO
TALK = (
    ("Dana", "We decided that the release is on Thursday"),
    ("Tom", "remember that the gateway listens on port 8443"),
    ("Dana", "never deploy on a Friday"),
)


@pytest.fixture(autouse=True)
def human_files(workspace: Path) -> Iterator[None]:
    """SOUL.md, AGENTS.md and MEMORY.md of people, byte-identical after every journey."""
    write_human_files(workspace)
    yield
    require_human_files(workspace)


def snapshot_of(workspace: Path) -> dict[str, bytes]:
    """Every file below the workspace with its bytes."""
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for path in sorted(workspace.rglob("*"))
        if path.is_file()
    }


# ── 1. a turn


async def test_a_turn_shows_memory_and_stores_the_talk(workspace: Path) -> None:
    """The system prompt has SOUL, AGENTS and where the files are; the turn has the entry; the
    transcript has both messages with speaker and time.
    """
    async with opened(workspace) as channel:
        prompt = await channel.session_prompt()
        assert prompt.index("You are pipi.") < prompt.index("- answer briefly")
        assert f"{folder_of(workspace, 'room')}/MEMORY.md" in prompt
        await remember(channel, "the gateway listens on port 8443")
        turn = await before_turn(channel, "which port does the gateway use?", speaker="Dana")
        assert "the gateway listens on port 8443" in turn.context
        assert turn.first
        assert turn.problem == ""
        assert turn.context == "\n\n".join(filter(None, (turn.standing, turn.recalled)))
        said = [Message.user(turn.query, speaker="Dana", id="q1"), Message.assistant("8443")]
        await channel.after_turn(turn, said)
        again = await before_turn(channel, "and which port was it again?", speaker="Dana")
        assert not again.first
    lines = [json.loads(line) for line in note(workspace, "room", "log.jsonl").splitlines()]
    assert [(line["role"], line.get("name", ""), line["content"]) for line in lines] == [
        ("user", "Dana", "which port does the gateway use?"),
        ("assistant", "", "8443"),
    ]
    assert lines[0]["id"] == "q1"
    assert lines[0]["ts"] == MORNING.isoformat()


async def test_a_first_turn_shows_the_snapshot_whatever_is_asked(workspace: Path) -> None:
    """A small memory is shown whole, with the workspace's own; a constraint comes with every turn,
    in the same bytes while memory is unchanged.
    """
    async with opened(workspace) as channel:
        await remember(channel, "never deploy on a Friday", kind=Kind.CONSTRAINT)
        await remember(channel, "the archive server is called hermes")
        first = await before_turn(channel, "hello")
        assert "never deploy on a Friday" in first.standing
        assert "the archive server is called hermes" in first.context
        assert "the office is on Kaistraße 5" in first.context
        await channel.after_turn(first, [Message.user("hello"), Message.assistant("hi")])
        second = await before_turn(channel, "how are you?")
        assert "never deploy on a Friday" in second.standing
        assert "hermes" not in second.context
        third = await before_turn(channel, "nice weather, is it not?")
        assert third.standing == second.standing


async def test_an_accepted_turn_spends_the_snapshot(workspace: Path) -> None:
    """A turn that the host broke off before `after_turn` is first again."""
    async with opened(workspace) as channel:
        assert (await before_turn(channel, "hello")).first
        turn = await before_turn(channel, "hello")
        assert turn.first
        await channel.after_turn(turn, [Message.user("hello")])
        assert not (await before_turn(channel, "hello")).first


async def test_excerpts_of_older_talk_are_shown_with_who_and_when(workspace: Path) -> None:
    """What the model no longer sees is found in the transcript, though nothing was learnt."""
    async with opened(workspace) as channel:
        said = "the spare key of the boathouse hangs behind the clock"
        others = [Message.user(f"ticket {number} is closed", speaker="Tom") for number in range(9)]
        await take_in(channel, [Message.user(said, speaker="Ines"), *others])
        shown = await context_with(channel, "where is the spare key of the boathouse?", said)
    line = next(line for line in shown.splitlines() if said in line)
    assert "Ines" in line
    assert "2026-03-02" in shown


async def test_a_turn_reads_only_and_asks_no_model(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the reply is on its way no file changes, and no request reaches the model's server."""
    with OpenAIServer(well_meant) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        async with opened(workspace) as channel:
            for number in range(30):
                await remember(channel, f"fact {number} is about shelf {number * 7}")
            await remember(channel, "the gateway listens on port 8443")
            await remember(channel, "the gateway restarts on Sundays")
            await say(channel, "hello")
        # Not `async with`: a close consolidates what was said.
        pipimem = Pipimem(workspace, "openai/test", settings=quiet_settings())
        channel = await pipimem.channel("room", kind="group")
        # A gate loads what calls a model: from here on a call would reach the server at once.
        await say(channel, TALK[0][1])
        assert (await channel.before_compaction(deadline=300)).state == "consolidated"
        received = server.requests
        before = snapshot_of(workspace)
        asked = "which port does the gateway listen on?"
        for text in (
            "what is on shelf 42?",
            asked,
            "hello",
            "上线窗口是什么时候？",
            "x" * 10_000,
            "",
        ):
            turn = await before_turn(channel, text, speaker="Dana", sees_nothing=True)
            assert turn.problem == ""
        assert snapshot_of(workspace) == before
        assert received
        assert server.requests == received


async def test_broken_memory_spoils_no_turn(workspace: Path) -> None:
    """`before_turn` and `before_compaction` return; the turn says what is broken.

    A folder in the place of a note is reported elsewhere: what is known of it serves.
    """
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
    pipimem = Pipimem(workspace, "offline", settings=quiet_settings())
    channel = await pipimem.channel("room", kind="group")
    for name in ("MEMORY.md", "log.jsonl"):
        path = folder_of(workspace, "room") / name
        path.unlink(missing_ok=True)
        path.mkdir()
    turn = await before_turn(channel, "what colour is tea?")
    assert turn.context == ""
    assert "log.jsonl" in turn.problem
    receipt = await channel.before_compaction([Message.user("hello")])
    assert (receipt.may_compact, receipt.state) == (False, "failed")


# ── 2. a compaction


async def test_an_offline_compaction_keeps_what_is_certain(workspace: Path) -> None:
    """Decision, rule and what was asked to be kept are entries, HISTORY.md has a block of the day,
    the log says which messages were read; then a new session begins with the snapshot.
    """
    async with opened(workspace) as channel:
        for speaker, text in TALK:
            await say(channel, text, "noted", speaker=speaker)
        # A message that the transcript lacks is taken in first.
        held = [Message.user("the boathouse is green", speaker="Ines", id="late-1")]
        receipt = await channel.before_compaction(held, deadline=60)
        assert (receipt.state, receipt.may_compact, receipt.covered) == ("consolidated", True, 7)
        await channel.compacted(receipt)
        turn = await before_turn(channel, "hello", speaker="Dana")
        assert turn.first
        assert "release" in turn.context
        known = [entry.text for entry in await entries(channel)]
        newest = await log(channel)
    assert any("the release is on Thursday" in text for text in known)
    assert any("port 8443" in text for text in known)
    assert any("never deploy on a Friday" in text for text in known)
    assert any(change.messages == (1, 7) for change in newest)
    history = note(workspace, "room", "HISTORY.md")
    assert "## 2026-03-02" in history
    assert history.count("\n- ") >= 1
    assert '"late-1"' in note(workspace, "room", "log.jsonl")


LEARNED = {
    "learned": [
        {
            "kind": "decision", "text": "The release is on Thursday", "sources": ["1"],
            "speaker": "Dana", "necessity": "high", "explicit": False,
            "replaces": [],
        }
    ],
    "over": [],
    "title": "Release day",
    "history": [{"text": "Dana settled the day of the release", "sources": ["1"]}],
}  # fmt: skip


def well_meant(request: ChatRequest) -> Reply:
    """Answer each task of the memory as its schema asks: one decision, one line of history."""
    keys = request.schema["properties"] if request.schema else {}
    if "learned" in keys:
        sheet = {key: [] for key in keys["sheet"]["properties"]} if "sheet" in keys else {}
        return Reply(json.dumps(LEARNED | ({"sheet": sheet} if sheet else {})))
    return Reply(json.dumps({key: "" if key == "title" else [] for key in keys}))


async def test_a_compaction_with_a_model_behind_http(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the model says stands in the three files; its call is in `pipimem usage`."""
    with OpenAIServer(well_meant) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        async with opened(workspace, model="openai/test") as channel:
            await say(channel, TALK[0][1])
            receipt = await channel.before_compaction(deadline=300)
            assert receipt.state == "consolidated"
            await channel.compacted(receipt)
            usage = await channel.usage()
        billed = server.billed
    assert "- The release is on Thursday" in note(workspace, "room")
    assert "Release day" in note(workspace, "room", "HISTORY.md")
    assert "- Dana settled the day of the release" in note(workspace, "room", "HISTORY.md")
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (
        billed.calls,
        billed.prompt,
        billed.completion,
    )


@pytest.mark.parametrize("policy", ["defer", "block"])
async def test_a_model_that_fails_loses_no_talk(workspace: Path, policy: str) -> None:
    """The policy decides whether the host may compact; the talk is on disk, recallable at once
    after the epoch, and consolidated when the model answers.
    """
    fact = Learned(Kind.FACT, "the vault code word is heliotrope", ("m1",), speaker="Dana")
    told = Consolidated((fact,), history=(HistoryItem("Dana told a code word", ("m1",)),), sheet={})
    model = ScriptedAssistant({"consolidate": [ModelUnavailable("no route"), told]})
    settings = quiet_settings(compaction=type(quiet_settings().compaction)(policy))
    async with opened(workspace, assistant=model, settings=settings) as channel:
        said = [Message.user("the vault code word is heliotrope", speaker="Dana", id="m1")]
        said += [Message.assistant(f"ticket {number} is closed") for number in range(9)]
        receipt = await channel.before_compaction(said)
        wanted = (True, "deferred") if policy == "defer" else (False, "blocked")
        assert (receipt.may_compact, receipt.state) == wanted
        assert "no route" in receipt.reason
        if receipt.may_compact:
            await channel.compacted(receipt)
        await context_with(channel, "what was the vault code word?", "heliotrope")
        assert (await channel.before_compaction()).state == "consolidated"
    assert "- the vault code word is heliotrope" in note(workspace, "room")


async def test_a_window_with_an_exchange_yields_history(workspace: Path) -> None:
    """Offline, each window of a person and the bot has at least one bullet."""
    await yields_history(
        workspace,
        ("the boathouse is green", "nice"),
        ("my flight lands at nine", "good"),
        ("我上周搬到了里斯本", "真好"),
        ("thanks!", "You are welcome."),
    )


@pytest.mark.xfail(strict=True, reason="a later change: history of windows that hold questions")
async def test_a_window_of_questions_yields_history(workspace: Path) -> None:
    """What was asked happened, too."""
    await yields_history(
        workspace,
        ("which port does the gateway use?", "8443"),
        ("can you draft the invitation for the party on Friday?", "Dear all, …"),
    )


async def yields_history(workspace: Path, *exchanges: tuple[str, str]) -> None:
    for number, (asked, answered) in enumerate(exchanges):
        async with opened(workspace, f"room{number}") as channel:
            await say(channel, asked, answered)
            assert (await channel.before_compaction()).state == "consolidated"
        history = note(workspace, f"room{number}", "HISTORY.md")
        assert [line for line in history.splitlines() if line.startswith("- ")], asked


async def test_a_model_without_history_is_refused(workspace: Path) -> None:
    """An answer that says nothing of a real exchange leaves its window to a later question."""
    empty = Consolidated(sheet={})
    model = ScriptedAssistant({"consolidate": [empty]})
    async with opened(workspace, assistant=model) as channel:
        await say(channel, "the boathouse is green")
        receipt = await channel.before_compaction()
        assert receipt.state == "deferred"
        assert "history" in receipt.reason
        model.then(
            "consolidate", Consolidated(history=(HistoryItem("a boathouse", ("m1",)),), sheet={})
        )
        assert (await channel.before_compaction()).state == "consolidated"
    assert "- a boathouse" in note(workspace, "room", "HISTORY.md")


# ── 3. idle maintenance


async def test_idle_maintenance_consolidates_tidies_and_refreshes(workspace: Path) -> None:
    """Without a compaction what was said is learnt, the sheet is refreshed, what is over goes, and
    the log says who did it.
    """
    clock = FixedClock(MORNING)
    fact = Learned(Kind.FACT, "the boathouse is green", ("m1",), speaker="Dana")
    model = ScriptedAssistant(
        {
            "consolidate": [
                Consolidated((fact,), history=(HistoryItem("of a boathouse", ("m1",)),), sheet=None)
            ],
            "refresh": [Refreshed({"Current State": ("painting the boathouse",)})],
        }
    )
    async with opened(workspace, assistant=model, clock=clock) as channel:
        await say(channel, "the boathouse is green")
        clock.advance(timedelta(hours=1))
        ran = {job.task: job.ran for job in await maintain(channel)}
        assert (ran["refresh"], ran["consolidate"]) == (True, True)
        assert [entry.text for entry in await entries(channel)] == ["the boathouse is green"]
        assert "- painting the boathouse" in note(workspace, "room", "SESSION.md")
        [entry] = await entries(channel)
        model.then("tidy", Tidied(drop=(Outdated(entry.id, "painted over"),)))
        clock.advance(timedelta(days=2))
        await maintain(channel)
        actors = {(change.task, change.actor) for change in await log(channel)}
    assert ("consolidate", "scripted") in actors
    assert ("refresh", "scripted") in actors


async def test_idle_work_begins_by_itself(workspace: Path) -> None:
    """A bot that is left alone consolidates; a closed gate asks no model."""
    # The gate of a consolidation opens 20 minutes after the last one; `pipimem maintain` waits not.
    async with opened(workspace) as channel:
        await say(channel, TALK[1][1], speaker="Tom")
        held = folder_of(workspace, "room") / "log.jsonl"
        assert held.exists()
    ran = run_command(workspace, "maintain", "room", "--json")
    jobs = {job["job"]: job for job in json.loads(ran.output)["jobs"]}
    # The close has consolidated: nothing is left to do, and the reason says so.
    assert ran.code == 0
    assert jobs["consolidate"]["ran"] is False
    assert jobs["consolidate"]["reason"]
    assert "port 8443" in note(workspace, "room")


# ── 4. a person edits


@pytest.mark.parametrize("by_rename", [False, True], ids=["in place", "by rename"])
async def test_a_line_typed_into_a_file_is_in_the_next_turn(
    workspace: Path, by_rename: bool
) -> None:
    """It is recalled as it was typed, its bytes stay, and the log has a change of a person's."""
    typed = "*   the  boathouse key hangs behind the clock\r\n"
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        path = folder_of(workspace, "room") / "MEMORY.md"
        text = path.read_bytes() + typed.encode()
        if by_rename:
            other = path.with_name(".MEMORY.md.swp")
            other.write_bytes(text)
            other.replace(path)
        else:
            path.write_bytes(text)
        shown = await say(channel, "where is the boathouse key?")
        assert "boathouse key hangs behind the clock" in shown
        assert path.read_bytes() == text
        await remember(channel, "milk is white")
        assert typed.encode() in path.read_bytes()
        texts = [entry.text for entry in await entries(channel)]
        assert "tea is green" in texts
        assert "milk is white" in texts
        authors = {str(change.author) for change in await log(channel)}
    assert "editor" in authors


def learns(source: str) -> Consolidated:
    """An answer that learns of a boathouse from one message."""
    learned = Learned(Kind.FACT, "the boathouse is green", (source,), speaker="Dana")
    return Consolidated((learned,), history=(HistoryItem("talk", (source,)),), sheet={})


async def delete_after(workspace: Path, answers: list[Consolidated]) -> list[list[str]]:
    """Learn of a boathouse from m1; m3 says it again; the line is deleted; m5 says it again.

    Returns the entries after the consolidation of m3 and of m5.
    """
    clock = FixedClock(MORNING)
    model = ScriptedAssistant({"consolidate": [learns("m1"), *answers]})
    found = []
    async with opened(workspace, assistant=model, clock=clock) as channel:

        async def talk(number: int) -> None:
            clock.advance(timedelta(minutes=5))
            said = Message.user("the boathouse is green", speaker="Dana", id=f"m{number}")
            await take_in(channel, [said, Message.assistant("nice", id=f"m{number + 1}")])

        await talk(1)
        await channel.before_compaction()
        path = folder_of(workspace, "room") / "MEMORY.md"
        assert "- the boathouse is green" in path.read_text()
        await talk(3)
        clock.advance(timedelta(minutes=5))
        kept = [line for line in path.read_text().splitlines(keepends=True) if "boat" not in line]
        path.write_text("".join(kept))
        await before_turn(channel, "hello")
        for _ in answers:
            await channel.before_compaction()
            found.append([entry.text for entry in await entries(channel)])
            await talk(5)
    return found


async def test_a_deleted_bullet_is_not_learnt_again(workspace: Path) -> None:
    """A line that a person took out stays out, though a model goes back to the talk that it came
    from; said anew it is learnt.
    """
    after = await delete_after(workspace, [learns("m1"), learns("m5")])
    assert after == [[], ["the boathouse is green"]]


@pytest.mark.xfail(
    strict=True, reason="a fault: talk that waits brings back what was deleted after it was said"
)
async def test_a_deleted_bullet_is_not_learnt_from_talk_that_waited(workspace: Path) -> None:
    """Older talk is what was said before the deletion, consolidated or not."""
    assert await delete_after(workspace, [learns("m3")]) == [[]]


async def test_a_model_asked_meanwhile_finds_no_reworded_entry(workspace: Path) -> None:
    """A person rewords an entry while the model is asked: the person wins, and the log says so."""

    class Slow(ScriptedAssistant):
        def edit(self) -> None:
            path = folder_of(workspace, "room") / "MEMORY.md"
            path.write_text(path.read_text().replace("is green", "is red since May"))

        async def answer(self, task: Any, call: Any) -> Any:
            [known] = task.memory
            self.edit()
            newer = Learned(
                Kind.FACT, "the boathouse is blue", ("m1",), "Dana", replaces=(known.id,)
            )
            return Consolidated((newer,), history=(HistoryItem("paint", ("m1",)),), sheet={})

    async with opened(workspace, assistant=Slow()) as channel:
        path = folder_of(workspace, "room") / "MEMORY.md"
        await remember(channel, "the boathouse is green")
        said = [Message.user("the boathouse is blue now", speaker="Dana", id="m1")]
        await channel.before_compaction([*said, Message.assistant("ok")])
        assert "the boathouse is red since May" in path.read_text()
        assert "green" not in path.read_text()
