"""What a sentence asks of the bot or of memory, by the patterns of `requests.txt`."""

from __future__ import annotations

from pipimem.sidecar.rules.patterns import as_written, first_match, rules

_CLOSING = "。.!！?？~～;； "
_BETWEEN = ",，;； "


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
