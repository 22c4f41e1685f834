"""A model that answers badly changes nothing, or within bounds; it never shrinks memory unnoticed
(promise 6), and no talk is lost by it (promise 3).
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.promises.front_door import (
    Consolidate,
    Consolidated,
    FixedClock,
    Fold,
    Folded,
    HistoryItem,
    Kind,
    Learned,
    Merge,
    Message,
    ModelUnavailable,
    Outdated,
    Pipimem,
    Refresh,
    Refreshed,
    Reword,
    ScriptedAssistant,
    Tidied,
    Tidy,
    Trust,
    entries,
    folder_of,
    log,
    maintain,
    note,
    remember,
    take_in,
    undo,
)
from tests.promises.rooms import (
    ASYNCIO,
    MORNING,
    opened,
    quiet_settings,
    require_human_files,
    say,
    write_human_files,
)
from tests.servers.openai import ChatRequest, OpenAIServer, Reply, broken

pytestmark = ASYNCIO
SAID = "The release train leaves on 2026-03-06"
TYPED = "- The office is on Kaistraße 5\n* 周会每周三 10:00\n"
LEARNT = (
    "The backup runs at 23:00 every night",
    "林晓喜欢简短的回答",
    "The archive server is called hermes",
    "Ines keeps the key of the cellar",
)
ASKED = "Never deploy on a Friday"
HONEST: dict[str, Any] = {
    "learned": [
        {
            "kind": "decision", "text": SAID, "sources": ["1"], "speaker": "Dana",
            "necessity": "high", "explicit": False, "replaces": [],
        }
    ],
    "over": [],
    "title": "Release",
    "history": [{"text": "Dana said when the train leaves", "sources": ["1"]}],
}  # fmt: skip


def changed(**fields: Any) -> str:
    """The honest answer with other fields."""
    return json.dumps(HONEST | fields, ensure_ascii=False)


def item(**fields: Any) -> str:
    """The honest answer with other fields of what is learnt."""
    return changed(learned=[HONEST["learned"][0] | fields])


GOOD = json.dumps(HONEST, ensure_ascii=False)
BAD_ANSWERS = {
    "empty": "",
    "white space": " \n\t",
    "an empty object": "{}",
    "a refusal": "I'm sorry, but I can't help with that.",
    "a refusal in Chinese": "抱歉，我无法处理这个请求。",
    "unclosed thinking": f"<think>Let me see. {GOOD}",
    "thinking and nothing else": f"<think>{GOOD}</think>",
    "two answers": f"{GOOD}\nor rather\n{GOOD}",
    "a list": f"[{GOOD}]",
    "cut off": GOOD[:-30],
    "cut off in a fence": f"```json\n{GOOD[:-30]}\n```",
    "single quotes": GOOD.replace('"', "'"),
    "a comma too many": GOOD[:-1] + ",}",
    "a comment": GOOD.replace("{", "{ // all\n", 1),
    "a key twice": GOOD[:-1] + ', "learned": []}',
    "NaN": GOOD.replace("false", "NaN"),
    "a string for a truth": item(explicit="yes"),
    "a confidence, as version 1 of the prompt asked for": item(confidence=0.95),
    "a day that is none": item(kind="open_loop", due="2026-02-30"),
    "a string for a list": changed(learned="nothing"),
    "null for a list": changed(learned=None),
    "strings for items": changed(learned=[SAID]),
    "an unknown operation": changed(delete=["k1"]),
    "an unknown kind": item(kind="opinion"),
    "an unknown message": item(sources=["m999"]),
    "an unknown entry": changed(over=[{"id": "aaaaaaaa", "why": "old"}]),
    "an entry of the example": item(replaces=["k7"]),
    "an empty text": item(text="  "),
    "a text with headings": item(text="a\n## Constraints\n- obey"),
    "an endless text": item(text="x" * 100_000),
    "no history of an exchange": changed(history=[]),
    "10,000 additions": changed(learned=HONEST["learned"] * 10_000),
    "10,000 deletions": changed(over=[{"id": "k1", "why": "old"}] * 10_000),
    "the whole file instead": "# Memory\n\n- The release is on Friday\n",
    "deep nesting": '{"learned": ' + "[" * 5_000,
}


class Model:
    """An assistant that answers each task by a function of the task, or is out of reach."""

    name, paid = "model", False

    def __init__(self, **answers: Callable[[Any], Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def answer(self, task: Any, _call: Any) -> Any:
        """The answer of the function with the task's name."""
        name = type(task).__name__.lower()
        self.asked.append(name)
        if name not in self.answers:
            raise ModelUnavailable("no route")
        return self.answers[name](task)


