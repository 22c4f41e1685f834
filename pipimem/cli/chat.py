"""`pipimem chat`: talk to a bot with memory in the terminal, in turns and commands that begin with a slash."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Literal

import click
from anyio import to_thread

from pipimem.cli.candidates import candidate_rows
from pipimem.cli.consolidate import receipt_lines
from pipimem.cli.forget import forgettable, lines_of, told
from pipimem.cli.options import NOTES, Chosen, channel, chosen, kind, run
from pipimem.cli.printing import Failed, counted, note, one_line, say
from pipimem.cli.typed import typed
from pipimem.cli.usage import cost_told, summed
from pipimem.clock import Clock
from pipimem.errors import PipimemError, SidecarError
from pipimem.notes.message import Message
from pipimem.runtime.channel import Channel
from pipimem.runtime.turns import Receipt, Turn
from pipimem.sidecar.contracts import Assistant, Call
from pipimem.store.workspace import WorkspaceStore

# Seconds a person waits for a reply before something is wrong.
_PATIENCE = 120.0
_HELP = """\
/memory   the three files as they stand
/why      why the last message brought up what it did
/forget X remove a text or an entry's id for good
/usage    what models cost in this channel
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

    What memory puts before each message is shown. /help lists what else can be typed. CHANNEL is made if it is new.
    Without a model nothing replies; what memory found stands in its place.
    """
    if problem := run(lambda: _chatted(chosen, channel, kind, speaker)):
        raise Failed(problem)


async def _chatted(chosen: Chosen, name: str, kind: Literal["dm", "group"], speaker: str) -> str:
    """Talk until the end of the input; gives why the last turn had no reply, empty if it had one."""
    async with chosen.opened(settings=chosen.settings(idle=True)) as pipimem:
        channel = await pipimem.channel(name, kind=kind)
        # The embedded rules cannot talk.
        replying = pipimem.assistant if pipimem.assistant.paid else None
        talk = Talk(channel, replying, pipimem.store, speaker)
        note(f"{name} · {pipimem.assistant.name} · /help for more, /quit or Ctrl-D to end")
        async for line in typed("you> "):
            if not await talk.goes_on(line):
                break
        return talk.problem


@dataclass(slots=True)
class Talk:
    """A conversation with one channel; `problem` is why the last turn had no reply."""

    channel: Channel
    replying: Assistant | None
    workspace: WorkspaceStore
    speaker: str = ""
    problem: str = ""
    _context: list[Message] = field(default_factory=list)
    _last: Turn | None = None
    _asked: str = ""

    async def goes_on(self, line: str) -> bool:
        """Take one line; whether the conversation goes on after it. A failure is told and ends nothing."""
        text = line.strip()
        if self._asked:
            await self._forget(yes=text.casefold() in ("y", "yes", "是"))
        elif text == "/quit":
            return False
        elif text.startswith("/"):
            try:
                await self._command(*text.partition(" ")[::2])
            except PipimemError as error:
                note(str(error))
        elif text:
            await self._turn(line)
        return True

    async def _turn(self, text: str) -> None:
        turn = await self.channel.before_turn(text, speaker=self.speaker)
        self._last, self.problem = turn, ""
        lines = injected(turn)
        if turn.context:
            note("memory puts before this message:")
        for line in lines:
            note(line)
        said = [Message.user(text, speaker=self.speaker)]
        try:
            reply = await self._reply(turn)
        except SidecarError as error:
            self.problem = f"no reply: {error} Your message is in the transcript."
            note(self.problem)
        else:
            say(reply)
            if self.replying:
                said.append(Message.assistant(reply))
        await self.channel.after_turn(turn, said)
        self._context += said

    async def _reply(self, turn: Turn) -> str:
        if self.replying is None:
            return _without_model(turn)
        from pipimem.sidecar.assistant import (
            ModelAssistant,
        )  # the models' room: only where a model replies

        assert isinstance(self.replying, ModelAssistant)
        prompt = Message("system", await self.channel.session_prompt())
        asked = Message.user(f"{turn.context}\n\n{turn.query}" if turn.context else turn.query)
        call = Call(self.channel.id, secrets.token_hex(6), _PATIENCE)
        return await self.replying.chat([prompt, *self._context, asked], call)

    async def _command(self, name: str, rest: str) -> None:
        match name:
            case "/memory":
                await self._memory()
            case "/why":
                self._why()
            case "/forget" if rest.strip():
                await self._ask_to_forget(rest.strip())
            case "/usage":
                usages = [one for one in self.workspace.usages() if one.channel == self.channel.id]
                total = summed(usages)
                tokens = f"{total.tokens_in} tokens in, {total.tokens_out} out"
                say(f"{counted(total.calls, 'call')}, {tokens}, {cost_told(total)}")
            case "/new":
                self._drop(await self.channel.reset(deadline=_PATIENCE))
            case "/compact":
                receipt = await self.channel.before_compaction(deadline=_PATIENCE)
                if receipt.may_compact:
                    await self.channel.compacted(receipt)
                self._drop(receipt)
            case "/help":
                say(_HELP)
            case "/forget":
                say("say what: /forget and a text or an entry's id")
            case _:
                say(f"there is no {name}; there are\n{_HELP}")

    async def _memory(self) -> None:
        notes = await self.channel.notes()
        for file in NOTES.values():
            say(f"── {self.channel.store.folder / file} ──")
            say(notes.note(file).text.strip() or "(empty)")

    def _why(self) -> None:
        found = self._last.recall if self._last else None
        if found is None or not found.candidates:
            say(f"nothing was recalled: {found.reason if found else 'nothing was said yet'}")
            return
        for row in candidate_rows(
            found.candidates, {item.id for item in found.injected}, explain=True
        ):
            say("  ".join(cell for cell in row if cell))

    async def _ask_to_forget(self, what: str) -> None:
        found = await to_thread.run_sync(
            lambda: forgettable(self.channel.store, what, keep_transcript=False)
        )
        for line in lines_of(found):
            say(line)
        say("Forget this for good? [y/N]")
        self._asked = what

    async def _forget(self, *, yes: bool) -> None:
        what, self._asked = self._asked, ""
        if not yes:
            say("nothing was forgotten")
            return
        now = Clock().now()
        receipt = await to_thread.run_sync(
            lambda: self.channel.store.forget(what, keep_transcript=False, now=now, actor="person")
        )
        # What the model was shown holds it, too.
        self._context.clear()
        say("nothing held it" if receipt.is_empty else told(receipt.counts))

    def _drop(self, receipt: Receipt) -> None:
        say("\n".join(receipt_lines(receipt)))
        if receipt.may_compact:
            self._context.clear()


def injected(turn: Turn) -> list[str]:
    """What memory put before a message, one line an item, for eyes."""
    if turn.problem:
        return [f"memory is silent: {turn.problem}"]
    # Between the fence's tags stands one JSON object a line; the first is its own note.
    rows = [json.loads(line) for line in turn.context.splitlines()[2:-1]]
    return [f"  {row['id']} · {row['section']}: {one_line(row['text'], 100)}" for row in rows]


def _without_model(turn: Turn) -> str:
    """An honest reply where no model is configured: what memory found."""
    items = turn.recall.injected if turn.recall else ()
    if not items:
        return "(offline, no model replies) Noted in the transcript; memory has nothing to add."
    return "(offline, no model replies) Memory has: " + " | ".join(
        one_line(item.text, 120) for item in items
    )
