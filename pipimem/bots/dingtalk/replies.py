"""Who answers a message: a model, or without one what memory found for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, Self

from pipimem.notes.message import Message
from pipimem.resources import bot_texts
from pipimem.runtime.search_service import headed
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.pipimem import Pipimem
    from pipimem.runtime.turns import Turn


BotLanguage = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of one language, as `data/bots/<language>.toml` has them."""

    sentences: Mapping[str, str]
    # What stands for a message without words, by its kind.
    notes: Mapping[str, str]
    yes: frozenset[str]
    no: frozenset[str]

    @classmethod
    def of(cls, language: BotLanguage) -> Self:
        """The sentences of a language."""
        found = bot_texts(language)
        answers = {name: frozenset(text.split()) for name, text in found["answers"].items()}
        return cls(found["sentences"], found["notes"], answers["yes"], answers["no"])

    def __call__(self, name: str, **values: object) -> str:
        """The sentence of a name, with its values."""
        return self.sentences[name].format(**values)

    def says(self, text: str) -> bool | None:
        """Whether a text is a yes or a no; `None` where it is neither."""
        word = text.strip().strip("。.!！~～").casefold()
        if word in self.yes:
            return True
        return False if word in self.no else None


# Seconds a person waits for a reply before something is wrong.
REPLY_SECONDS = 120.0


class Replies(Protocol):
    """Answers turns: the workspace's model, memory alone, or a host's own model."""

    async def reply(self, turn: Turn, context: Sequence[Message], channel: Channel) -> str:
        """The answer to a turn, after `context`; raises `SidecarError` where there is none."""


@dataclass(frozen=True, slots=True)
class ModelReplies:
    """The workspace's model, through litellm; it counts as a call of the channel."""

    pipimem: Pipimem

    async def reply(self, turn: Turn, context: Sequence[Message], channel: Channel) -> str:
        """The model's answer to what memory shows, what was said, and the message."""
        prompt = f"{await channel.session_prompt()}\n{turn.standing}"
        # The folder's name holds the conversation's id, which is nobody's business.
        prompt = prompt.replace(f"{self.pipimem.store.folder_of(channel.id)}/", "")
        asked = _with_name(Message.user(turn.query, speaker=turn.speaker))
        if turn.recalled:
            asked = replace(asked, content=f"{turn.recalled}\n\n{asked.content}")
        messages = [Message("system", prompt), *map(_with_name, context), asked]
        return await self.pipimem.reply(messages, channel=channel.id, timeout=REPLY_SECONDS)


def _with_name(message: Message) -> Message:
    """What the model reads: in a group it must know who speaks."""
    if message.role != "user" or not message.speaker:
        return message
    return replace(message, content=f"{message.speaker}: {message.content}")


@dataclass(frozen=True, slots=True)
class OfflineReplies:
    """No model: the answer is what memory found."""

    wording: Wording

    async def reply(
        self,
        turn: Turn,
        context: Sequence[Message],  # noqa: ARG002 - the protocol's
        channel: Channel,  # noqa: ARG002 - the protocol's
    ) -> str:
        """The lines that memory would have shown to a model."""
        found = turn.recall
        entries = (*found.injected, *found.repeated) if found else ()
        said = found.excerpts if found else ()
        lines = [f"- {redacted(item.text)}" for item in entries]
        lines += [f"- {headed(item, redacted(item.text))}" for item in said]
        if lines:
            return self.wording("offline_found", lines="\n".join(lines))
        return self.wording("offline_noted" if turn.record else "offline_not_recorded")


def with_advice(reply: str, turn: Turn, wording: Wording) -> str:
    """The reply as it is sent: where somebody asks to forget something, with how that is done.

    A model may say that it forgot; nothing did. This is the bot's own word, so it is not stored.
    """
    return f"{reply}\n\n{wording('forget_how')}" if turn.requests else reply


def replies_of(pipimem: Pipimem, wording: Wording) -> Replies:
    """The model of the workspace where it has one."""
    return ModelReplies(pipimem) if pipimem.assistant.paid else OfflineReplies(wording)
