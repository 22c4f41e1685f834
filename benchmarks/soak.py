"""A month of many channels in minutes: talk, edits, restarts and faults at random, then everything
is counted.

usage: python -m benchmarks.soak [--channels N] [--days N] [--seed N] [--talks N]

The clock is simulated; files, state, scheduler, budget and breaker are the real ones. The model
is a function that answers as the prompts ask, and in a third of the cases as models do: late, busy,
cut off, in prose, with foreign ids, with ten thousand operations. At the end:

- every text that was remembered on request stands in MEMORY.md or its archive, unless a hand took
  it out;
- every entry that a change added is there, unless a change says who took it out;
- every message is in the log, once;
- the usage ledger holds each attempt, and its tokens are what the model billed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from pipimem import Channel, Clock, Message, Pipimem
from pipimem.errors import ModelTimeout, ModelUnavailable
from pipimem.llm import litellm_client
from pipimem.llm.request import Completion, ContextOverflow, ModelBusy, ModelRequest, Price
from pipimem.notes.kinds import File
from pipimem.runtime.channel import upkeep_of
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading

START = datetime.fromisoformat("2026-03-02T08:00:00+08:00")
MODEL = "openai/soak"
_LINE = re.compile(
    r"^\[(?P<id>[^\]]+)\] \S+ \w{3} \S+ (?P<name>[^:\n]+): (?P<text>.*)$", re.MULTILINE
)
_KNOWN = re.compile(r"^\[(?P<id>\w+(?:\.\d+)?)\] \((?P<about>[^)]*)\) (?P<text>.*)$", re.MULTILINE)
_BULLET = re.compile(r"^\[(?P<id>\w+)\] (?P<text>.*)$", re.MULTILINE)
_TOPICS = ("pump", "gate", "lamp", "crane", "mixer", "水泵", "闸门", "吊车", "路灯", "搅拌机")


@dataclass(slots=True)
class Hands:
    """The simulated clock, and how the scheduler sleeps by it."""

    now: datetime = START
    sleeping_until: float = float("inf")
    asleep: anyio.Event | None = None

    def monotonic(self) -> float:
        """Seconds since the start."""
        return (self.now - START).total_seconds()

    def clock(self) -> Clock:
        """A clock that shows this time everywhere."""
        return Clock(now=lambda: self.now, wall=lambda: self.now, monotonic=self.monotonic)

    async def sleep(self, wake: anyio.Event, seconds: float) -> None:
        """What the scheduler does when nothing is due: it says until when, and waits to be
        woken.
        """
        self.sleeping_until, self.asleep = self.monotonic() + seconds, wake
        await wake.wait()
        self.asleep = None


@dataclass(slots=True)
class Fickle:
    """The model: what it billed, and how often it did what."""

    chance: random.Random
    tokens: int = 0
    calls: int = 0
    did: Counter[str] = field(default_factory=Counter)

    async def price(self, _: str) -> Price | None:
        """Nobody knows."""
        return None

    async def complete(self, ask: ModelRequest) -> Completion:
        """An answer as asked for, or one of a model's bad habits."""
        self.calls += 1
        prompt = ask.messages[-1].content
        answer = _answer(ask.task, prompt, self.chance)
        habit = self.chance.choices(
            (
                "good",
                "busy",
                "late",
                "down",
                "long",
                "cut",
                "prose",
                "foreign",
                "flood",
                "refusal",
                "empty",
                "stopped",
            ),
            (70, 1, 3, 2, 2, 4, 3, 4, 2, 3, 3, 3),
        )[0]
        self.did[habit] += 1
        answer = _spoilt(habit, answer, self.chance)
        tokens_in, tokens_out = len(prompt) // 4, min(ask.max_tokens, 1 + len(answer) // 4)
        self.tokens += tokens_in + tokens_out
        finish = "length" if habit == "stopped" else "stop"
        return Completion(answer, finish, tokens_in, tokens_out)


def _spoilt(habit: str, answer: str, chance: random.Random) -> str:
    """What a model of bad habits makes of a good answer, or the error it ends in."""
    match habit:
        case "busy":
            raise ModelBusy("try again", 0.01)
        case "late":
            raise ModelTimeout("no answer in time")
        case "down":
            raise ModelUnavailable("refused")
        case "long":
            raise ContextOverflow("too long")
    spoilt = {
        "cut": lambda: answer[: chance.randrange(len(answer))],
        "prose": lambda: "Sure! I have updated the memory for you.",
        "foreign": lambda: re.sub(
            r'"(?:id|sources|ids)":(\[?)"[^"]+"', r'"sources":\1"zzzz9999"', answer, count=1
        ),
        "flood": lambda: json.dumps({"learned": [{"text": f"x{n}"} for n in range(10_000)]}),
        "refusal": lambda: "I cannot help with that.",
        "empty": lambda: "",
    }
    return spoilt[habit]() if habit in spoilt else answer


