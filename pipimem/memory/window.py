"""The window: what of the transcript a model call sees, cleaned and cut to size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from msgspec import Struct

from pipimem.memory.requests import without_requests
from pipimem.memory.trust import JudgedTalk, channel_talk, is_group
from pipimem.notes.message import Message
from pipimem.sidecar.tasks import is_exchange
from pipimem.text.fence import unfenced, without_untagged_blocks
from pipimem.text.talk.asking import off_the_record
from pipimem.text.token_count import clipped, truncated_middle

# Beyond this a model loses the middle; longer windows go in slices.
SLICE_CHARS = 28_000
# One message may not fill a slice; what a person pasted beyond this is in the transcript.
_MESSAGE_CHARS = 4_000
# Of a longer answer of the bot the beginning and the end are sent, and of each line between them as
# many first words as there is room for: names, headings and numbers stand there. Half of what a
# chat with an assistant costs is such answers.
_ANSWER_CHARS, _ANSWER_HEAD, _ANSWER_TAIL = 1_600, 240, 160
_FIRST_WORDS = (160, 120, 80, 60, 40, 30)
# A shorter paragraph may well be said twice, and costs no more than the note that it was.
_LEAST_REPEATED = 80
_REPEATED = "[as above]"
# After such a silence another talk begins.
_PAUSE = timedelta(hours=1)
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
    """The transcript in slices of at most `chars` characters, some without words.

    A full slice ends before a pause of an hour or after an answer of the bot, if its second half
    has one.
    """
    talk, begin = list(messages), 0
    while begin < len(talk):
        end, kept = _slice(talk, begin, chars)
        around = talk[max(0, begin - _AROUND) : end + _AROUND]
        first, last = talk[begin].number, talk[end - 1].number
        yield Window(_on_the_record(kept, around), first, last)
        begin = end


def _slice(talk: Sequence[Message], begin: int, chars: int) -> tuple[int, list[Message]]:
    """Where the slice ends that starts at the index `begin`, and its cleaned messages."""
    kept: list[tuple[int, Message]] = []
    sizes = [0]
    paragraphs: set[str] = set()
    for index in range(begin, len(talk)):
        clean = _clean_and_shorten(talk[index], paragraphs)
        size = len(clean.content) if clean else 0
        if kept and sizes[-1] + size > chars:
            end = _end_of_talk(talk, begin, index, sizes)
            return end, [message for place, message in kept if place < end]
        sizes.append(sizes[-1] + size)
        if clean:
            kept.append((index, clean))
    return len(talk), [message for _, message in kept]


def _end_of_talk(talk: Sequence[Message], begin: int, full: int, sizes: Sequence[int]) -> int:
    """The best index to end a slice that is full at the index `full`.

    In its second half the last pause, else the last answer of the bot; else `full`, or before the
    question that the message there answers. `sizes` are the characters up to each message from
    `begin`.
    """
    half = sizes[full - begin] / 2
    ends = [end for end in range(full, begin, -1) if sizes[end - begin] >= half]
    for is_end in (_is_pause, _is_after_answer):
        for end in ends:
            if is_end(talk, end):
                return end
    splits_answer = talk[full].role == "assistant" and talk[full - 1].role == "user"
    return full - 1 if splits_answer and full - 1 > begin else full


def _is_pause(talk: Sequence[Message], index: int) -> bool:
    """Return whether the talk was silent for an hour before a message, which answers nothing."""
    before, after = talk[index - 1].time, talk[index].time
    if before is None or after is None or talk[index].role == "assistant":
        return False
    return after - before >= _PAUSE


def _is_after_answer(talk: Sequence[Message], index: int) -> bool:
    return talk[index - 1].role == "assistant" and talk[index].role == "user"


def _clean_and_shorten(message: Message, paragraphs: set[str]) -> Message | None:
    """Return a message cleaned, an answer of the bot without the `paragraphs` that were shown."""
    clean = _cleaned(message)
    if clean is None or clean.role != "assistant":
        return clean
    return replace(clean, content=_shortened_answer(clean.content, paragraphs))


def _shortened_answer(text: str, paragraphs: set[str]) -> str:
    """An answer of the bot without the `paragraphs` that were shown, to which it adds its own."""
    parts: list[str] = []
    for paragraph in text.split("\n\n"):
        folded = " ".join(paragraph.split())
        if len(folded) >= _LEAST_REPEATED:
            parts.append(_REPEATED if folded in paragraphs else paragraph)
            paragraphs.add(folded)
        else:
            parts.append(paragraph)
    text = "\n\n".join(parts)
    if len(text) <= _ANSWER_CHARS:
        return text
    head, tail = clipped(text, _ANSWER_HEAD).rstrip("…"), text[-_ANSWER_TAIL:]
    lines = [" ".join(line.split()) for line in text[len(head) : -_ANSWER_TAIL].splitlines()]
    for width in _FIRST_WORDS:
        middle = "\n".join(clipped(line, width) for line in lines if line)
        short = f"{head}\n{middle}\n{tail}"
        if len(short) <= _ANSWER_CHARS:
            return short
    return truncated_middle(short, _ANSWER_CHARS)


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
    if len(text) > _MESSAGE_CHARS and message.role != "assistant":
        text = truncated_middle(text, _MESSAGE_CHARS)
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
