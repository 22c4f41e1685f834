"""The slash commands of a conversation."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from anyio import to_thread

from pipimem.bots.dingtalk.api import DingTalkRefusal
from pipimem.bots.dingtalk.bot_context import BotContext
from pipimem.bots.dingtalk.delivery import new_card
from pipimem.bots.dingtalk.incoming import Incoming, argument_in, command_in
from pipimem.bots.dingtalk.replies import REPLY_SECONDS
from pipimem.errors import NothingFound, PipimemError
from pipimem.notes.kinds import NOTE_FILES
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.forget_preview import Forgettable, forgettable, speakers_of
from pipimem.runtime.forgetting import Typed, forget_targets
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the bot asked a person to confirm, and what they said to it in their next message.

    `what` is a text to forget, or empty for going on the record again. With `by_another` somebody
    else is to agree, before `ends`, in seconds of the clock's monotonic scale.
    """

    what: str
    sender: str
    by_another: bool = False
    ends: float = inf
    is_agreed: bool = False


@dataclass(slots=True)
class OpenQuestion:
    """The newest question of one conversation; an older one is over."""

    shared: BotContext
    asked: Confirmation | None = None

    def answered_by(self, message: Incoming) -> Confirmation | None:
        """The question with its answer, if this message says yes or no to it."""
        asked = self._in_time()
        if asked is None or not message.addressed:
            return None
        if asked.by_another and command_in(message.text) == "/confirm":
            return self._confirmed_by(message, asked)
        # Two whom the platform does not name are not one person.
        if not asked.sender or message.sender != asked.sender:
            return None
        says = self.shared.wording.says(message.text)
        if asked.by_another and says is not False:
            return None
        self.asked = None
        return replace(asked, is_agreed=says) if says is not None else None

    def _in_time(self) -> Confirmation | None:
        """The question, unless it is over."""
        if self.asked and self.shared.pipimem.clock.monotonic() > self.asked.ends:
            self.asked = None
        return self.asked

    def _confirmed_by(self, message: Incoming, asked: Confirmation) -> Confirmation | None:
        permissions = self.shared.permissions
        if not permissions.may_confirm(message.sender, message.ids, asked.sender):
            return None
        self.asked = None
        return replace(asked, is_agreed=True)


