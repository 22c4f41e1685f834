"""What somebody states, for comparing: the words, who said them, and the kind they are kept as."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipimem.notes.kinds import Kind
from pipimem.text.quotes import read_quote
from pipimem.text.talk.sentences import Sentence, without_tail


class Claim(Struct, frozen=True):
    """What was said, by whom (empty if unknown), and the kind it is kept as."""

    said: str
    speaker: str
    kind: Kind | None


def claim_of(text: str, kind: Kind | None) -> Claim:
    """An entry as a claim: a quote's words and speaker, or the text as it stands."""
    quote = read_quote(text)
    return Claim(quote.said, quote.name, kind)


def stated(sentence: Sentence) -> Claim:
    """A sentence as a claim of no kind, without what it asks at its end."""
    return Claim(without_tail(sentence.text), sentence.speaker, None)


def statements(said: Iterable[Sentence]) -> list[Sentence]:
    """The sentences of people that are neither questions nor laughed at."""
    own = [one for one in said if one.role == "user"]
    return [one for one in own if not one.question and not one.laughed]
