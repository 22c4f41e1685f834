"""Promise 8: no text, however made, costs more than time in proportion to its length.

Each function that takes text, or reads text that people may type, gets a unit repeated to 10,000
characters and to 100,000. Processor time is measured (all threads of the process, or the process
of a command), so that a busy machine cannot fail a test: the longer text may take 20 times as much.
Time for less than a few milliseconds says nothing, which is what the floors are for.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree

import anyio
import pytest

from tests.promises import front_door as door
from tests.promises.front_door import File, Kind, Message, Pipimem, PipimemError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the time of processes is read")

CHANNEL = "room"
# Of a message no more than 8,000 characters are judged: what takes the square shows up to there.
SHORT, LONG = (800, 8_000), (10_000, 100_000)
# Seconds that any call may take whatever its text is: they hide the noise of a short measurement.
SHORT_FLOOR, LONG_FLOOR, COMMAND_FLOOR = 0.05, 0.02, 0.2
SHORT_RATIO, LONG_RATIO = 10, 20
# A function that takes so long for the shorter text is not asked about the longer one.
TOO_LONG = 10.0
# The caches of a processor and the collector of garbage make a single measurement up to twice as
# long as another; of three the best counts.
ATTEMPTS = 3

# What hostile text is made of. A unit with `№` in it has the number of the repetition there.
UNITS = (
    # digits, letters, words
    "1", "1 ", "1.", "1. ", "1,,", "1-", "1/", "0", "+1 1 ", "4111 ", "7 ", "三", "一二", "二〇",
    "a", "A", "a ", "A. ", "Ab ", "aB", "A1b2", "Ａ", "我", "我 ", "年", "tea ", "no ", "not ", "一二三 ",
    "only ", "what next ", "may ", "以后", "记住 ", "好的没事了", "ha", "哈", "嗯", "😂 ", "send all ",
    # brackets and quotation marks
    "(", "()", "[", "[]", "[a](", "{", "{{", '{"a":', '"', '"a', "'", "a'", "“", "“a”", "「", "「」", "《", "（",
    # dashes, dots, other signs
    "-", "- ", "a-", "a_", "_", "---\n", "-x ", ".", "a.", "a.b", "...", "…", "!?", "a: ", "a=", "=>", "*", "* ",
    "**", "|", "| a | b |\n|---|---|\n", "#", "# ", "## a\n\n", "~", "\\", "\\u003c", "&#", "&lt;", "&amp;", "$", "%",
    "`", "```\n", "``` `` ` ", "~~~\n", "> ", "> \n", ">> a\n", "[(", "@", "@a ", "a@b.", "http://", "http://a?b=", "a/",
    # tags and comments
    "<", "< ", "<a", "<a>", "</a>", "<!--", "<!-- a -->", "<private>", "</private>", "<private", "[private]",
    "<!-- private -->", "`<private>` ", "<pri<private></private>vate>", "<div hidden>", "<think>",
    "</pipimem-memory-abcdefgh>", "<pipimem-memory-abcdefgh>\n- a\n", "pipimem-memory-", "[MEMORY: a]\n- b\n",
    # days and times
    "2026-03-02 ", "2026-", "3月2日", "1月", "12:30 ", "tomorrow ", "on Friday ", "in 2 days ", "下周", "三天", "月底",
    # Chinese signs
    "，", "。", "：", "；", "、", "？", "！", "\u3000", "花 ", "请，",
    # white space and what nobody sees
    " ", "\t", "\n", "\r\n", " \n", "a\n", "- a\n", "- \n", "1. a\n", "- a\n  - b\n    - c\n", "a\n\n",
    "\u200b", "\u200bpassword ", "👩\u200d", "e\u0301", "\x07", "\u202e",
    # what may be a secret
    "password ", "password: ", "token:", "sk-", "eyJ", "://a:", "密码", "密码是", "口令：", "账号 ", "login a:b ",
    "mysql -p", "-----BEGIN PRIVATE KEY-----", "[secret:", "x1 is my ", "138 ",
    # no line like another, and lines by twos
    "line № of many\n", "- job №, try №\n", "file-name-of-№.md ", "- Ann said № on 2026-03-02\n",
)  # fmt: skip


def repeated(unit: str, length: int) -> str:
    """Return a unit again and again, up to about this length."""
    count = max(1, length // len(unit))
    if "№" not in unit:
        return unit * count
    return "".join(unit.replace("№", str(number)) for number in range(count))


@dataclass
class Trial:
    """A workspace, the text that is tried in it, and the processor seconds of what is measured."""

    root: Path
    text: str
    seconds: float = 0.0
    model: door.Assistant | None = None

    def __post_init__(self) -> None:
        rmtree(self.root, ignore_errors=True)
        (self.root / "channels").mkdir(parents=True)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Add the processor time of the block; a refusal by pipimem ends it, and is an answer."""
        gc.collect()
        began = time.process_time()
        try:
            yield
        except PipimemError:
            pass
        finally:
            self.seconds += time.process_time() - began

    @asynccontextmanager
    async def channel(self, kind: str = "dm") -> AsyncIterator[door.Channel]:
        """Open the channel of a new `Pipimem`."""
        async with Pipimem(self.root, assistant=self.model) as pipimem:
            yield await pipimem.channel(CHANNEL, kind=kind)

    def command(self, *arguments: str) -> None:
        """Run a command of the command line; its processor time is measured."""
        words = [sys.executable, "-m", "pipimem", "--workspace", str(self.root), *arguments]
        before = os.times()
        done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        after = os.times()
        assert done.returncode in (0, 1), done.stderr.decode()
        self.seconds += sum(after[2:4]) - sum(before[2:4])

    @property
    def argument(self) -> str:
        """The text as an argument of a command: Linux takes no longer ones than 128 KiB."""
        return self.text.encode()[:120_000].decode(errors="ignore")

    def file(self, name: str, text: str) -> Path:
        """Write a file of the workspace as a person would."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
        return path

    def note(self, name: str) -> None:
        """Write a note of the channel: a line that everybody knows, then the text."""
        self.file(
            f"channels/{CHANNEL}/{name}",
            f"# Memory\n\n## Facts\n\n- tea is green\n{self.text}\n- b\n",
        )


Function = Callable[[Trial], Awaitable[None]]
FUNCTIONS: dict[str, Function] = {}
COMMANDS: dict[str, Function] = {}


def function(tried: Function) -> Function:
    """Enter a function of the Python API by its name."""
    FUNCTIONS[tried.__name__] = tried
    return tried


def command(tried: Function) -> Function:
    """Enter a command of the command line by its name."""
    COMMANDS[tried.__name__] = tried
    return tried


def spoken(text: str, number: int = 0, speaker: str = "Ann") -> Message:
    """Return what a person says."""
    return Message.user(text, id=f"said-{number}", speaker=speaker)


# ── a turn and a compaction ───────────────────────────────────────────────────────────────────────


@function
async def a_turn(trial: Trial) -> None:
    """The message is looked up, answered with the same words, and stored."""
    async with trial.channel() as channel:
        with trial.measured():
            turn = await door.before_turn(channel, trial.text, speaker="Ann")
            reply = Message.assistant(trial.text, id="answer")
            await channel.after_turn(turn, [spoken(trial.text), reply])


@function
async def a_turn_off_the_record(trial: Trial) -> None:
    """Nothing of it is stored but a mark."""
    async with trial.channel() as channel:
        with trial.measured():
            turn = await door.before_turn(channel, trial.text, speaker="Ann", record=False)
            await channel.after_turn(turn, [spoken(trial.text)])


@function
async def a_turn_after_the_text(trial: Trial) -> None:
    """Another session finds it in the transcript."""
    async with trial.channel() as channel:
        await door.take_in(channel, [spoken(f"tea {trial.text} tea")])
    async with trial.channel() as channel:
        with trial.measured():
            await door.before_turn(channel, "what about tea?", sees_nothing=True)
            await door.search(channel, "tea")
            await door.timeline(channel, "said-0")
            await door.detail(channel, "said-0")


@function
async def take_in(trial: Trial) -> None:
    """Messages of another program, a tool's output among them."""
    async with trial.channel() as channel:
        with trial.measured():
            output = Message(role="tool", content=trial.text, id="output")
            await door.take_in(channel, [spoken(trial.text), output])