# What one answer shows of a file, and of what would be forgotten.
_MOST_CHARS = 3_000
_MOST_LINES = 20
_LINE_CHARS = 200
# What somebody else is to agree to is over after ten minutes: nobody remembers what it was.
CONFIRM_SECONDS = 600.0

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What a command leaves: what the bot asks to confirm, and whether its context is over."""

    asks: Confirmation | None = None
    drops_context: bool = False


_NOTHING = CommandOutcome()


@dataclass(frozen=True, slots=True)
class ChatCommands:
    """The commands of one channel."""

    shared: BotContext
    channel: Channel

    async def run(
        self, message: Incoming, command: str, answers: Confirmation | None
    ) -> CommandOutcome:
        """Do what a command says, or what was answered about one, and say what came of it."""
        try:
            if answers is not None:
                text, done = await self._answered(message, answers)
            else:
                text, done = await self._command(message, command)
        except NothingFound:
            text = self._say("forget_nothing", what=argument_in(message.text))
            done = _NOTHING
        except (PipimemError, OSError) as error:
            _log.error("%s failed: %s", command or "/forget", error)
            text = self._say("failed")
            done = _NOTHING
        if text and not await self.shared.delivery.say(message, text):
            # Nobody saw what would be forgotten.
            return replace(done, asks=None)
        return done

    async def switch(self, message: Incoming, answers: Confirmation | None) -> None:
        """Stop or go on recording, where that is asked for; before what follows is stored."""
        wanted = self._wanted(message, answers)
        if wanted not in ("on", "off"):
            return
        set_private, name = self.shared.state.set_private, self.channel.id
        switch = partial(set_private, name, on=wanted == "on", sender=message.sender)
        try:
            await to_thread.run_sync(switch)
        except OSError as error:
            _log.error("/private %s failed: %s", wanted, error)

    def _wanted(self, message: Incoming, answers: Confirmation | None) -> str:
        """What a command makes of the recording: `on`, `off`, or nothing."""
        if command_in(message.text) == "/confirm":
            return "off" if answers and answers.is_agreed and not answers.what else ""
        wanted = argument_in(message.text).casefold()
        return "" if wanted == "off" and not self._may_record_again(message) else wanted

    def _may_record_again(self, message: Incoming) -> bool:
        permissions = self.shared.permissions
        return permissions.may_record_again(
            message.kind, self.channel.id, message.sender, message.ids
        )

    async def _command(self, message: Incoming, command: str) -> tuple[str, CommandOutcome]:
        rest = argument_in(message.text)
        match command:
            case "/memory":
                return await self._memory(), _NOTHING
            case "/review":
                return await self._review(message), _NOTHING
            case "/forget":
                return await self._ask_to_forget(rest, message)
            case "/confirm":
                return self._say("confirm_nothing"), _NOTHING
            case "/private":
                return self._private(rest.casefold(), message)
            case "/new":
                return await self._new()
            case "/usage":
                return await self._usage(), _NOTHING
        return self._say("help"), _NOTHING

    async def _memory(self) -> str:
        notes = await upkeep_of(self.channel).notes()
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
        started = await self.shared.cards.started(self.channel)
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

    async def _ask_to_forget(self, what: str, asks: Incoming) -> tuple[str, CommandOutcome]:
        """The list of what would go, with the question."""
        if not what:
            return self._say("forget_what"), _NOTHING

        forgettable, names = await self._meant(what)
        if not forgettable:
            return self._say("forget_nothing", what=what), _NOTHING
        lines = "\n".join(self._lines(forgettable))
        if self._may_alone(asks, names):
            asked = Confirmation(what, asks.sender)
            return self._say("forget_list", lines=lines), CommandOutcome(asked)
        text = self._say("forget_list_of_others", lines=lines, confirm=self._confirm())
        return text, CommandOutcome(self._by_another(what, asks))

    async def _meant(self, what: str) -> tuple[Forgettable, Set[str]]:
        """What would go, and on whose words it rests. Raises `NothingFound`."""

        store = upkeep_of(self.channel).store

        def found() -> tuple[Forgettable, Set[str]]:
            meant = forgettable(store, forget_targets(store, Typed(what)))[0]
            return meant, speakers_of(store, meant)

        return await to_thread.run_sync(found)

    def _may_alone(self, asks: Incoming, names: Set[str]) -> bool:
        return self.shared.permissions.may_alone(asks.kind, asks.sender, asks.ids, names)

    def _confirm(self) -> str:
        """Who may agree, and how."""
        return self._say(f"confirm_by_{self.shared.permissions.settings.confirmed_by}")

    def _by_another(self, what: str, asks: Incoming) -> Confirmation:
        ends = self.shared.pipimem.clock.monotonic() + CONFIRM_SECONDS
        return Confirmation(what, asks.sender, by_another=True, ends=ends)

    def _lines(self, found: Forgettable) -> Iterator[str]:
        lines = [
            self._say("forget_entry", file=one.file, section=one.section, text=_line(one.text))
            for one in found.entries
        ]
        lines += [self._say("forget_message", text=_line(one.content)) for one in found.messages]
        names = sorted({one.speaker for one in found.named})
        lines += [self._say("forget_name", speaker=_line(name)) for name in names]
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield self._say("forget_more", count=len(lines) - _MOST_LINES)

    async def _answered(self, message: Incoming, asked: Confirmation) -> tuple[str, CommandOutcome]:
        """What comes of an answer to the bot's question."""
        if not asked.is_agreed:
            return self._say("forget_kept" if asked.what else "not_recording_still"), _NOTHING
        if not asked.what:
            return self._private("off", message)
        if not asked.by_another:
            _, names = await self._meant(asked.what)
            if not self._may_alone(message, names):  # somebody has said the same meanwhile
                return await self._ask_to_forget(asked.what, message)
        return await self._forget(asked)

    async def _forget(self, asked: Confirmation) -> tuple[str, CommandOutcome]:
        counts = await self.channel.notes.forget(Typed(asked.what))
        entries = counts.get("entries", 0) + counts.get("archive", 0)
        text = self._say("forgotten", entries=entries, messages=counts.get("messages", 0))
        # What the model was shown holds it, too.
        return text, CommandOutcome(drops_context=True)

    def _private(self, wanted: str, asks: Incoming) -> tuple[str, CommandOutcome]:
        is_private = self.channel.id in self.shared.state.private
        if wanted in ("on", "off"):
            if is_private == (wanted == "on"):
                return self._say(f"private_{wanted}"), _NOTHING
            if wanted == "on" or self._may_record_again(asks):
                return self._say("failed"), _NOTHING
            text = self._say("private_off_of_others", confirm=self._confirm())
            return text, CommandOutcome(self._by_another("", asks))
        state = self._say("not_recording" if is_private else "recording")
        return self._say("private_which", state=state), _NOTHING

    async def _new(self) -> tuple[str, CommandOutcome]:
        receipt = await self.channel.reset(deadline=REPLY_SECONDS)
        if not receipt.may_compact:
            return self._say("new_waits"), _NOTHING
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
