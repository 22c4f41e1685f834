"""`pipimem chat`: talk to a bot with memory in the terminal, in turns and in slash commands."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio
import click

from pipimem.cli.commands.forget import counts_line, preview_lines
from pipimem.cli.commands.status import show_channels
from pipimem.cli.commands.usage import cost_text
from pipimem.cli.options import NOTES, Chosen, channel, chosen, kind
from pipimem.cli.output import Failed, counted, note, one_line, say
from pipimem.cli.results import recalled_rows, receipt_lines, show_messages
from pipimem.cli.running import opened_runtime, run
from pipimem.clock import Clock
from pipimem.errors import PipimemError, SidecarError
from pipimem.notes.message import Message
from pipimem.runtime.channel import Channel
from pipimem.runtime.channel_status import channel_statuses
from pipimem.runtime.forgetting import Typed
from pipimem.runtime.pipimem import Pipimem
from pipimem.runtime.recall_preview import Item, Recall, headed
from pipimem.runtime.turns import Receipt, Turn, kept_messages
from pipimem.text.fence import NOTE_START
from pipimem.text.private import PrivateCounts
from pipimem.text.secrets import redacted

# Seconds a person waits for a reply before something is wrong.
_REPLY_SECONDS = 120.0
# Bytes of standard input that are read at once.
_CHUNK = 65_536
_ASKED = "nothing is forgotten by asking: /forget X takes out what holds the words X, for good"
_HELP = """\
/memory   the three files as they stand
/why      why the last message brought up what it did
/forget X remove a text or an entry's id for good
/status   how the channel stands: entries, messages, what waits to be consolidated
/usage    what models cost in this channel
/private  on: what follows is off the record and leaves no trace, until /private off
/new      end this session; the next message opens a new one
/compact  what a host does when the context is full: make all durable, then drop it
/quit     leave"""


@click.command("chat")
@channel
@kind
@click.option("--speaker", default="", help="Your name in the conversation.")
@chosen
def command(chosen: Chosen, channel: str, kind: Literal["dm", "group"], speaker: str) -> None:
    """Talk to a bot that has this memory.

    What memory puts before each message is shown. /help lists what else can be typed. CHANNEL is
    made if it is new. Without a model nothing replies; what memory found stands in its place.
    """
    problem = run(lambda: _chatted(chosen, channel, kind, speaker))
    if problem:
        raise Failed(problem)


async def _chatted(chosen: Chosen, name: str, kind: Literal["dm", "group"], speaker: str) -> str:
    """Talk until the end of the input.

    Returns why the last turn had no reply, empty if it had one.
    """
    async with opened_runtime(chosen, settings=chosen.settings(idle=True)) as pipimem:
        channel = await pipimem.channel(name, kind=kind)
        talk = Talk(pipimem, channel, chosen, speaker)
        note(f"{name} · {pipimem.assistant.name} · /help for more, /quit or Ctrl-D to end")
        async for line in typed("you> "):
            if not await talk.goes_on(line):
                break
        return talk.problem


@dataclass(slots=True)
class Talk:
    """A conversation with one channel; `problem` is why the last turn had no reply."""

    pipimem: Pipimem
    channel: Channel
    chosen: Chosen
    speaker: str = ""
    problem: str = ""
    _record: bool = True
    _context: list[Message] = field(default_factory=list)
    _last: Turn | None = None
    _to_forget: str = ""

    async def goes_on(self, line: str) -> bool:
        """Take one line, and return whether the conversation goes on after it.

        A command that fails ends nothing.
        """
        text = line.strip()
        if not self._to_forget and text == "/quit":
            return False
        if self._to_forget or text.startswith("/"):
            try:
                await self._obey(text)
            except PipimemError as error:
                note(str(error))
        elif text:
            await self._turn(line)
        return True

    async def _obey(self, text: str) -> None:
        """Do what a command says, or what was asked about one."""
        if self._to_forget:
            await self._forget(yes=text.casefold() in ("y", "yes", "是"))
        else:
            await self._command(*text.partition(" ")[::2])

    async def _turn(self, text: str) -> None:
        turn = await self.channel.before_turn(text, speaker=self.speaker, record=self._record)
        self._last, self.problem = turn, ""
        for line in hidden_lines(turn.private):
            note(line)
        for line in injected(turn):
            note(line)
        if turn.requests:
            note(_ASKED)
        said = [Message.user(text, speaker=self.speaker)]
        if not self.pipimem.assistant.paid:  # the offline rules cannot talk
            say(_without_model(turn))
        else:
            try:
                reply = await self._reply(turn)
                say(reply)
                said.append(Message.assistant(reply))
            except SidecarError as error:
                kept = "is in the transcript" if self._record else "was off the record"
                self.problem = f"no reply: {error} Your message {kept}."
                note(self.problem)
        await self.channel.after_turn(turn, said)
        keeps_context = self.channel.keeps_context
        self._context += kept_messages(turn, said, keeps_context=keeps_context)

    async def _reply(self, turn: Turn) -> str:
        prompt = f"{await self.channel.session_prompt()}\n{turn.standing}"
        asked = f"{turn.recalled}\n\n{turn.query}" if turn.recalled else turn.query
        messages = [Message("system", prompt), *self._context, Message.user(asked)]
        return await self.pipimem.reply(messages, channel=self.channel.id, timeout=_REPLY_SECONDS)

    async def _command(self, name: str, rest: str) -> None:
        match name:
            case "/memory":
                await self._memory()
            case "/why":
                self._why()
            case "/forget":
                await self._ask_to_forget(rest.strip())
            case "/status":
                self._status()
            case "/usage":
                await self._usage()
            case "/private":
                self._go_off_the_record(rest.strip().casefold())
            case "/new":
                self._drop(await self.channel.reset(deadline=_REPLY_SECONDS))
            case "/compact":
                await self._compact()
            case "/help":
                say(_HELP)
            case _:
                say(f"there is no {name}; there are\n{_HELP}")

    async def _memory(self) -> None:
        notes = self.channel.notes
        for file in NOTES.values():
            say(f"── {notes.path(file)} ──")
            say((await notes.text(file)).strip() or "(empty)")

    def _why(self) -> None:
        found = self._last.recall if self._last else None
        if found is None:
            say("nothing was recalled: nothing was said yet")
        elif not found.candidates and not found.excerpts:
            say(f"nothing was recalled: {found.reason}")
        else:
            for row in recalled_rows(found, explain=True):
                say("  ".join(filter(None, row)))
            show_messages(found.excerpts)

    def _status(self) -> None:
        for one in channel_statuses(self.chosen.store(), Clock().now()):
            if one.channel == self.channel.id:
                show_channels([one])

    async def _usage(self) -> None:
        total = await self.channel.usage()
        tokens = f"{total.tokens_in} tokens in, {total.tokens_out} out"
        say(f"{counted(total.calls, 'call')}, {tokens}, {cost_text(total)}")

    def _go_off_the_record(self, switch: str) -> None:
        if switch in ("on", "off"):
            self._record = switch == "off"
        elif switch:
            say("say /private on or /private off")
            return
        say("on the record" if self._record else "off the record: nothing is written")

    async def _compact(self) -> None:
        receipt = await self.channel.before_compaction(deadline=_REPLY_SECONDS)
        if receipt.may_compact:
            await self.channel.compacted(receipt)
        self._drop(receipt)

    async def _ask_to_forget(self, what: str) -> None:
        if not what:
            say("say what: /forget and a text or an entry's id")
            return
        for line in preview_lines(await self.channel.notes.preview_forget(Typed(what))):
            say(line)
        say("Forget this for good? [y/N]")
        self._to_forget = what

    async def _forget(self, *, yes: bool) -> None:
        what, self._to_forget = self._to_forget, ""
        if not yes:
            say("nothing was forgotten")
            return
        counts = await self.channel.notes.forget(Typed(what))
        # What the model was shown holds it, too.
        self._context.clear()
        say(counts_line(counts) if any(counts.values()) else "nothing held it")

    def _drop(self, receipt: Receipt) -> None:
        say("\n".join(receipt_lines(receipt)))
        if receipt.may_compact:
            self._context.clear()


def hidden_lines(counts: PrivateCounts) -> list[str]:
    """What was hidden of a message before it was stored, for eyes; mostly nothing."""
    if not counts.messages:
        return []
    stretches = counted(counts.stretches, "private stretch", "private stretches")
    sizes = f"{counts.chars_before} characters, {counts.chars_after} kept"
    lines = [f"{stretches} not written ({sizes})"]
    if counts.unclosed:
        lines.append("a private tag is never closed in this message")
    return lines


def injected(turn: Turn) -> list[str]:
    """What memory put before a message, one line an item, for eyes."""
    if turn.problem:
        return [f"memory is silent: {turn.problem}"]
    lines = []
    if turn.first and turn.standing:
        lines += ["memory puts behind the system prompt:", *_inside(turn.standing)]
    if turn.recalled:
        lines += ["memory puts before this message:", *_inside(turn.recalled)]
    elif turn.recall and turn.recall.repeated:
        lines += [f"already shown above: {' | '.join(_texts(turn.recall.repeated))}"]
    return lines


def _inside(blocks: str) -> list[str]:
    """What stands in blocks, for eyes: no tags, and of the notes none."""
    lines = [line for line in blocks.splitlines() if not line.startswith(("<", NOTE_START))]
    return [f"  {one_line(line, 100)}" for line in lines]


def _texts(items: Sequence[Item]) -> list[str]:
    return [one_line(redacted(item.text), 120) for item in items]


def _without_model(turn: Turn) -> str:
    """An honest reply where no model is configured: what memory found."""
    found = turn.recall or Recall()
    texts = _texts((*found.injected, *found.repeated))
    texts += [one_line(headed(item, redacted(item.text)), 120) for item in found.excerpts]
    if texts:
        what = f"Memory has: {' | '.join(texts)}"
    else:
        noted = "Noted in the transcript" if turn.record else "Off the record"
        general = "what memory holds in general stands above"
        what = f"{noted}; {general if turn.standing else 'memory has nothing to add'}."
    return f"(offline, no model replies) {what}"


async def typed(prompt: str = "") -> AsyncIterator[str]:
    """The lines of standard input without their ends.

    The prompt goes to standard error, on a terminal only.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # a stand-in without a descriptor, by a host or a test
        for line in sys.stdin:
            yield line.rstrip("\r\n")
        return
    shown = prompt if sys.stdin.isatty() else ""
    rest = b""
    while True:
        click.echo(shown, err=True, nl=False)
        data = await _read(descriptor)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield _decoded(line)
        if not data:
            break
    if rest:
        yield _decoded(rest)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


async def _read(descriptor: int) -> bytes:
    """What is there, as soon as something is; empty at the end.

    A thread would still hang in its read after Ctrl-C.
    """
    try:
        await anyio.wait_readable(descriptor)
    except (OSError, NotImplementedError):  # a file is always ready; Windows waits for sockets
        pass
    return os.read(descriptor, _CHUNK)