@function
async def a_compaction(trial: Trial) -> None:
    """Of a group, where the text is said, answered, and printed by a tool; then the end."""
    await _compacted(trial, "group")


@function
async def a_compaction_of_a_direct_chat(trial: Trial) -> None:
    """The same where one person speaks."""
    await _compacted(trial, "dm")


@function
async def a_compaction_of_many_messages(trial: Trial) -> None:
    """The text in messages of 500 characters."""
    async with trial.channel("group") as channel:
        pieces = [trial.text[start : start + 500] for start in range(0, len(trial.text), 500)]
        messages = [spoken(piece, number) for number, piece in enumerate(pieces)]
        with trial.measured():
            await channel.before_compaction(messages, deadline=600)


@function
async def a_compaction_by_a_model(trial: Trial) -> None:
    """The model answers with the text wherever it may."""
    trial.model = door.model_that_answers(trial.text, ("said-0",))
    await _compacted(trial, "group")


async def _compacted(trial: Trial, kind: str) -> None:
    messages = [
        spoken(f"we talked of tea: {trial.text} yes"),
        Message.assistant(f"{trial.text} yes", id="answer"),
        Message(role="tool", content=f"{trial.text} yes", id="output"),
        spoken(trial.text, 1, "Bob" if kind == "group" else "Ann"),
    ]
    async with trial.channel(kind) as channel:
        with trial.measured():
            receipt = await channel.before_compaction(messages, deadline=600)
            await channel.compacted(receipt)


