"""Tidy: MEMORY.md with what belongs together merged, re-filed, reworded or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from pipimem.memory.prompt_memory import known, newest_within, targets
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import EVENTS
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Author,
    Decision,
    Invalidate,
    LeftOut,
    Move,
    Operation,
    Supersede,
    Target,
    Trust,
    targets_of,
)
from pipimem.sidecar.tasks import Assistant, Call, Tidied, Tidy, answered
from pipimem.text.injection import injection_kind
from pipimem.text.markdown.lines import white_folded
from pipimem.text.private import has_mark
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted
from pipimem.text.words.similarity import is_tightened

# About as many as came since the last tidying: what they double or contradict is what there is to
# tidy.
_LOOKED_AT = 20
# As much as of MEMORY.md: a prompt stays within 16,000 tokens.
_HISTORY_CHARS = 12_000


async def tidy(assistant: Assistant, notes: Notes, now: datetime, call: Call) -> Decision:
    """The decision on MEMORY.md as it stands; nothing to do is an empty decision."""
    task = Tidy(now, known(notes, now, _newest(notes)), _end_of_history(notes))
    answer = await answered(assistant, task, Tidied, call)
    operations = _operations(answer, notes)
    taken = {target for op in operations for target in targets_of(op)}
    operations += [op for op in _in_history(notes) if op.target not in taken]
    return Decision(
        "tidy",
        Author.MODEL,
        tuple(operations),
        why="MEMORY.md grew",
        correlation=call.correlation,
        left_out=_left_out(answer, operations),
    )


def _left_out(answer: Tidied, operations: Iterable[Operation]) -> tuple[LeftOut, ...]:
    """The merges and rewordings that no operation carries out."""
    texts = {op.text for op in operations if isinstance(op, Supersede)}
    asked = [("no merge of entries as they stand", each.text) for each in answer.merge]
    asked += [("no tighter wording of its entry", each.text) for each in answer.reword]
    return tuple(
        LeftOut(reason, "" if has_mark(text) or injection_kind(text) else redacted(text))
        for reason, text in asked
        if redacted(text) not in texts
    )


def changeable(notes: Notes) -> list[Entry]:
    """The entries that a tidying may change: those that a model or the rules concluded."""
    found: list[Entry] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is not None and record.trust is Trust.INFERRED:
            found.append(entry)
    return found


def _newest(notes: Notes) -> str:
    """The newest entries' texts: of a memory too long for a prompt, what is like them is shown."""
    records = notes.ledger.records
    entries = [entry for entry in notes.memory.entries if entry.id in records]
    ages = sorted((records[entry.id].when, entry.text) for entry in entries)
    return "\n".join(text for _, text in ages[-_LOOKED_AT:])


def _end_of_history(notes: Notes) -> tuple[str, ...]:
    """The lines of HISTORY.md, as many of its end as a prompt has room for."""
    return newest_within([entry.text for entry in notes.history.entries], _HISTORY_CHARS)


def _operations(answer: Tidied, notes: Notes) -> list[Operation]:
    """The operations that an answer asks for, without those on ids that are not there."""
    places = targets(notes)
    moves = [Move(places[move.id], move.kind) for move in answer.move if move.id in places]
    return [
        *_merges(answer, places),
        *_drops(answer, places),
        *moves,
        *_rewordings(answer, notes, places),
    ]


def _merges(answer: Tidied, places: Mapping[str, Target]) -> Iterator[Operation]:
    for merge in answer.merge:
        merged = tuple(places[name] for name in merge.ids if name in places)
        is_whole = len(merged) == len(merge.ids) > 1
        if is_whole and not injection_kind(merge.text) and not has_mark(merge.text):
            yield _supersede(merged, merge.text, "merged")


def _drops(answer: Tidied, places: Mapping[str, Target]) -> Iterator[Operation]:
    """What is dropped though it holds goes on being recalled from where else it stands."""
    for drop in answer.drop:
        if drop.id in places:
            is_double = drop.why == "duplicate"
            yield Invalidate(places[drop.id], drop.why, still_so=is_double)


def _rewordings(answer: Tidied, notes: Notes, places: Mapping[str, Target]) -> Iterator[Operation]:
    for reword in answer.reword:
        target = places.get(reword.id)
        if target is not None and _is_tighter(redacted(reword.text), notes, target):
            yield _supersede((target,), reword.text, "reworded")


def _supersede(targets: tuple[Target, ...], text: str, reason: str) -> Supersede:
    return Supersede(targets, redacted(text), Trust.INFERRED, reason=reason)


def _is_tighter(text: str, notes: Notes, target: Target) -> bool:
    """Whether a text says what an entry says, shorter, with its names, numbers and days.

    A quote is no model's to reword.
    """
    entry = notes.find(target)
    if entry is None or read_quote(entry.text).day or not 0 < len(text) < len(entry.text):
        return False
    speakers = {record.speaker for record in notes.ledger.records.values() if record.speaker}
    if any((name in entry.text) != (name in text) for name in speakers) or injection_kind(text):
        return False
    return is_tightened(entry.text, text)


def _in_history(notes: Notes) -> Iterator[Invalidate]:
    """Takes out inferred entries that are no more than an event and stand in HISTORY.md too.

    In the same words only: history tells of what lasts as well, and a fold keeps less of it.
    """
    history = {_words(entry.text) for entry in notes.history.entries}
    for entry in changeable(notes):
        # The rules write the same quote into both, and a fold keeps only the weightiest of
        # history's.
        if kind_of(entry.section) not in EVENTS or read_quote(entry.text).day:
            continue
        if _words(entry.text) in history:
            yield Invalidate(entry.target, "it stands in HISTORY.md", still_so=True)


def _words(text: str) -> str:
    return white_folded(text).casefold().rstrip(".。!！")
