"""One conversation: what arrives is stored at once, and answered one message after the other."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

from pipimem.bots.dingtalk.bot_context import BotContext
from pipimem.bots.dingtalk.commands import ChatCommands, Confirmation, OpenQuestion
from pipimem.bots.dingtalk.failures import log_failure
from pipimem.bots.dingtalk.incoming import Incoming, TakenBackMessage, command_in, message_of
from pipimem.bots.dingtalk.replies import REPLY_SECONDS, with_advice
from pipimem.errors import ChannelError, NothingFound, PipimemError, SidecarError, StoreError
from pipimem.notes.message import Message
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.transcript_recall import Visible
from pipimem.runtime.turns import kept_messages

# Where the disk refuses, a channel is opened again after so many seconds.
_TRY_AGAIN = (0.5, 1.0, 2.0, 4.0, 8.0)


async def channel_of(shared: BotContext, name: str, message: Incoming) -> Channel:
    """Opens a channel by its id, and makes it where it is new, as a message names it.

    Raises `StoreError` or `OSError` where the disk refuses for 15 s.
    """
    for pause in _TRY_AGAIN:
        try:
            return await _opened(shared, name, message)
        except (StoreError, OSError) as error:
            _log.error("the channel cannot be opened yet: %s", error)
        await asyncio.sleep(pause)
    return await _opened(shared, name, message)


async def _opened(shared: BotContext, name: str, message: Incoming) -> Channel:
    # Others must not wait while this one pauses.
    async with shared.storing:
        channel = await shared.pipimem.channel(name, kind=message.kind, title=message.title)
    upkeep_of(channel).turn_recall.in_threads = True  # others are owed an answer within 20 ms
    return channel


@dataclass(frozen=True, slots=True)
class Arrived:
    """What the platform delivered; `stored` is done when it is on the disk, or will not be."""

    what: Incoming | TakenBackMessage
    stored: asyncio.Future[bool]

    def end(self, *, is_stored: bool) -> None:
        """Say what became of it."""
        if not self.stored.done():
            self.stored.set_result(is_stored)


@dataclass(frozen=True, slots=True)
class Received:
    """A message on its way through a conversation; without `record` nothing of it is stored."""

    message: Incoming
    arrived: Arrived
    command: str = ""
    record: bool = True
    # What the bot asked and this message answers.
    answers: Confirmation | None = None


def end_all(received: Iterable[Received], *, is_stored: bool = True) -> None:
    """Say of messages what became of them; what was said first stands."""
    for one in received:
        one.arrived.end(is_stored=is_stored)


# About 8,000 tokens of Chinese: beyond it the context is made durable and dropped.
_MOST_CHARS = 12_000
# What is taken back comes within minutes.
_MOST_TAKEN_BACK = 100


@dataclass(slots=True)
class ModelContext:
    """Messages in the order they were said, each with whether it is stored."""

    _shown: list[tuple[Message, bool]] = field(default_factory=list, repr=False)
    _taken_back: deque[str] = field(
        default_factory=lambda: deque(maxlen=_MOST_TAKEN_BACK), repr=False
    )

    @property
    def messages(self) -> list[Message]:
        """All messages."""
        return [message for message, _ in self._shown]

    @property
    def stored(self) -> list[Message]:
        """Those that are not off the record."""
        return [message for message, is_stored in self._shown if is_stored]

    @property
    def is_full(self) -> bool:
        """Whether it is so long that it is to be made durable, and dropped."""
        return sum(len(message.content) for message in self.messages) >= _MOST_CHARS

    def add(self, said: Iterable[Message], *, is_stored: bool) -> None:
        """Show messages from now on, but for those that were taken back meanwhile."""
        self._shown += [(each, is_stored) for each in said if each.id not in self._taken_back]

    def take_back(self, name: str) -> None:
        """Show the message of an id no more, also where it is added later."""
        self._taken_back.append(name)
        self._shown = [pair for pair in self._shown if pair[0].id != name]

    def clear(self) -> None:
        """Drop all messages."""
        self._shown.clear()


# Commands after which a conversation may be off the record, or on it again.
_SWITCHES = ("/private", "/confirm")

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(slots=True)
class Conversation:
    """The talk of one channel, and its memory."""

    shared: BotContext
    id: str
    channel: Channel | None = None
    context: ModelContext = field(default_factory=ModelContext, repr=False)
    question: OpenQuestion = field(init=False)
    _arrived: deque[Arrived] = field(default_factory=deque, repr=False)
    _waiting: deque[Received] = field(default_factory=deque, repr=False)
    _is_storing: bool = False
    _is_answering: bool = False

    def __post_init__(self) -> None:
        self.question = OpenQuestion(self.shared)

    def receive(self, what: Incoming | TakenBackMessage) -> asyncio.Future[bool]:
        """Take what the platform delivered; it is stored and answered beside.

        The result says, when that is known, whether it is stored, or need not be.
        """
        arrived = Arrived(what, asyncio.get_running_loop().create_future())
        self._arrived.append(arrived)
        if not self._is_storing:
            self._is_storing = True
            self.shared.spawn(self._store_arrived())
        return arrived.stored

    # ── storing ───────────────────────────────────────────────────────────────────────────────────

    async def _store_arrived(self) -> None:
        """Store what arrived, as much at once as there is; it does not wait for answers."""
        try:
            while self._arrived:
                with log_failure("messages were not stored"):
                    await self._store_next()
                if self._waiting and not self._is_answering:
                    self._is_answering = True
                    self.shared.spawn(self._answer_waiting())
        finally:
            self._is_storing = False

    async def _store_next(self) -> None:
        first = self._arrived[0]
        if isinstance(first.what, TakenBackMessage):
            self._arrived.popleft()
            first.end(is_stored=await self._take_back(first.what.id))
            return
        received = self._next_received()
        with ExitStack() as on_failure:
            on_failure.callback(end_all, received, is_stored=False)
            self._waiting.extend(await self._stored(received))
            on_failure.pop_all()

    def _next_received(self) -> list[Received]:
        """All messages that arrived, up to one that was taken back."""
        received: list[Received] = []
        while self._arrived and isinstance(self._arrived[0].what, Incoming):
            received.append(self._classified(self._arrived.popleft()))
            if received[-1].command in _SWITCHES:
                # What follows is stored or not by what it says.
                break
        return received

    def _classified(self, arrived: Arrived) -> Received:
        message = arrived.what
        assert isinstance(message, Incoming)
        command = command_in(message.text) if message.addressed else ""
        record = self.id not in self.shared.state.private
        answers = self.question.answered_by(message)
        is_recorded = record and not command and answers is None
        return Received(message, arrived, command, is_recorded, answers)

    async def _stored(self, received: list[Received]) -> list[Received]:
        """Those that were not delivered before, with the others stored."""
        channel = await self._opened(received[0].message)
        for one in received:
            await self._note_state(channel, one)
        recorded = [one.message for one in received if one.record]
        try:
            written = await self._written(channel, recorded)
        except (PipimemError, OSError) as error:
            _log.error("%d messages are not stored yet: %s", len(recorded), error)
            end_all(one for one in received if not one.record)
            return received  # `after_turn` and the gate try again
        end_all(received)
        return [one for one in received if not one.record or one.message.id in written]

    async def _written(self, channel: Channel, received: list[Incoming]) -> set[str]:
        """Write messages; returns the ids of those that were not there before."""
        messages = [self._message(message) for message in received]
        async with self.shared.storing:
            return {message.id for message in await channel.talk.append(messages)}

    async def _note_state(self, channel: Channel, one: Received) -> None:
        """Keep what stays known of a message: off the record or on it, and whose name it is."""
        if one.command in _SWITCHES:
            await ChatCommands(self.shared, channel).switch(one.message, one.answers)
        elif one.record:
            await self.shared.state.learnt(one.message.speaker, one.message.sender)

    async def _opened(self, message: Incoming) -> Channel:
        if self.channel is None:
            self.channel = await channel_of(self.shared, self.id, message)
        return self.channel

    def _message(self, message: Incoming) -> Message:
        return message_of(message, self.shared.pipimem.clock.now())

    async def _take_back(self, name: str) -> bool:
        """A person took a message back: it goes from the log, and from what the model is shown.

        Whether that is done: where the disk refuses, DingTalk tells of it again.
        """
        self._waiting = deque(one for one in self._waiting if one.message.id != name)
        self.context.take_back(name)
        if self.channel is None:
            try:
                self.channel = await self.shared.pipimem.channel(self.id, create=False)
            except ChannelError:
                return True  # nothing was ever said there
            except (PipimemError, OSError) as error:
                _log.error("a message that was taken back is not emptied: %s", error)
                return False
        try:
            await self.channel.talk.retract(name)
        except NothingFound:
            pass  # it was off the record, or a command
        except (PipimemError, OSError) as error:
            _log.error("a message that was taken back is not emptied: %s", error)
            return False
        return True

    # ── answering ─────────────────────────────────────────────────────────────────────────────────

    async def _answer_waiting(self) -> None:
        try:
            while self._waiting:
                one = self._waiting.popleft()
                with log_failure("a message was not answered"):
                    await self._handle(one)
                # Delivered again, what no attempt could store is new.
                end_all([one], is_stored=False)
        finally:
            self._is_answering = False

    async def _handle(self, one: Received) -> None:
        assert self.channel is not None
        if one.command or one.answers:
            commands = ChatCommands(self.shared, self.channel)
            done = await commands.run(one.message, one.command, one.answers)
            if done.asks:
                self.question.asked = done.asks
            if done.drops_context:
                self.context.clear()
        elif one.message.addressed:
            await self._turn(one)
        else:
            await self._listen(one)
        await self._keep_small()

    async def _listen(self, one: Received) -> None:
        """A message for others: the model is shown it next time, and idle work learns from it."""
        assert self.channel is not None
        message = self._message(one.message)
        self.context.add([message], is_stored=one.record)
        if one.record:
            async with self.shared.turns:
                await self.channel.after_turn(None, [message])
            end_all([one])

    async def _turn(self, one: Received) -> None:
        shared, channel, message = self.shared, self.channel, one.message
        assert channel is not None
        async with shared.turns:
            turn = await channel.before_turn(
                message.text,
                speaker=message.speaker,
                visible=self._visible(one),
                record=one.record,
            )
        started = await shared.delivery.start(message)
        said = [self._message(message)]
        try:
            reply = await shared.replies.reply(turn, self.context.messages, channel)
            is_answer = True
        except SidecarError as error:
            _log.warning("no reply: %s", error)
            reply, is_answer = shared.wording("no_reply"), False
        shown = with_advice(reply, turn, shared.wording)
        # What did not arrive was not said.
        if await started.finish(shown, is_error=not is_answer) and is_answer:
            said.append(Message.assistant(reply))
        # First: where the disk refuses, the gate tries again with what the model is shown.
        keeps_context = channel.keeps_context
        kept = kept_messages(turn, said, keeps_context=keeps_context)
        self.context.add(kept, is_stored=one.record)
        async with shared.turns:
            await channel.after_turn(turn, said)
        end_all([one])

    def _visible(self, one: Received) -> Visible | str:
        """The oldest stored message that the model sees, if any."""
        ids = [message.id for message in self.context.stored if message.id]
        if one.record:
            ids.append(one.message.id)
        return ids[0] if ids else Visible.NOTHING

    async def _keep_small(self) -> None:
        """Make a long context durable, and drop it."""
        assert self.channel is not None
        if not self.context.is_full:
            return
        receipt = await self.channel.before_compaction(self.context.stored, deadline=REPLY_SECONDS)
        if receipt.may_compact:
            await self.channel.compacted(receipt)
            self.context.clear()
        else:
            _log.warning("the context is kept: %s", receipt.reason)