# ── looking for it ────────────────────────────────────────────────────────────────────────────────


@function
async def recall(trial: Trial) -> None:
    """Automatic, and asked for; and why."""
    async with trial.channel() as channel:
        await door.remember(channel, "tea is green")
        with trial.measured():
            await channel.recall(trial.text)
            await channel.recall(trial.text, automatic=False)
            await channel.preview_turn(trial.text)


@function
async def search(trial: Trial) -> None:
    """In notes and talk, by the words of the text and in such a text."""
    async with trial.channel() as channel:
        await door.remember(channel, "tea is green")
        await door.take_in(channel, [spoken(trial.text)])
        with trial.measured():
            await door.search(channel, trial.text)


# ── changing the notes ────────────────────────────────────────────────────────────────────────────


@function
async def remember(trial: Trial) -> None:
    """Two entries that differ in a word; then the next turn shows them."""
    async with trial.channel() as channel:
        with trial.measured():
            await door.remember(channel, f"tea {trial.text} a", speaker="Ann")
        with trial.measured():
            await door.remember(channel, f"tea {trial.text} b", kind=Kind.CONSTRAINT)
        with trial.measured():
            await door.before_turn(channel, "tea?")


@function
async def update(trial: Trial) -> None:
    """An entry gets the text, then another text."""
    async with trial.channel() as channel:
        await door.remember(channel, "tea is green")
        for text in (f"tea {trial.text} is black", "tea is white"):
            with trial.measured():
                (entry,) = await door.entries(channel)
                await door.update(channel, entry.id, text)


@function
async def forget(trial: Trial) -> None:
    """After a look at what would go; the text is an entry, a message, and a part of a message."""
    async with trial.channel() as channel:
        text = f"tea {trial.text} tea"
        await door.remember(channel, text)
        await door.take_in(channel, [spoken(text), spoken(f"and {text} and", 1)])
        with trial.measured():
            await door.forget_preview(channel, text)
        with trial.measured():
            await door.forget(channel, text)


@function
async def tools(trial: Trial) -> None:
    """The calls of a bot's model."""
    async with trial.channel() as channel:
        await door.remember(channel, "tea is green")
        (entry,) = await door.entries(channel)
        with trial.measured():
            for name, arguments in (
                ("memory_search", {"query": trial.text}),
                ("memory_save", {"text": trial.text, "title": trial.text, "tags": [trial.text]}),
                ("memory_update", {"id": entry.id, "text": trial.text}),
                ("memory_forget", {"query": trial.text}),
                ("memory_save", trial.text),
            ):
                await channel.call_tool(name, arguments)


