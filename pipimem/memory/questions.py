"""What memory must go on answering: recent questions of the channel, and the list people keep in `recall.must`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipimem.notes.ledger import Asked

# A list by hand; beyond this it is a file of another kind that got this name.
_MOST_MUSTS = 500
_ARROW = "=>"


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the words that must stand in what is found for it; without words all that it finds must stay."""

    text: str
    words: tuple[str, ...] = ()
    is_must: bool = False


def questions(asked: Iterable[Asked], must: str) -> tuple[Question, ...]:
    """The lines of `recall.must` first, then what was asked, newest first."""
    recent = [Question(one.text) for one in asked]
    return (*_musts(must), *reversed(recent))


def _musts(text: str) -> Iterator[Question]:
    """One query a line, with `=> words, more words` behind it if people like; `#` begins a comment."""
    lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]
    for line in [line for line in lines if line and not line.startswith("#")][:_MOST_MUSTS]:
        query, _, words = line.partition(_ARROW)
        wanted = tuple(word.strip() for word in words.replace("，", ",").split(",") if word.strip())
        if query.strip():
            yield Question(query.strip(), wanted, is_must=True)