def _answer(task: str, prompt: str, chance: random.Random) -> str:
    """What a good model would answer, from the lines of its prompt."""
    said = [match for match in _LINE.finditer(prompt) if "(bot)" not in match["name"]]
    match task:
        case "consolidate":
            learned = [
                {"sources": [m["id"]], "speaker": m["name"],
                "text": f"{m['name']}: {m['text']}"[:250], "kind": "fact",
                 "necessity": "high", "explicit": False, "replaces": []}
                for m in said if "remember " not in m["text"]
            ][:8]  # fmt: skip
            history = [
                {"sources": [m["id"]], "text": f"They spoke of {m['text'].split()[-1]}"}
                for m in said[:2]
            ]
            body: dict[str, object] = {
                "learned": learned,
                "over": [],
                "title": "AppliedDraft",
                "history": history,
            }
        case "refresh":
            spoken = [f"{m['name']} spoke of {m['text'].split()[-1]}" for m in said[-2:]]
            added = [{"list": "current_state", "text": text} for text in spoken]
            body = {"title": "AppliedDraft", "remove": [], "add": added}
        case "tidy":
            known = [m["id"] for m in _KNOWN.finditer(prompt) if "inferred" in m["about"]]
            gone = chance.sample(known, min(len(known), chance.randrange(6)))
            body = {"drop": [{"id": name, "why": "over"} for name in gone], "merge": [], "move": []}
        case "fold":
            told = [(m["id"], m["text"]) for m in _BULLET.finditer(prompt)]
            body = {
                "title": "A month",
                "bullets": [
                    {"sources": [n], "text": text[:200]} for n, text in told[: -(-len(told) // 2)]
                ],
            }
        case _:
            body = {"order": []}
    return json.dumps(body, ensure_ascii=False)


@dataclass(slots=True)
class Told:
    """What was said, asked for and done by hand in one channel."""

    messages: int = 0
    asked: set[str] = field(default_factory=set)
    taken_out: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Soak:
    """The month, as it goes."""

    root: Path
    chance: random.Random
    hands: Hands = field(default_factory=Hands)
    told: dict[str, Told] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    looks: Counter[str] = field(default_factory=Counter)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Pipimem]:
        """The workspace with its idle work running on the simulated clock."""
        pipimem = Pipimem(self.root, MODEL, clock=self.hands.clock())
        pipimem._idle._scheduler.sleep = self.hands.sleep
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks, pipimem:
                tasks.start_soon(
                    pipimem.watch,
                    lambda visit: self.looks.update(job.task for job in visit.ran if job.ran),
                )
                yield pipimem
                scope.cancel()

    async def pass_until(self, pipimem: Pipimem, when: datetime) -> None:
        """Let the idle work do all that becomes due until then."""
        scheduler = pipimem._idle._scheduler
        while True:
            while scheduler._running or self.hands.asleep is None:
                await anyio.sleep(0.0005)
            if self.hands.sleeping_until > (when - START).total_seconds():
                break
            # A millisecond more: a clock of microseconds may stand just before the time it was set
            # to.
            self.hands.now = max(
                self.hands.now, START + timedelta(seconds=self.hands.sleeping_until + 0.001)
            )
            self.hands.asleep.set()
            await anyio.sleep(0.0005)
        self.hands.now = max(self.hands.now, when)

    async def talk(self, pipimem: Pipimem, name: str) -> None:
        """A few turns in a channel, and now and then something else that happens to memory."""
        channel = await pipimem.channel(name, kind="group")
        told = self.told.setdefault(name, Told())
        for _ in range(self.chance.randint(1, 4)):
            self.hands.now += timedelta(seconds=self.chance.randint(5, 90))
            number, topic = told.messages, self.chance.choice(_TOPICS)
            text = (
                f"the {topic} of hall {number} has {self.chance.randrange(10_000)} "
                f"hours {topic}-{number}"
            )
            turn = await channel.before_turn(text, speaker="Dana")
            said = [
                Message.user(text, speaker="Dana", id=f"u{number}"),
                Message.assistant("noted", id=f"a{number}"),
            ]
            await channel.after_turn(turn, said)
            told.messages += 2
            self.done["turns"] += 1
        await self._something_else(channel, told)

    async def _something_else(self, channel: Channel, told: Told) -> None:
        match self.chance.choices(
            ("", "remember", "compact", "type", "delete"), (60, 12, 18, 6, 4)
        )[0]:
            case "remember":
                text = (
                    f"remember hall {told.messages} opens at {self.chance.randrange(24)}:00, "
                    f"key {len(told.asked)}"
                )
                if (await channel.notes.remember(text, speaker="Dana")).changes:
                    told.asked.add(text)
                    self.done["remembered"] += 1
            case "compact":
                receipt = await channel.before_compaction()
                if receipt.may_compact:
                    await channel.compacted(receipt)
                self.done[f"compaction {receipt.state}"] += 1
            case "type":
                path = upkeep_of(channel).store.folder / "MEMORY.md"
                text = f"typed by hand {told.messages}"
                path.write_text(
                    (path.read_text() if path.exists() else "## Facts\n") + f"- {text}\n"
                )
                told.asked.add(text)
                self.done["typed"] += 1
            case "delete":
                self._delete(upkeep_of(channel).store.folder / "MEMORY.md", told)

    def _delete(self, path: Path, told: Told) -> None:
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        bullets = [number for number, line in enumerate(lines) if line.startswith("- ")]
        if len(bullets) > 3:
            gone = lines.pop(self.chance.choice(bullets))
            told.taken_out.add(gone[2:].strip())
            path.write_text("".join(lines))
            self.done["deleted by hand"] += 1


async def soaked(soak: Soak, channels: int, days: int, talks: int) -> None:
    """Talks at random times over the days; the process is stopped and started again now and
    then.
    """
    span = days * 86_400
    times = sorted(soak.chance.random() * span for _ in range(talks))
    at = iter(
        [
            (START + timedelta(seconds=seconds), f"c{soak.chance.randrange(channels):03}")
            for seconds in times
        ]
    )
    began, left, done = time.monotonic(), len(times), 0
    while left:
        async with soak.opened() as pipimem:
            for _ in range(min(left, soak.chance.randint(200, 600))):
                when, name = next(at)
                await soak.pass_until(pipimem, when)
                await soak.talk(pipimem, name)
                left, done = left - 1, done + 1
                if done % 100 == 0:
                    print(
                        f"\r{done} of {talks} talks, {time.monotonic() - began:.0f} s",
                        end="",
                        file=sys.stderr,
                    )
        soak.done["restarts"] += 1
    async with soak.opened() as pipimem:
        await soak.pass_until(pipimem, START + timedelta(days=days + 1))
    print(file=sys.stderr)


async def counted(soak: Soak) -> Counter[str]:
    """What is missing at the end, by kind; all zero is a month without a loss."""
    lost: Counter[str] = Counter()
    async with Pipimem(soak.root, "offline", clock=soak.hands.clock()) as pipimem:
        for name, told in soak.told.items():
            channel = await pipimem.channel(name)
            notes, store = await upkeep_of(channel).notes(), upkeep_of(channel).store
            archive = store.archive()
            present = {entry.text for entry in (*notes.memory.entries, *archive.entries)}
            lost["asked for"] += len(told.asked - present - told.taken_out)
            added: Counter[str] = Counter()
            for record in store.changes():
                for change in record.changes:
                    if change.file == File.MEMORY:
                        added[change.after] += bool(change.after)
                        added[change.before] -= bool(change.before)
            standing = {text for text, times in added.items() if times > 0}
            lost["learnt"] += len(
                standing - {entry.text for entry in notes.memory.entries} - told.taken_out
            )
            numbers = Counter(message.id for message in store.transcript.messages())
            lost["messages"] += told.messages - len(numbers)
            lost["messages twice"] += sum(times - 1 for times in numbers.values())
            soak.done["entries"] += len(notes.memory.entries)
            soak.done["set aside"] += len(notes.ledger.holes)
    return lost


def main() -> None:
    """Run the month and print what it did and what was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--channels", type=int, default=500)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--talks", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    model = Fickle(random.Random(asked.seed + 1))
    litellm_client.LiteLLM = lambda **_: model  # type: ignore[assignment, misc]
    print(
        heading(f"Soak: {asked.channels} channels, {asked.days} days, seed {asked.seed}", "anyio")
    )
    with tempfile.TemporaryDirectory() as folder:
        WorkspaceStore.init(Path(folder) / "workspace")
        soak = Soak(Path(folder) / "workspace", chance)
        began = time.monotonic()
        anyio.run(soaked, soak, asked.channels, asked.days, asked.talks)
        lost = anyio.run(counted, soak)
        usages = list(WorkspaceStore.open(soak.root).usages())
        lost["attempts in the ledger"] = model.calls - len(usages)
        lost["tokens in the ledger"] = model.tokens - sum(
            usage.tokens_in + usage.tokens_out for usage in usages
        )
        print(f"{time.monotonic() - began:.0f} s of real time")
        for title, figures in (
            ("done", soak.done),
            ("idle jobs", soak.looks),
            ("the model", model.did),
            ("lost", lost),
        ):
            print(
                f"{title}: "
                + ", ".join(f"{name} {count:,}" for name, count in sorted(figures.items()))
            )
    raise SystemExit(1 if any(lost.values()) else 0)


if __name__ == "__main__":
    main()
