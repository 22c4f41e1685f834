"""Tidy: MEMORY.md with what belongs together merged, re-filed, reworded or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from pipimem.memory.prompt_memory import (
    PLANS,
    known_entry,
    newest_within,
    shown_bullets,
    stamped,
    targets,
)
from pipimem.memory.wishes_and_health import moves_to_own_heading
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
from pipimem.sidecar.tasks import Assistant, Call, KnownEntry, Tidied, Tidy, answered, in_thread
from pipimem.text.injection import has_voice, injection_kind
from pipimem.text.markdown.lines import white_folded
from pipimem.text.private import has_mark
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted
from pipimem.text.words.similarity import is_tightened, shared_words_with_each

# What is shown of MEMORY.md and HISTORY.md: twins stand among the likest pairs, and a note without
# one is seldom changed.
_GROUPED_CHARS, _OTHER_CHARS, _HISTORY_CHARS = 6_000, 2_000, 2_000
# A longer chain of likeness joins what is not alike.
_MOST_IN_GROUP = 6


async def tidy(assistant: Assistant, notes: Notes, now: datetime, call: Call) -> Decision:
    """The decision on MEMORY.md as it stands; nothing to do is an empty decision."""
    task = await in_thread(partial(_task, notes, now))  # 2 s for 5,000 entries
    answer = await answered(assistant, task, Tidied, call)
    operations = _operations(answer, notes)
    taken = {target for op in operations for target in targets_of(op)}
    operations += [op for op in _in_history(notes) if op.target not in taken]
    taken = {target for op in operations for target in targets_of(op)}
    operations += [op for op in moves_to_own_heading(notes) if op.target not in taken]
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


def _task(notes: Notes, now: datetime) -> Tidy:
    shown = _shown(notes, now)
    return Tidy(now, shown, _outcomes(notes, shown))


def _shown(notes: Notes, now: datetime) -> tuple[KnownEntry, ...]:
    """The entries to look at: groups of those most alike, then loops past their day, the newest."""
    bullets = shown_bullets(notes)
    shown: list[KnownEntry] = []
    room = _GROUPED_CHARS
    for members in _groups(bullets):
        size = sum(len(bullets[index].text) for index in members)
        if size <= room:
            room -= size
            group = 1 + (shown[-1].group if shown else 0)
            shown += [known_entry(notes, bullets[index], now, group) for index in members]
    grouped = {entry.id for entry in shown}
    others = [known_entry(notes, entry, now) for entry in bullets if entry.id not in grouped]
    others.sort(key=lambda entry: (entry.no_news, entry.said), reverse=True)
    return (*shown, *_take_fitting(others, _OTHER_CHARS + room))


def _take_fitting(entries: Iterable[KnownEntry], room: int) -> Iterator[KnownEntry]:
    """Yield the entries that have room in so many characters, each taken if it still fits."""
    for entry in entries:
        if len(entry.text) <= room:
            room -= len(entry.text)
            yield entry


def _groups(bullets: Sequence[Entry]) -> list[list[int]]:
    """The indexes of entries that share the most with each other, the likest groups first.

    Each entry is paired with the entry that it shares the most words with, by their weight; pairs
    with a member in common are one group.
    """
    texts = [entry.text for entry in bullets]
    pairs: dict[tuple[int, int], float] = {}
    for index, shared in enumerate(shared_words_with_each(texts, texts)):
        shared.pop(index, None)
        nearest = max(shared, key=lambda other: (shared[other], -other), default=None)
        if nearest is not None:
            pair = min(index, nearest), max(index, nearest)
            pairs[pair] = max(shared[nearest], pairs.get(pair, 0.0))
    groups: dict[int, list[int]] = {}
    for first, second in sorted(pairs, key=lambda pair: (-pairs[pair], pair)):
        one, other = groups.get(first, [first]), groups.get(second, [second])
        if one is not other and len(one) + len(other) <= _MOST_IN_GROUP:
            one += other
            groups |= dict.fromkeys(one, one)
    return list({id(group): sorted(group) for group in groups.values()}.values())


def changeable(notes: Notes) -> list[Entry]:
    """The entries that a tidying may change: those that a model or the rules concluded."""
    found: list[Entry] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is not None and record.trust is Trust.INFERRED:
            found.append(entry)
    return found


def _outcomes(notes: Notes, shown: Sequence[KnownEntry]) -> tuple[str, ...]:
    """The lines of HISTORY.md nearest to each open loop that is shown, with their times."""
    loops = [entry.text for entry in shown if kind_of(entry.section) in PLANS]
    bullets = [entry for entry in notes.history.entries if entry.bullet]
    texts = [entry.text for entry in bullets]
    nearest: set[int] = set()
    for shared in shared_words_with_each(texts, loops):
        if shared:
            nearest.add(max(shared, key=lambda index: (shared[index], index)))
    lines = stamped(notes, [bullets[index] for index in sorted(nearest)])
    return newest_within(lines, _HISTORY_CHARS)


def _operations(answer: Tidied, notes: Notes) -> list[Operation]:
    """The operations that an answer asks for, without those on ids that are not there."""
    places = targets(notes)
    moves = [Move(places[move.id], move.kind) for move in answer.move if move.id in places]
    return [
        *_merges(answer, notes, places),
        *_drops(answer, places),
        *moves,
        *_rewordings(answer, notes, places),
    ]


def _merges(answer: Tidied, notes: Notes, places: Mapping[str, Target]) -> Iterator[Operation]:
    for merge in answer.merge:
        merged = tuple(places[name] for name in merge.ids if name in places)
        is_whole = len(merged) == len(merge.ids) > 1
        if is_whole and not has_mark(merge.text) and not _orders_anew(merge.text, notes, merged):
            yield _supersede(merged, merge.text, "merged")


def _orders_anew(text: str, notes: Notes, targets: tuple[Target, ...]) -> bool:
    """Whether a text is an attack, or orders something that none of the entries orders."""
    if injection_kind(text):
        return True
    entries = (notes.find(target) for target in targets)
    is_order = any(has_voice("order", entry.text) for entry in entries if entry)
    return not is_order and has_voice("order", text)


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
    if any((name in entry.text) != (name in text) for name in speakers):
        return False
    if _orders_anew(text, notes, (target,)):
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