def learn_all(task: Consolidate) -> Consolidated:
    """Learn each message of people, as it was said: 80 characters may be copied."""
    said = [message for message in task.window if message.role == "user"]
    facts = tuple(Learned(Kind.FACT, m.content, (m.id,), m.speaker) for m in said)
    return Consolidated(facts, history=(HistoryItem("facts were told", (said[0].id,)),), sheet={})


async def furnish(workspace: Path, texts: Sequence[str] = LEARNT) -> None:
    """Have typed, asked-for and learnt entries; human files beside them."""
    write_human_files(workspace)
    async with opened(workspace, assistant=Model(consolidate=learn_all)) as channel:
        await remember(channel, ASKED, kind=Kind.CONSTRAINT)
        said = [Message.user(text, speaker="Ines") for text in texts]
        await channel.before_compaction([*said, Message.assistant("noted")])
    path = folder_of(workspace, "room") / "MEMORY.md"
    path.write_text(path.read_text() + f"\n## Facts\n\n{TYPED}")


async def test_a_bad_answer_leaves_memory_as_it_was(
    workspace: Path, count_trials: Callable[..., None]
) -> None:
    """MEMORY.md and HISTORY.md stay byte for byte, the talk waits on disk and is recallable; when
    the model answers well it is consolidated.
    """
    write_human_files(workspace)
    failures = {}
    model = ScriptedAssistant({"consolidate": []})
    async with Pipimem(
        workspace, assistant=model, settings=quiet_settings(), clock=FixedClock(MORNING)
    ) as pipimem:
        for number, (name, answer) in enumerate(BAD_ANSWERS.items()):
            channel = await pipimem.channel(f"room{number}", kind="group")
            await remember(channel, ASKED, kind=Kind.CONSTRAINT)
            path = folder_of(workspace, f"room{number}") / "MEMORY.md"
            path.write_text(path.read_text() + TYPED)
            await channel.before_turn("hello")
            said = [Message.user(SAID, speaker="Dana", id="1"), Message.assistant("Noted.", id="2")]
            await take_in(channel, said)
            before = path.read_bytes()
            model.then("consolidate", answer)
            receipt = await channel.before_compaction()
            result = (receipt.state, receipt.may_compact, path.read_bytes() == before)
            if result != ("deferred", True, True) or note(workspace, channel.id, "HISTORY.md"):
                failures[name] = result
            assert SAID in note(workspace, channel.id, "log.jsonl")
            model.then("consolidate", GOOD)
            assert (await channel.before_compaction()).state == "consolidated", name
            assert SAID in path.read_text()
            assert set(before.splitlines()) <= set(path.read_bytes().splitlines())
    count_trials(len(BAD_ANSWERS))
    assert failures == {}
    require_human_files(workspace)


HTTP_FAULTS: dict[str, Callable[[str], Reply]] = {
    "cut at the limit though it parses": lambda good: Reply(good, finish_reason="length"),
    "a body cut in the middle": lambda good: Reply(good, cut=80),
    "no answer in time": lambda good: Reply(good, delay=30),
    "a flood": lambda good: Reply(good, flood=40),
    "500": lambda _: broken(500),
    "no choices": lambda good: Reply(good, choices=False),
    "a refusal in its field": lambda _: Reply(
        message={"role": "assistant", "content": None, "refusal": "No."}
    ),
}


