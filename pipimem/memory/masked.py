"""What must not be learnt: what rests on a masked sentence or names something private."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.notes.operations import LeftOut
from pipimem.sidecar.tasks import Consolidated, HistoryItem, Learned
from pipimem.text.private import has_mark
from pipimem.text.secrets import holds_mark, redacted
from pipimem.text.talk.sentences import split
from pipimem.text.words.similarity import bigrams, share_in

_Item = TypeVar("_Item", Learned, HistoryItem)

SAYS_PRIVATE = "says that something was private"
"""Why a text with the marker of what was private is not learnt."""

# Of the pairs of letters of what was learnt, so many stand in the masked sentences alone.
_MOST_OF_IT = 0.5


def rests_on_masked(text: str, messages: Iterable[Message]) -> bool:
    """Whether a text holds a secret or its mark, or says what a masked sentence says.

    The latter is so where no sentence without a mark was said in `messages`, or where it shares
    more with the masked ones and most of it stands there.
    """
    if holds_mark(redacted(text)):
        return True
    masked, others = _sentences(messages)
    if not masked:
        return False
    if not others:
        return True
    own = bigrams(text)
    in_masked = max(share_in(own, bigrams(one)) for one in masked)
    in_others = max(share_in(own, bigrams(one)) for one in others)
    return in_masked > in_others and in_masked >= _MOST_OF_IT


def _sentences(messages: Iterable[Message]) -> tuple[list[str], list[str]]:
    """The sentences of messages in which something was masked, and the others."""
    masked: list[str] = []
    others: list[str] = []
    for message in messages:
        for sentence in split(message.content):
            (masked if holds_mark(sentence) else others).append(sentence)
    return masked, others


def without_masked(
    answer: Consolidated, messages: Mapping[str, Message]
) -> tuple[Consolidated, tuple[LeftOut, ...]]:
    """A model's answer without what may not be learnt, and the entries and bullets left out.

    Title, entries, bullets of history and the lines of the sheet. What is left out has no text,
    which may tell what was masked.
    """
    said = messages if any(holds_mark(one.content) for one in messages.values()) else {}
    learned, why_not_learned = _unmasked(answer.learned, said)
    history, why_not_noted = _unmasked(answer.history, said)
    title = "" if _refusal(answer.title, said.values()) else answer.title
    sheet = None if answer.sheet is None else unmasked_sheet(answer.sheet, said.values())
    kept = Consolidated(learned, answer.over, title, history, sheet)
    return kept, (*why_not_learned, *why_not_noted)


def _unmasked(
    items: Iterable[_Item], messages: Mapping[str, Message]
) -> tuple[tuple[_Item, ...], list[LeftOut]]:
    """Those of the items that may be learnt, and for each of the others why not."""
    kept: list[_Item] = []
    left_out: list[LeftOut] = []
    for item in items:
        reason = _refusal(item.text, _of(item.sources, messages))
        if reason:
            file = File.MEMORY if isinstance(item, Learned) else File.HISTORY
            left_out.append(LeftOut(reason, "", file, sources=item.sources))
        else:
            kept.append(item)
    return tuple(kept), left_out


def unmasked_sheet(
    sheet: Mapping[str, Sequence[str]], messages: Iterable[Message]
) -> dict[str, tuple[str, ...]]:
    """The lines of a sheet by section, without those that may not be learnt."""
    said = tuple(messages)
    kept: dict[str, tuple[str, ...]] = {}
    for section, lines in sheet.items():
        kept[section] = tuple(line for line in lines if not _refusal(line, said))
    return kept


def _refusal(text: str, messages: Iterable[Message]) -> str:
    """Why a text may not be learnt, empty where it may."""
    if has_mark(text):
        return SAYS_PRIVATE
    if rests_on_masked(text, messages):
        return "rests on a sentence of which a secret was masked"
    return ""


def _of(sources: Iterable[str], messages: Mapping[str, Message]) -> list[Message]:
    """The messages named, or all where none of them is known."""
    return [messages[name] for name in sources if name in messages] or [*messages.values()]
