"""Requests: what people ask of memory itself, told to the host and not learnt."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pipimem.notes.message import Message
from pipimem.text.talk.asking import forgotten
from pipimem.text.talk.sentence_rules import first_match, matches, rules
from pipimem.text.talk.sentences import split, without_front

# Put in the place of a request where a model or the rules read the talk.
_IN_ITS_PLACE = "[a request to memory]"
# A longer message is a document somebody pasted: it asks for nothing.
_MOST_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What a person asks of memory: `forget` is the one kind today.

    `text` is what it is about, in the person's words without "what I said about": to be looked for,
    for what it asks to forget may say it in other words. `speaker` is who asks, `message` the id of
    the message, `None` where it has none yet.
    """

    kind: Literal["forget"]
    text: str
    speaker: str = ""
    message: str | None = None


def requests(text: str, speaker: str = "", message: str | None = None) -> tuple[MemoryRequest, ...]:
    """What a person's message asks of memory, in its order; mostly nothing.

    `text` is the message as it may be kept: without secrets and private stretches.
    """
    if len(text) > _MOST_CHARS:
        return ()
    found = (forgotten(clause)[0] for clause in _clauses(text))
    return tuple(MemoryRequest("forget", what, speaker, message) for what in found if what)


def without_requests(text: str) -> str:
    """The message with a mark in the place of each request, so that nothing is learnt of it.

    A clause behind a request that says how it is after all stays.
    """
    if not requests(text):
        return text
    kept: list[str] = []
    for clause in _clauses(text):
        what, behind = forgotten(clause)
        kept += [_IN_ITS_PLACE, behind] if what else [clause]
    return " ".join(filter(None, kept))


def _clauses(text: str) -> Iterator[str]:
    """The sentences of a text, each divided where a further request begins in it."""
    for sentence in split(text):
        rest = sentence
        while found := first_match(rules("requests")["further"], rest):
            yield rest[: found.start()]
            rest = rest[found.end() :]
        yield rest


def withheld(messages: Iterable[Message], learnt: Container[str]) -> tuple[str, ...]:
    """A sentence for each message that asks to remember a password or code and was not learnt.

    `learnt` are the ids of the messages that something was learnt from. What was asked is not said.
    """
    notes: list[str] = []
    for one in messages:
        is_new = one.role == "user" and one.id not in learnt
        if is_new and any(_is_secret(sentence) for sentence in split(one.content)):
            name = one.speaker or "somebody"
            notes.append(f"{name} asked to remember what looks like a password or code ({one.id})")
    return tuple(notes)


def _is_secret(sentence: str) -> bool:
    """Whether a sentence asks to remember what the rules leave out as a secret."""
    text, asked = without_front(sentence, (), ())
    return asked and matches("left_out", "secret", text)
