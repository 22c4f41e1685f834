"""Requests: what people ask of memory itself, told to the host and not learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipimem.sidecar.rules.patterns import first_match, rules
from pipimem.sidecar.rules.sentences import split

# Put in the place of a request where a model or the rules read the talk.
_IN_ITS_PLACE = "[a request to memory]"
_CLOSING = "。.!！?？~～;； "
# A longer message is a document somebody pasted: it asks for nothing.
_MOST_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What a person asks of memory: `forget` is the one kind today.

    `text` is what it is about, in the person's words, `speaker` who asks, `message` the id of the
    message, `None` where it has none yet.
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
    found = (_forgotten(sentence) for sentence in split(text))
    return tuple(MemoryRequest("forget", what, speaker, message) for what in found if what)


def without_requests(text: str) -> str:
    """The message with a mark in the place of each request, so that nothing is learnt of it."""
    if not requests(text):
        return text
    sentences = (_IN_ITS_PLACE if _forgotten(one) else one for one in split(text))
    return " ".join(sentences)


def _forgotten(sentence: str) -> str:
    """What a sentence asks to forget, empty where it asks for nothing."""
    bare, before = sentence.strip(_CLOSING), ""
    while bare != before:
        before = bare
        front = first_match(rules("requests")["front"], bare)
        bare = bare[front.end() :] if front else bare
    found = first_match(rules("requests")["forget"], bare)
    return found["what"].strip(_CLOSING) if found else ""