@function
async def view_and_save_a_note(trial: Trial) -> None:
    """As the web view does: looked at, changed, saved, and the same from an old draft."""
    trial.note("MEMORY.md")
    async with trial.channel() as channel:
        with trial.measured():
            seen = await door.view_file(channel, File.MEMORY)
        for draft in (f"{seen.text}- {trial.text}\n", f"- {trial.text} b\n{seen.text}"):
            with trial.measured():
                await door.save_file(channel, File.MEMORY, draft, seen)


@function
async def save_an_entry(trial: Trial) -> None:
    """One entry gets the text."""
    async with trial.channel() as channel:
        await door.remember(channel, "tea is green")
        with trial.measured():
            seen = await door.view_file(channel, File.MEMORY)
            [entry] = [block for block in seen.blocks if block.kind == "entry"]
            with suppress(PipimemError):  # refused if it is no entry
                await door.save_entry(channel, File.MEMORY, entry, trial.text)


@function
async def history(trial: Trial) -> None:
    """What changed, and back."""
    async with trial.channel() as channel:
        await door.remember(channel, "milk is white")
        await door.remember(channel, f"tea {trial.text} a")
        with trial.measured():
            changes = await door.log(channel)
            await door.diff(channel, changes[-1].number)
            await channel.history.blame()
        with trial.measured():
            await door.undo(channel)
        with trial.measured():
            await door.restore(channel, changes[0].number)


# ── what people type into files ───────────────────────────────────────────────────────────────────


async def _opened(trial: Trial) -> None:
    """A process opens the channel: a turn, an entry, a compaction."""
    with trial.measured():
        async with trial.channel("group") as channel:
            turn = await door.before_turn(channel, "what about tea?", speaker="Ann")
            await channel.after_turn(turn, [spoken("milk is white")])
            await door.remember(channel, "milk is white")
            await channel.before_compaction(deadline=600)


@function
async def a_memory_on_disk(trial: Trial) -> None:
    """MEMORY.md with the text in it, read; then a person types it once more."""
    trial.note("MEMORY.md")
    await _opened(trial)
    with (trial.root / "channels" / CHANNEL / "MEMORY.md").open("a") as file:
        file.write(f"\n- more\n{trial.text}\n")
    await _opened(trial)


@function
async def a_session_on_disk(trial: Trial) -> None:
    """SESSION.md with the text in it."""
    trial.note("SESSION.md")
    await _opened(trial)


@function
async def a_history_on_disk(trial: Trial) -> None:
    """HISTORY.md with the text in it."""
    trial.note("HISTORY.md")
    await _opened(trial)


@function
async def a_note_of_nothing_else(trial: Trial) -> None:
    """MEMORY.md is the text."""
    trial.file(f"channels/{CHANNEL}/MEMORY.md", trial.text)
    await _opened(trial)


@function
async def a_shared_memory(trial: Trial) -> None:
    """The workspace's MEMORY.md, SOUL.md and AGENTS.md."""
    for name in ("MEMORY.md", "SOUL.md", "AGENTS.md"):
        trial.file(name, f"- tea {trial.text}\n")
    with trial.measured():
        async with trial.channel() as channel:
            await channel.session_prompt()
            await door.before_turn(channel, "what about tea?")


@function
async def words_txt(trial: Trial) -> None:
    """The workspace's words, and synonyms."""
    trial.file("words.txt", f"{trial.text}\ntea = {trial.text}\n{trial.text} = {trial.text} => a\n")
    await _opened(trial)


@function
async def pipimem_toml(trial: Trial) -> None:
    """A comment, a string, a list of secrets, and the text as it stands."""
    quoted = json.dumps(trial.text)
    for settings in (
        f"# {trial.text}\n",
        f"model.name = {quoted}\n",
        f"[secrets]\nwords = [{quoted}]\n",
        trial.text,
    ):
        trial.file("pipimem.toml", settings)
        await _opened(trial)


