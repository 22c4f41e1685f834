"""The window: what of the transcript a model call sees, cleaned and cut to size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from pipimem.memory.requests import without_requests
from pipimem.memory.trust import JudgedTalk, channel_talk, is_group
from pipimem.notes.message import Message
from pipimem.sidecar.tasks import is_exchange
from pipimem.text.fence import unfenced, without_untagged_blocks
from pipimem.text.talk.asking import off_the_record

# Beyond this a model loses the middle; longer windows go in slices.
SLICE_CHARS = 28_000
# One message may not fill a slice; what a person pasted beyond this is in the transcript.
_MESSAGE_CHARS = 4_000
# Somebody asks so many messages behind, at most, not to note what was said.
_AROUND = 6
# Of a tool's output the head says what it did and the tail how it ended.
_TOOL_HEAD, _TOOL_TAIL = 300, 300
# Lines of tool output that say nothing to remember: progress bars, separators, bare numbers,
# time-stamped debug lines.
_NOISE = re.compile(
    r"^\s*+(?:[\W\d_]*|.*\b\d{1,3}%.*"
    r"|(?:\[?\d[\d:.,TZ /+-]{7,}(?:\]\s*|[^\S ]\s*)?)?(?:DEBUG|TRACE|INFO)\b.*)$"
)
_COMMAND = re.compile(
    r"^\s*[/!](?:memory|why|forget|usage|new|compact|remember|recall|search)\b", re.IGNORECASE
)
# Tools of our own: their output is memory already.
_OWN_TOOL = re.compile(r"^(?:pipimem|memory|recall|remember|forget)[\w.:-]*$", re.IGNORECASE)


class Window(Struct, frozen=True):
    """Cleaned messages for a model call, and their numbers in the transcript, `first` to `last`.

    `before` are the last messages in front of it, which a window before it had. `is_dm` says that
    the channel is of the kind `dm`, `needs_second_voice` that no member of a group alone sets a
    rule.
    """

    messages: tuple[Message, ...]
    first: int
    last: int
    before: tuple[Message, ...] = ()
    is_dm: bool = False
    needs_second_voice: bool = False

    @property
    def by_id(self) -> dict[str, Message]:
        """The messages by id, those of `before` first."""
        return {message.id: message for message in (*self.before, *self.messages)}

    @property
    def exchanged(self) -> bool:
        """Whether somebody said something and was answered, or two people spoke."""
        return is_exchange(self.messages)

    def is_direct(self, known: Iterable[str]) -> bool:
        """Return whether one person speaks with the bot; `known` are people who spoke before."""
        return self.is_dm and not is_group(self.by_id.values(), known)

    def talk(self, known: Iterable[str]) -> JudgedTalk:
        """Return what of its messages may be learnt; `known` are people who spoke before."""
        known = tuple(known)
        return channel_talk(
            tuple(self.by_id.values()),
            known,
            is_direct=self.is_direct(known),
            needs_second_voice=self.needs_second_voice,
        )

    @property
    def participants(self) -> tuple[str, ...]:
        """Who of the people spoke, in the order of their first word."""
        return tuple(
            dict.fromkeys(m.speaker for m in self.messages if m.role == "user" and m.speaker)
        )


def windows(messages: Iterable[Message], chars: int = SLICE_CHARS) -> Iterator[Window]:
    """The transcript in slices of at most `chars` characters, some without words."""
    talk, kept = list(messages), list[Message]()
    first = last = size = begin = 0
    for place, message in enumerate(talk):
        clean = _cleaned(message)
        if clean and size + len(clean.content) > chars and kept:
            around = talk[max(0, begin - _AROUND) : place + _AROUND]
            yield Window(_on_the_record(kept, around), first, last)
            kept, first, size, begin = [], 0, 0, place
        first, last = first or message.number, message.number
        if clean:
            kept.append(clean)
            size += len(clean.content)
    if first:
        yield Window(_on_the_record(kept, talk[max(0, begin - _AROUND) :]), first, last)


def counted(messages: Sequence[Message]) -> tuple[int, int]:
    """How many user turns and tool messages there are: what opens the gates."""
    return sum(m.role == "user" for m in messages), sum(m.role == "tool" for m in messages)


def _cleaned(message: Message) -> Message | None:
    """The message without what memory put there and requests to it; `None` if nothing is left."""
    if message.role == "system" or (message.role == "tool" and _OWN_TOOL.match(message.speaker)):
        return None
    text = without_untagged_blocks(unfenced(message.content)).strip()
    if message.role == "tool":
        text = _tool_text(text)
    elif _COMMAND.match(text):
        return None
    elif message.role == "user":
        text = without_requests(text)
    if len(text) > _MESSAGE_CHARS:
        text = f"{text[:_MESSAGE_CHARS]} … [{len(text) - _MESSAGE_CHARS} more characters]"
    return replace(message, content=text) if text else None


def _on_the_record(messages: Sequence[Message], around: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without those whose speakers ask not to note them, and what the bot answered.

    `around` are they and their neighbours, where the asking may stand: in what people said, not in
    a block of memory beside it.
    """
    private = off_the_record([clean for clean in map(_cleaned, around) if clean])
    return tuple(message for message in messages if message.id not in private)


def _tool_text(text: str) -> str:
    lines = [line for line in text.splitlines() if not _NOISE.match(line)]
    plain = "\n".join(dict.fromkeys(lines))
    if len(plain) <= _TOOL_HEAD + _TOOL_TAIL:
        return plain
    return f"{plain[:_TOOL_HEAD]} … {plain[-_TOOL_TAIL:]}"
