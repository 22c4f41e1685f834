"""What people ask of the bot or of memory: to do or to forget something, or not to note it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pipimem.text.characters import is_chinese
from pipimem.text.talk.sentence_rules import as_written, first_match, matches, rules, without_quotes
from pipimem.text.talk.sentences import MessageLike, Sentence, sentences

_CLOSING = "。.!！?？~～;； "
_BETWEEN = ",，;； "
# "This one please don't note" says nothing else: it speaks of the message in front.
_FEW_LETTERS, _FEW_LETTERS_ZH = 16, 5
_ROUGHLY_CUT = re.compile(r"(?<=[。！？!?；;\n…])|(?<=\.)\s")
_AROUND = " ,.;:!，。；：！、"
# ... or of the speaker's own, where others spoke in between: so many sentences back.
_OWN_REACH = 4


def asks_of_the_bot(sentence: str) -> bool:
    """Whether a sentence asks to forget, to look up, to write or to tell something."""
    bare = _without_address(as_written(sentence.strip(_CLOSING)))
    return bool(forgotten(sentence)[0]) or first_match(rules("requests")["asked"], bare) is not None


def forgotten(sentence: str) -> tuple[str, str]:
    """What a sentence asks to forget, empty where it asks for nothing, and the clause behind it."""
    bare = _without_address(sentence.strip(_CLOSING))
    behind = first_match(rules("requests")["behind"], bare)
    asked = bare[: behind.start()] if behind else bare
    found = first_match(rules("requests")["forget"], asked)
    if not found:
        return "", ""
    return _subject(found["what"].strip(_CLOSING)), bare[len(asked) :].lstrip(_BETWEEN)


def _without_address(bare: str) -> str:
    """A sentence without whom it speaks to and politeness at its beginning and end."""
    end = first_match(rules("requests")["end"], bare)
    bare, before = bare[: end.start()] if end else bare, ""
    while bare != before:
        before = bare
        front = first_match(rules("requests")["front"], bare)
        bare = bare[front.end() :] if front else bare
    return bare


def _subject(what: str) -> str:
    """What is to be forgotten without "what I said about", "我说的……的事"."""
    about = first_match(rules("requests")["about"], what)
    return about["what"].strip(_CLOSING) if about else what


def off_the_record(messages: Sequence[MessageLike]) -> frozenset[str]:
    """The ids of messages that their speakers ask not to note, and of what the bot said to them."""
    if not any(may_be_off_the_record(message.content) for message in messages):
        return frozenset()
    private = private_messages(sentences(messages))
    found: set[str] = set()
    is_private = False
    for message in messages:
        if message.role == "user":
            is_private = message.id in private
        if is_private:
            found.add(message.id)
    return frozenset(found)


@lru_cache(maxsize=4096)  # a turn asks it of a hundred messages, and of most of them again
def may_be_off_the_record(text: str) -> bool:
    """Whether a message may ask not to note something; `off_the_record` says whether it does.

    It takes a tenth of the time: nothing is cut into sentences.
    """
    return any(matches("context", "off the record", part) for part in _ROUGHLY_CUT.split(text))


def private_messages(said: Sequence[Sentence]) -> set[str]:
    """The ids of messages that are not to be noted.

    What says nothing but this speaks of the last message in front, or behind it after a colon.
    """
    private: set[str] = set()
    for place, one in enumerate(said):
        if one.role == "user" and matches("context", "off the record", without_quotes(one.text)):
            private.update(one.sources)
            if _says_nothing_else(one.text) and said[place - 1].sources != one.sources:
                private.update(_spoken_of(said, place))
    return private


def _says_nothing_else(text: str) -> bool:
    for rule in rules("context")["off the record"]:
        text = rule.pattern.sub("", text)
    text = text.strip(_AROUND)
    for rule in rules("context")["its reason"]:
        text = rule.pattern.sub("", text)
    return len(text) <= (_FEW_LETTERS_ZH if is_chinese(text) else _FEW_LETTERS)


def _spoken_of(said: Sequence[Sentence], place: int) -> tuple[str, ...]:
    """The sources of the sentence of a person in front of a place, or of the one behind."""
    if matches("context", "what follows", said[place].text):
        spoken_of = [other.sources for other in said[place + 1 :] if other.role == "user"]
        return spoken_of[0] if spoken_of else ()
    before = [other for other in said[:place] if other.role == "user"]
    own = [other for other in before[-_OWN_REACH:] if other.speaker == said[place].speaker]
    return (*(before[-1].sources if before else ()), *(own[-1].sources if own else ()))