@function
async def a_transcript_on_disk(trial: Trial) -> None:
    """A log.jsonl that somebody wrote: a message, and a line that is none."""
    line = json.dumps({"role": "user", "content": trial.text}, ensure_ascii=False)
    trial.file(f"channels/{CHANNEL}/log.jsonl", f"{line}\n{trial.text}\n{line}\n")
    await _opened(trial)


# ── commands ──────────────────────────────────────────────────────────────────────────────────────


async def _prepared(trial: Trial) -> None:
    """An entry and a message with the text."""
    async with trial.channel() as channel:
        await door.take_in(channel, [spoken(f"tea {trial.text} tea")])
        await door.remember(channel, f"tea {trial.text} tea")


@command
async def recall_and_search_commands(trial: Trial) -> None:
    """`recall --explain`, `search`, `show`, `log`, `blame`, `list`, `doctor`."""
    await _prepared(trial)
    trial.command("recall", CHANNEL, "--explain", "--turn", "--", trial.argument)
    trial.command("search", CHANNEL, "--", trial.argument)
    for name in ("show", "log", "blame", "list", "diff"):
        trial.command(name, CHANNEL)
    for name in ("status", "doctor"):
        trial.command(name)


@command
async def remember_and_forget_commands(trial: Trial) -> None:
    """`remember`, `forget --verify`, `forget`."""
    await _prepared(trial)
    trial.command("remember", CHANNEL, "--", f"milk {trial.argument} milk")
    trial.command("forget", CHANNEL, "--verify", f"tea {trial.argument} tea")
    trial.command("forget", CHANNEL, "--yes", "--", f"tea {trial.argument} tea")


@command
async def import_command(trial: Trial) -> None:
    """Memories in Markdown, and a log, of other programs."""
    source = trial.root.parent / "source"
    rmtree(source, ignore_errors=True)
    (source / "memory").mkdir(parents=True)
    (source / "memory" / "MEMORY.md").write_text(f"# Memory\n\n- tea\n{trial.text}\n", newline="")
    (source / "memory" / "2026-03-02.md").write_text(trial.text, newline="")
    (source / "memory" / "HISTORY.md").write_text(trial.text, newline="")
    for program in ("openclaw", "nanobot", "basic-memory", "claude-code"):
        trial.command("import", str(source), "--from", program, "--channel", f"{program}-1")
    line = json.dumps({"role": "user", "content": trial.text}, ensure_ascii=False)
    log = trial.root.parent / "source.jsonl"
    log.write_text(f"{line}\n{line}\n", newline="")
    trial.command("import", str(log), "--from", "log", "--channel", "log-1", "--consolidate")


@command
async def replay_command(trial: Trial) -> None:
    """A recorded talk, with questions that memory must go on answering, and the idle jobs."""
    trial.file("recall.must", f"{trial.text} => tea\nwhat about tea? => {trial.text}\n")
    lines = [
        {"role": role, "name": name, "content": trial.text, "ts": f"2026-03-0{day}T09:00:00+08:00"}
        for day in (1, 2)
        for role, name in (("user", "Ann"), ("assistant", "Bot"), ("user", "Bob"))
    ]
    talk = trial.root.parent / "talk.jsonl"
    talk.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    trial.command(
        "replay", CHANNEL, str(talk), "--kind", "group", "--compact-every", "3", "--maintain"
    )


# ── the promise ───────────────────────────────────────────────────────────────────────────────────


def seconds_of(tried: Function, root: Path, unit: str, length: int) -> float:
    """Return the processor seconds of a function for a text of about this length."""
    trial = Trial(root, repeated(unit, length))
    anyio.run(tried, trial)
    return trial.seconds


@dataclass
class Growth:
    """The seconds of a function for two lengths, without those that it takes for any text."""

    short: float
    long: float
    floor: float

    @property
    def ratio(self) -> float:
        """How many times as long the longer text takes."""
        return self.long / (self.short + self.floor)

    def __str__(self) -> str:
        return f"{self.short:.3f} s, then {self.long:.3f} s: {self.ratio:.0f} times as long"