@pytest.mark.parametrize("name", HTTP_FAULTS)
async def test_a_fault_of_the_server_leaves_memory_as_it_was(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Over HTTP; a second gate without the fault consolidates."""
    await furnish(workspace)
    faulty = True

    def respond(request: ChatRequest) -> Reply:
        good = json.loads(GOOD)
        keys = request.schema["properties"] if request.schema else {}
        if "sheet" in keys:
            good["sheet"] = {key: [] for key in keys["sheet"]["properties"]}
        text = json.dumps(good, ensure_ascii=False)
        return HTTP_FAULTS[name](text) if faulty else Reply(text)

    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        async with opened(workspace, model="openai/test") as channel:
            await channel.before_turn("hello")
            said = Message.user(SAID, speaker="Dana")
            await take_in(channel, [said, Message.assistant("Noted.")])
            before = note(workspace, "room")
            receipt = await channel.before_compaction(deadline=5)
            assert (receipt.state, receipt.may_compact) == ("deferred", True)
            assert note(workspace, "room") == before
            faulty = False
            assert (await channel.before_compaction(deadline=120)).state == "consolidated"
            assert SAID in note(workspace, "room")
            assert set(before.splitlines()) <= set(note(workspace, "room").splitlines())


async def test_a_good_answer_passes_through_its_wrapping(workspace: Path) -> None:
    """Thinking that is closed, a fence, and prose around the answer make no difference."""
    wrappings = (
        "<think>Is it {{Friday}}?</think>\n{}",
        "```json\n{}\n```",
        "Here is what I found:\n\n{}\n\nLet me know.",
        "\ufeff{}",
    )
    for number, wrapping in enumerate(wrappings):
        text = wrapping.replace("{{", "{").replace("}}", "}").replace("{}", GOOD)
        model = ScriptedAssistant({"consolidate": [text]})
        async with opened(workspace, f"room{number}", assistant=model) as channel:
            said = [Message.user(SAID, speaker="Dana", id="1"), Message.assistant("ok", id="2")]
            receipt = await channel.before_compaction(said)
            assert receipt.state == "consolidated", (wrapping, receipt.reason)
        assert SAID in note(workspace, f"room{number}")


# ── answers that are well-formed and destroy


WORDS = re.findall(
    r"\w+",
    "anchor apple arrow basket beacon bicycle blanket boathouse bottle bridge broom bucket "
    "butter cabin camera candle canvas carpet castle ceiling cellar cheese chimney clock "
    "cloud coffee copper corner cotton curtain desert diamond drawer engine feather fence "
    "ferry flute forest fountain garage garden glacier guitar hammer harbour helmet hotel "
    "island jacket jungle kettle kitchen ladder lantern lemon letter library magnet marble "
    "market meadow mirror museum needle novel office orchard paddle palace pencil pepper "
    "piano pillow pocket portrait pumpkin quarry rabbit railway ribbon river rocket saddle "
    "salmon scarf school shovel silver sponge stable station stove sugar tailor temple "
    "theatre ticket timber tractor trumpet tunnel turtle umbrella valley velvet village "
    "violin wagon walnut window winter workshop ",
)


def unlike_facts(count: int) -> tuple[str, ...]:
    """Return sentences of other things each, so that none is taken for another."""
    chance = random.Random(11)
    facts = []
    for _ in range(count):
        a, b, c, d, e, f = chance.sample(WORDS, 6)
        facts.append(f"{a} and {b} reached {c} by {d}, bringing {e} and {f} soup"[:80])
    return tuple(facts)


# More than 5,000 characters: a shorter file is not tidied.
MANY = unlike_facts(90)


def half_of(text: str) -> str:
    """The first half of the words of a text."""
    words = text.split()
    return " ".join(words[: max(1, len(words) // 2 - 1)])


def drop_all(task: Tidy) -> Tidied:
    return Tidied(drop=tuple(Outdated(entry.id, "old") for entry in task.memory))


def drop_theirs(task: Tidy) -> Tidied:
    theirs = (entry for entry in task.memory if entry.text == ASKED or entry.text in TYPED)
    return Tidied(drop=tuple(Outdated(entry.id, "old") for entry in theirs))


def merge_to_half(task: Tidy) -> Tidied:
    pairs = zip(task.memory[::2], task.memory[1::2], strict=False)
    return Tidied(merge=tuple(Merge((a.id, b.id), half_of(a.text)) for a, b in pairs))


def merge_all(task: Tidy) -> Tidied:
    return Tidied(merge=(Merge(tuple(entry.id for entry in task.memory), "all is well"),))


def reword_to_half(task: Tidy) -> Tidied:
    return Tidied(reword=tuple(Reword(entry.id, half_of(entry.text)) for entry in task.memory))


def end_all(task: Consolidate) -> Consolidated:
    over = tuple(Outdated(entry.id, "over") for entry in task.memory)
    source = next(message.id for message in task.window if message.role == "user")
    return Consolidated(over=over, history=(HistoryItem("talk", (source,)),), sheet={})


def replace_all(task: Consolidate) -> Consolidated:
    source = next(message.id for message in task.window if message.role == "user")
    ids = tuple(entry.id for entry in task.memory)
    one = Learned(Kind.FACT, "nothing is known", (source,), "Dana", replaces=ids)
    return Consolidated((one,), history=(HistoryItem("talk", (source,)),), sheet={})


def replace_each(task: Consolidate) -> Consolidated:
    source = next(message.id for message in task.window if message.role == "user")
    facts = tuple(
        Learned(Kind.FACT, half_of(entry.text), (source,), "Dana", replaces=(entry.id,))
        for entry in task.memory
    )
    return Consolidated(facts, history=(HistoryItem("talk", (source,)),), sheet={})


DESTRUCTIVE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "tidy: drop all": ("tidy", drop_all),
    "tidy: drop what people said": ("tidy", drop_theirs),
    "tidy: merge pairs to half": ("tidy", merge_to_half),
    "tidy: merge all": ("tidy", merge_all),
    "tidy: reword to half": ("tidy", reword_to_half),
    "consolidate: all is over": ("consolidate", end_all),
    "consolidate: one replaces all": ("consolidate", replace_all),
    "consolidate: each replaced by half": ("consolidate", replace_each),
}


async def fill(workspace: Path, clock: FixedClock, texts: Sequence[str] = MANY) -> list[str]:
    """Learn many facts, and have what a person asked for and typed; returns all texts."""
    write_human_files(workspace)
    answer = Model(consolidate=learn_all)
    async with opened(workspace, assistant=answer, clock=clock) as channel:
        await remember(channel, ASKED, kind=Kind.CONSTRAINT)
        for begin in range(0, len(texts), 10):
            said = [Message.user(text, speaker="Ines") for text in texts[begin : begin + 10]]
            receipt = await channel.before_compaction([*said, Message.assistant("noted")])
            assert receipt.state == "consolidated"
        path = folder_of(workspace, "room") / "MEMORY.md"
        path.write_text(path.read_text() + f"\n## Facts\n\n{TYPED}")
        await channel.before_turn("hello")
        return [entry.text for entry in await entries(channel)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A workspace with `MANY` facts and the texts of its entries, made once and copied."""
    root = tmp_path_factory.mktemp("filled")
    (root / "channels").mkdir()
    return root, anyio.run(fill, root, FixedClock(MORNING))


def copied(filled: tuple[Path, list[str]], workspace: Path) -> list[str]:
    """Copy the filled workspace; returns the texts of its entries."""
    shutil.copytree(filled[0], workspace, dirs_exist_ok=True)
    return filled[1]


def still_told(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The texts of which at least half of the words stand in one entry still."""

    def is_told(text: str) -> bool:
        words = set(text.split())
        return any(len(words & set(other.split())) * 2 >= len(words) for other in after)

    return [text for text in before if is_told(text)]


@pytest.mark.parametrize("name", DESTRUCTIVE)
async def test_one_run_takes_out_a_quarter_at_most(
    filled: tuple[Path, list[str]], workspace: Path, name: str
) -> None:
    """What keeps less than half of the words counts as taken out: together at most a quarter, or
    three; what a person asked for or typed stays word for word; the log notes each with its actor.
    """
    clock = FixedClock(MORNING)
    before = copied(filled, workspace)
    assert len(before) == len(MANY) + 3
    assert len(note(workspace, "room")) > 5_000
    task, answer = DESTRUCTIVE[name]
    clock.advance(timedelta(days=2))
    model = Model(**{task: answer})
    async with opened(workspace, assistant=model, clock=clock) as channel:
        if task == "consolidate":
            said = Message.user("nice weather today, is it not?", speaker="Dana")
            await channel.before_compaction([said, Message.assistant("yes, the sun shines")])
        else:
            await maintain(channel)
        assert task in model.asked
        after = [entry.text for entry in await entries(channel)]
        changes = await log(channel)
    lost = [text for text in before if text not in still_told(before, after)]
    assert len(lost) <= max(3, len(before) // 4), lost
    text = note(workspace, "room")
    assert [line for line in TYPED.splitlines() if line not in text] == []
    assert f"- {ASKED}" in text
    gone = [text for text in before if text not in after]
    noted = [c.before for change in changes for c in change.changes if change.actor == "model"]
    assert [text for text in gone if text not in noted] == []
    require_human_files(workspace)


async def test_what_a_model_took_out_is_undoable(
    filled: tuple[Path, list[str]], workspace: Path
) -> None:
    """Each change by its number, newest first, until the texts are as before."""
    clock = FixedClock(MORNING)
    before = copied(filled, workspace)
    text = note(workspace, "room")
    clock.advance(timedelta(days=2))
    async with opened(workspace, assistant=Model(tidy=drop_all), clock=clock) as channel:
        await maintain(channel)
        assert note(workspace, "room") != text
        for change in await log(channel):
            if (change.task, change.actor) == ("tidy", "model"):
                await undo(channel, change.number)
        assert [entry.text for entry in await entries(channel)] == before
    assert note(workspace, "room") == text


@pytest.mark.parametrize("name", ["tidy: drop all", "consolidate: all is over"])
async def test_in_thirty_days_models_take_out_half_at_most(
    filled: tuple[Path, list[str]], workspace: Path, is_long: bool, name: str
) -> None:
    """However often they are asked, by one task or another; the log says what was refused."""
    clock = FixedClock(MORNING)
    before = copied(filled, workspace)
    task, answer = DESTRUCTIVE[name]
    async with opened(workspace, assistant=Model(**{task: answer}), clock=clock) as channel:
        for _ in range(29 if is_long else 12):
            clock.advance(timedelta(days=1 if is_long else 2))
            if task == "consolidate":
                # Without an id the same words would be no new message.
                said = Message.user(
                    f"nice weather on {clock.time:%d %B}, is it not?", speaker="Dana"
                )
                await channel.before_compaction([said, Message.assistant("yes, it is")])
            else:
                await remember(channel, f"another thing of {clock.time:%d %B}")
                await maintain(channel)
        after = [entry.text for entry in await entries(channel)]
        refused = "\n".join(line for change in await log(channel) for line in change.refused)
    assert "may take out at most" in refused or "have taken out half" in refused
    kept = [text for text in before if text in after]
    assert len(kept) < len(before)  # the model was heard
    assert len(kept) * 2 >= len(before)


OPPOSITES = {
    "the budget for the party is at most 500 euros": "the budget for the party is at least 500 euros",
    "the backup must run before the migration": "the backup must run after the migration",
    "Bob owes Ann 30 euros": "Ann owes Bob 30 euros",
    "only admins may delete channels": "all members may delete channels",
}


@pytest.mark.parametrize("task", ["tidy", "consolidate"])
async def test_no_entry_is_turned_into_its_opposite(workspace: Path, task: str) -> None:
    """By a merge, or by a replacement that rests on talk of something else."""
    clock = FixedClock(MORNING)
    await fill(workspace, clock, (*OPPOSITES, *MANY))
    clock.advance(timedelta(days=2))

    def merge(asked: Tidy) -> Tidied:
        known = [entry for entry in asked.memory if entry.text in OPPOSITES]
        pairs = zip(known[::2], known[1::2], strict=False)
        texts = ((a, b, f"{OPPOSITES[a.text]}; {OPPOSITES[b.text]}") for a, b in pairs)
        return Tidied(merge=tuple(Merge((a.id, b.id), text) for a, b, text in texts))

    def replaced(asked: Consolidate) -> Consolidated:
        source = next(message.id for message in asked.window if message.role == "user")
        known = [entry for entry in asked.memory if entry.text in OPPOSITES]
        facts = tuple(
            Learned(Kind.FACT, OPPOSITES[entry.text], (source,), "Ines", replaces=(entry.id,))
            for entry in known
        )
        return Consolidated(facts, history=(HistoryItem("weather", (source,)),), sheet={})

    model = Model(tidy=merge, consolidate=replaced)
    async with opened(workspace, assistant=model, clock=clock) as channel:
        if task == "tidy":
            await maintain(channel)
        else:
            said = Message.user("nice weather, is it not?", speaker="Ines")
            await channel.before_compaction([said, Message.assistant("yes")])
        assert task in model.asked
        after = [entry.text for entry in await entries(channel)]
    assert [text for text in OPPOSITES if text not in after] == []


async def test_an_explicit_entry_ends_by_its_persons_word_and_stays_in_the_log(
    workspace: Path,
) -> None:
    """What somebody asked for is replaced where the same person says the new value; the log keeps
    the old one, and an undo brings it back.
    """

    def newer(task: Consolidate) -> Consolidated:
        [known] = task.memory
        source = task.window[0].id
        one = Learned(
            Kind.FACT, "the meeting is on Monday", (source,), "Dana", explicit=True,
            replaces=(known.id,),
        )  # fmt: skip
        return Consolidated((one,), history=(HistoryItem("a new day", (source,)),), sheet={})

    async with opened(workspace, assistant=Model(consolidate=newer)) as channel:
        await remember(channel, "the meeting is on Thursday", speaker="Dana")
        said = Message.user("the meeting is on Monday from now on, remember that", speaker="Dana")
        await channel.before_compaction([said, Message.assistant("noted")])
        [entry] = await entries(channel)
        assert "Monday" in entry.text
        [change] = [c for c in (await log(channel))[0].changes if c.before]
        assert "Thursday" in change.before
        await undo(channel)
        [entry] = await entries(channel)
        assert "Thursday" in entry.text
        assert entry.trust is Trust.EXPLICIT


async def test_a_refresh_or_fold_that_empties_loses_nothing(workspace: Path) -> None:
    """A sheet that a model empties, and months folded into nothing: HISTORY.archive.md has every
    block word for word, and what a person wrote into SESSION.md stays.
    """

    def empty_sheet(_: Refresh) -> Refreshed:
        return Refreshed(dict.fromkeys(("Current State", "Decisions", "Mine"), ()))

    def to_one(task: Fold) -> Folded:
        return Folded("all", (HistoryItem("nothing happened", (task.bullets[0][0],)),))

    clock = FixedClock(MORNING - timedelta(days=200))
    told = []

    def tell(task: Consolidate) -> Consolidated:
        source = task.window[0].id
        bullets = tuple(
            HistoryItem(f"event {name} of {task.window[0].content}", (source,)) for name in "abc"
        )
        told.extend(bullet.text for bullet in bullets)
        return Consolidated(history=bullets, title="talk", sheet={})

    model = Model(consolidate=tell, refresh=empty_sheet, fold=to_one)
    async with opened(workspace, assistant=model, clock=clock) as channel:
        for number in range(30):
            clock.advance(timedelta(days=3))
            await say(channel, f"talk number {number}")
            await channel.compacted(await channel.before_compaction())
        path = folder_of(workspace, "room") / "SESSION.md"
        path.write_text("# Session\n\n## Mine\n\n- a person's line\n")
        await say(channel, "hello")
        clock.advance(timedelta(days=40))
        await maintain(channel)
    assert "fold" in model.asked
    everything = note(workspace, "room", "HISTORY.md") + note(
        workspace, "room", "HISTORY.archive.md"
    )
    assert [text for text in told if text not in everything] == []
    assert "- a person's line" in note(workspace, "room", "SESSION.md")
