"""The slash commands of a conversation."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anyio import to_thread

from pipimem.bots.dingtalk.api import DingTalkRefusal
from pipimem.bots.dingtalk.delivery import new_card
from pipimem.bots.dingtalk.incoming import Incoming
from pipimem.bots.dingtalk.replies import REPLY_SECONDS
from pipimem.bots.dingtalk.review_card import ReviewCards
from pipimem.errors import NothingFound, PipimemError
from pipimem.notes.files import NOTE_FILES
from pipimem.runtime.forget_preview import Forgettable
from pipimem.runtime.on_disk import ChannelOnDisk
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.bots.dingtalk.conversation import Surroundings
    from pipimem.runtime.open_channel import OpenChannel

_NAMES = ("/help", "/memory", "/review", "/forget", "/private", "/new", "/usage")
_COMMAND = re.compile(r"[/／]([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
# What one answer shows of a file, and of what would be forgotten.
_MOST_CHARS = 3_000
_MOST_LINES = 20
_LINE_CHARS = 200

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(frozen=True, slots=True)
class Pending:
    """What the bot asked a person, and what they said to it in their next message."""

    what: str
    sender: str
    is_agreed: bool = False


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What a command leaves: what the bot asks next, and whether its context is over."""

    pending: Pending | None = None
    drops_context: bool = False


def command_in(text: str) -> str:
    """The command that a text calls, empty for none; another word behind a slash is talk."""
    found = _COMMAND.fullmatch(text.strip())
    name = f"/{found[1].casefold()}" if found else ""
    return name if name in _NAMES else ""


def argument_in(text: str) -> str:
    """What stands behind a command."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[2] or "").strip() if found else ""


@dataclass(frozen=True, slots=True)
class ChatCommands:
    """The commands of one channel."""

    shared: Surroundings
    channel: OpenChannel

    async def run(self, message: Incoming, command: str, answers: Pending | None) -> CommandOutcome:
        """Do what a command says, or what was answered about one, and say what came of it."""
        try:
            if answers is not None:
                text, done = await self._forget(answers)
            else:
                text, done = await self._command(message, command)
        except NothingFound:
            text, done = (
                self._say("forget_nothing", what=argument_in(message.text)),
                CommandOutcome(),
            )
        except (PipimemError, OSError) as error:
            _log.error("%s failed: %s", command or "/forget", error)
            text = self._say("failed")
            done = CommandOutcome()
        if text and not await self.shared.delivery.say(message, text):
            # Nobody saw what would be forgotten.
            return replace(done, pending=None)
        return done

    async def switch(self, message: Incoming) -> None:
        """Stop or go on recording, where the command says which; before what follows is stored."""
        wanted = argument_in(message.text).casefold()
        if wanted not in ("on", "off"):
            return
        state, name = self.shared.state, self.channel.id
        try:
            await to_thread.run_sync(lambda: state.set_private(name, on=wanted == "on"))
        except OSError as error:
            _log.error("/private %s failed: %s", wanted, error)

    async def _command(self, message: Incoming, command: str) -> tuple[str, CommandOutcome]:
        rest = argument_in(message.text)
        match command:
            case "/memory":
                return await self._memory(), CommandOutcome()
            case "/review":
                return await self._review(message), CommandOutcome()
            case "/forget":
                return await self._ask_to_forget(rest, message.sender)
            case "/private":
                return self._private(rest.casefold()), CommandOutcome()
            case "/new":
                return await self._new()
            case "/usage":
                return await self._usage(), CommandOutcome()
        return self._say("help"), CommandOutcome()

    async def _memory(self) -> str:
        notes = await self.channel.notes()
        parts = []
        for file in NOTE_FILES:
            text = redacted(notes.note(file).text.strip()) or self._say("memory_empty")
            parts.append(self._say("memory_file", file=file, text=self._cut(text)))
        return "\n\n".join(parts)

    def _cut(self, text: str) -> str:
        left = len(text) - _MOST_CHARS
        return f"{text[:_MOST_CHARS]}{self._say('cut', count=left)}" if left > 0 else text

    async def _review(self, message: Incoming) -> str:
        """Send the review card; the answer is why there is none."""
        if not self.shared.review_template:
            return self._say("review_no_card")
        cards = ReviewCards(self.shared.pipimem, self.shared.state, self.shared.wording)
        started = await cards.started(self.channel)
        if started is None:
            return self._say("review_none")
        card, values = started
        name, template = new_card(), self.shared.review_template
        # Before it is sent: a button may be pressed at once.
        await to_thread.run_sync(self.shared.state.set_card, name, card)
        try:
            await self.shared.delivery.send_card(name, message, template, values)
        except DingTalkRefusal as error:
            _log.error("the review card was not sent: %s", error)
            return self._say("failed")
        return ""

    async def _ask_to_forget(self, what: str, sender: str) -> tuple[str, CommandOutcome]:
        """The list of what would go, with the question."""
        if not what:
            return self._say("forget_what"), CommandOutcome()

        def found() -> Forgettable:
            here = ChannelOnDisk(self.channel.store)
            return here.forgettable(here.forget_targets(what))[0]

        forgettable = await to_thread.run_sync(found)
        if not forgettable:
            return self._say("forget_nothing", what=what), CommandOutcome()
        lines = "\n".join(self._lines(forgettable))
        return self._say("forget_list", lines=lines), CommandOutcome(Pending(what, sender))

    def _lines(self, found: Forgettable) -> Iterator[str]:
        lines = [
            self._say("forget_entry", file=one.file, section=one.section, text=_line(one.text))
            for one in found.entries
        ]
        lines += [self._say("forget_message", text=_line(one.content)) for one in found.messages]
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield self._say("forget_more", count=len(lines) - _MOST_LINES)

    async def _forget(self, pending: Pending) -> tuple[str, CommandOutcome]:
        if not pending.is_agreed:
            return self._say("forget_kept"), CommandOutcome()
        counts = await self.channel.forget(pending.what)
        entries = counts.get("entries", 0) + counts.get("archive", 0)
        text = self._say("forgotten", entries=entries, messages=counts.get("messages", 0))
        # What the model was shown holds it, too.
        return text, CommandOutcome(drops_context=True)

    def _private(self, wanted: str) -> str:
        is_private = self.channel.id in self.shared.state.private
        if wanted in ("on", "off"):
            return self._say(f"private_{wanted}" if is_private == (wanted == "on") else "failed")
        state = self._say("not_recording" if is_private else "recording")
        return self._say("private_which", state=state)

    async def _new(self) -> tuple[str, CommandOutcome]:
        receipt = await self.channel.reset(deadline=REPLY_SECONDS)
        if not receipt.may_compact:
            return self._say("new_waits"), CommandOutcome()
        name = "new" if receipt.state == "consolidated" else "new_later"
        return self._say(name), CommandOutcome(drops_context=True)

    async def _usage(self) -> str:
        total = await self.channel.usage()
        known = total.cost is not None
        cost = self._say("cost", cost=total.cost) if known else self._say("cost_unknown")
        return self._say(
            "usage",
            calls=total.calls,
            tokens_in=total.tokens_in,
            tokens_out=total.tokens_out,
            cost=cost,
        )

    def _say(self, name: str, **values: object) -> str:
        return self.shared.wording(name, **values)


def _line(text: str) -> str:
    """A text on one line, without secrets, cut short."""
    return " ".join(redacted(text).split())[:_LINE_CHARS]