def growth_of(
    tried: Function,
    root: Path,
    unit: str,
    lengths: tuple[int, int],
    floor: float,
    bound: float,
    fixed: float = 0.0,
) -> Growth:
    """Return the growth from the shorter to the longer text, the best of some attempts."""
    best = Growth(0.0, float("inf"), floor)
    for _ in range(ATTEMPTS):
        short = max(0.0, seconds_of(tried, root, unit, lengths[0]) - fixed)
        if short > TOO_LONG:
            return Growth(short, float("inf"), floor)
        long = seconds_of(tried, root, unit, lengths[1]) - fixed
        best = min(best, Growth(short, long, floor), key=lambda growth: growth.ratio)
        if best.ratio <= bound:
            break
    return best


@function
async def everything(trial: Trial) -> None:
    """A turn, a compaction, a search and a forget: what the short form tries."""
    async with trial.channel("group") as channel:
        text = f"tea {trial.text} tea"
        with trial.measured():
            turn = await door.before_turn(channel, trial.text, speaker="Ann")
            said = [spoken(f"{trial.text} {number}", number) for number in range(2)]
            await channel.after_turn(turn, [*said, spoken(text, 2)])
            await channel.before_compaction(deadline=600)
            await door.remember(channel, text)
            await door.search(channel, trial.text)
            await door.forget(channel, text)


SHORT_UNITS = ("1", "-", ".", "<a", '"a', " ", "，", "哈")


@pytest.mark.parametrize("unit", SHORT_UNITS)
def test_ten_times_the_text_takes_about_ten_times_as_long(
    unit: str, tmp_path: Path, count_trials: Callable[..., None]
) -> None:
    """A turn, a compaction, a search and a forget, with 800 and 8,000 characters."""
    root = tmp_path / "workspace"
    seconds_of(everything, root, "tea ", 100)
    growth = growth_of(everything, root, unit, SHORT, SHORT_FLOOR, SHORT_RATIO)
    count_trials()
    assert growth.ratio <= SHORT_RATIO, str(growth)


async def doctor(trial: Trial) -> None:
    """The text is MEMORY.md, HISTORY.md and log.jsonl of a channel."""
    for name in ("MEMORY.md", "HISTORY.md", "log.jsonl"):
        trial.file(f"channels/{CHANNEL}/{name}", trial.text)
    trial.command("doctor")


def test_doctor_takes_time_in_proportion_to_lines_of_junk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count_trials: Callable[..., None]
) -> None:
    """400 and 4,000 entries of random letters, of which no pair is rare."""
    dice = Random(1)
    junk = [
        f"- {' '.join(''.join(dice.choices('abcdefghij', k=5)) for _ in range(6))}\n"
        for _ in range(4_000)
    ]

    def lines_of_junk(_: str, count: int) -> str:
        return "".join(junk[:count])

    monkeypatch.setattr(sys.modules[__name__], "repeated", lines_of_junk)
    root = tmp_path / "workspace"
    fixed = seconds_of(doctor, root, "", 1)
    growth = growth_of(doctor, root, "", (400, 4_000), COMMAND_FLOOR, SHORT_RATIO, fixed)
    count_trials()
    assert growth.ratio <= SHORT_RATIO, str(growth)


@pytest.mark.parametrize("name", [*FUNCTIONS, *COMMANDS])
def test_no_text_takes_more_than_time_in_proportion(
    name: str, is_long: bool, tmp_path: Path, count_trials: Callable[..., None]
) -> None:
    """Each function with each unit, with 10,000 and 100,000 characters."""
    if not is_long:
        pytest.skip("the long form: pytest tests/promises --long")
    tried = {**FUNCTIONS, **COMMANDS}[name]
    root = tmp_path / "workspace"
    began = seconds_of(tried, root, "tea ", 100)
    # A process that starts for a command loads pipimem: that is no time for a text.
    floor, fixed = (COMMAND_FLOOR, began) if name in COMMANDS else (LONG_FLOOR, 0.0)
    slow = []
    for unit in UNITS:
        growth = growth_of(tried, root, unit, LONG, floor, LONG_RATIO, fixed)
        count_trials()
        if growth.ratio > LONG_RATIO:
            slow.append(f"{unit!r}: {growth}")
    assert not slow, "\n".join(slow)
