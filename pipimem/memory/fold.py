"""Fold: the older blocks of HISTORY.md become one block a month, always made from the originals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from pipimem.errors import AnswerRefused
from pipimem.llm.request import ContextOverflow
from pipimem.memory.prompt_memory import minute
from pipimem.notes.entry import Entry
from pipimem.notes.headings import month_heading
from pipimem.notes.kinds import etag
from pipimem.notes.notes import HistoryBlock, Note, Notes, blocks
from pipimem.notes.operations import Author, Bullet, Decision, FoldBlocks, Job, Operation
from pipimem.sidecar.tasks import Assistant, Call, Fold, Folded, HistoryItem, answered
from pipimem.text.dates.bounds import later
from pipimem.text.injection import injection_kind
from pipimem.text.private import has_mark
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted
from pipimem.text.words.similarity import says_the_same

# The newest blocks stay as they are: recent days are asked about in detail.
KEEP = 3
# From here on a month that goes on is folded too, so often at most.
LONG_CHARS = 8_000
EVERY = timedelta(days=7)
# A month of fewer bullets is short enough; it is folded only where the file is long.
_SHORT_MONTH = 20
# Of fewer bullets nothing shorter can be made.
_LEAST_BULLETS = 4
_EVER = datetime.min.replace(tzinfo=UTC)

Months = Mapping[str, Sequence[HistoryBlock]]


def due_months(notes: Notes, now: datetime, *, forced: bool = False) -> Months:
    """The blocks to fold, by month: of full months that are over, or of all if the file is long.

    The newest `KEEP` blocks are none of them. A long file is folded 7 days after the last fold at
    the earliest, unless `forced`.
    """
    unfolded = _unfolded(notes)
    months = _worth_folding(notes, _by_month(unfolded[:-KEEP]))
    if is_long(notes) and (forced or now >= rested_at(notes, now)):
        return months
    kept = {_month(block) for block in unfolded[-KEEP:]}
    this_month, folds = f"{now:%Y-%m}", _folded_months(notes)
    return {
        month: fresh
        for month, fresh in months.items()
        if month < this_month and month not in kept
        if month in folds or _count_bullets(fresh) > _SHORT_MONTH
    }


def _unfolded(notes: Notes) -> list[HistoryBlock]:
    """The blocks that stand as they were written, oldest first."""
    found = [block for block in blocks(notes.history) if block.end and not block.month]
    return sorted(found, key=lambda block: block.end or _EVER)


def _worth_folding(notes: Notes, months: Months) -> Months:
    """The months in their order; of few bullets only those that were folded before."""
    folds = _folded_months(notes)
    return {
        month: fresh
        for month, fresh in sorted(months.items())
        if month in folds or _count_bullets(fresh) >= _LEAST_BULLETS
    }


def _folded_months(notes: Notes) -> frozenset[str]:
    return frozenset(block.month for block in blocks(notes.history) if block.month)


def _count_bullets(fresh: Sequence[HistoryBlock]) -> int:
    return sum(len(block.bullets) for block in fresh)


def is_long(notes: Notes) -> bool:
    """Whether HISTORY.md is so long that a month that goes on is folded too."""
    return len(notes.history.text) >= LONG_CHARS


def rested_at(notes: Notes, now: datetime) -> datetime:
    """When a long file may be folded again."""
    ran = notes.ledger.jobs.get("fold", Job()).ran
    return later(datetime.fromisoformat(ran), EVERY) if ran else now


def stamp_of(months: Months) -> str:
    """The mark of the bullets to fold: the same ones are not asked about twice."""
    texts: list[str] = []
    for fresh in months.values():
        for block in fresh:
            texts += [bullet.text for bullet in block.bullets]
    return etag("\n".join(texts))


async def fold(
    assistant: Assistant, notes: Notes, archive: Note, months: Months, call: Call
) -> Decision:
    """The decision that folds these months of HISTORY.md.

    A month folded before is folded anew from its archived originals and the newer blocks, never
    from its fold.
    """
    standing = blocks(notes.history)
    archived = _by_month(blocks(archive))
    operations = []
    for month, fresh in months.items():
        originals = _dated(notes, [*archived.get(month, ()), *fresh])
        folds = [block.heading for block in standing if block.month == month]
        headings = tuple(dict.fromkeys([*folds, *(block.heading for block in fresh)]))
        operations.append(await _folded(assistant, month, originals, headings, call))
    return Decision(
        "fold", Author.MODEL, tuple(operations), why="HISTORY.md grew", correlation=call.correlation
    )


def only_shorter(decision: Decision, notes: Notes) -> Decision:
    """The decision without folds that would not be shorter than their blocks; it says which."""
    kept: list[Operation] = []
    reasons: list[str] = []
    for op in decision.operations:
        if isinstance(op, FoldBlocks) and _length(op) >= _length_of_blocks(op, notes):
            reasons.append(f"fold of {op.month}: left as it is, it would not be shorter")
        else:
            kept.append(op)
    return replace(decision, operations=tuple(kept), notes=(*decision.notes, *reasons))


def _length(op: FoldBlocks) -> int:
    return len(month_heading(op.month, op.title)) + _length_of_bullets(op.bullets)


def _length_of_blocks(op: FoldBlocks, notes: Notes) -> int:
    folded = (block for block in blocks(notes.history) if block.heading in op.headings)
    return sum(len(block.heading) + _length_of_bullets(block.bullets) for block in folded)


def _length_of_bullets(bullets: Iterable[Bullet | Entry]) -> int:
    """Their texts, each with its mark and the end of its line."""
    return sum(len(bullet.text) + 3 for bullet in bullets)


async def _folded(
    assistant: Assistant,
    month: str,
    originals: Mapping[str, Bullet],
    headings: tuple[str, ...],
    call: Call,
) -> FoldBlocks:
    texts = tuple(
        (name, f"{minute(bullet.when)}{bullet.text}") for name, bullet in originals.items()
    )
    answer = await _shorter(assistant, Fold(month, texts), call)
    kept = _kept_bullets(answer, originals)
    if not kept:
        raise AnswerRefused(f"the fold of {month} keeps nothing of {len(originals)} bullets")
    title = "" if _is_refused(answer.title) else redacted(answer.title)
    return FoldBlocks(month, title, tuple(kept), headings, tuple(originals.values()))


def _kept_bullets(answer: Folded, originals: Mapping[str, Bullet]) -> list[Bullet]:
    """The bullets of an answer with their times, each once, without what gives the bot orders.

    They stand in the order of the first originals that they rest on.
    """
    known = {bullet.text for bullet in originals.values()}
    places = {name: place for place, name in enumerate(originals)}
    kept: list[Bullet] = []
    for bullet in sorted(answer.bullets, key=lambda bullet: _first_of(bullet, places)):
        text = redacted(bullet.text)
        is_refused = not text.strip() or (text not in known and _is_refused(text))
        if is_refused or any(says_the_same(text, other.text) for other in kept):
            continue
        kept.append(
            Bullet(text, bullet.sources, bullet.weight, _find_newest_time(bullet, originals))
        )
    return kept


def _find_newest_time(bullet: HistoryItem, originals: Mapping[str, Bullet]) -> str:
    """Return the time of the newest original that a bullet rests on; empty if there is none."""
    times = (originals[name].when for name in bullet.sources if name in originals)
    return max(times, default="")


def _first_of(bullet: HistoryItem, places: Mapping[str, int]) -> int:
    return min((places[name] for name in bullet.sources if name in places), default=len(places))


def _is_refused(text: str) -> bool:
    """Whether a text gives the bot orders, or says that something was private."""
    return bool(injection_kind(text)) or has_mark(text)


def _dated(notes: Notes, originals: Iterable[HistoryBlock]) -> dict[str, Bullet]:
    """The bullets of blocks by id, each with the time of its messages, or the end of its block."""
    found: dict[str, Bullet] = {}
    for block in originals:
        for entry in block.bullets:
            record = notes.record(entry.record_name)
            end = block.end.isoformat(timespec="seconds") if block.end else ""
            when = record.when if record else end
            found[entry.id] = Bullet(entry.text, (entry.id,), when=when)
    return found


async def _shorter(assistant: Assistant, task: Fold, call: Call) -> Folded:
    """The answer; a month that is longer than the model can read is folded in halves."""
    try:
        return await answered(assistant, task, Folded, call)
    except ContextOverflow:
        middle = len(task.bullets) // 2
        if not middle:
            raise
        first = await _shorter(assistant, Fold(task.month, task.bullets[:middle]), call)
        second = await _shorter(assistant, Fold(task.month, task.bullets[middle:]), call)
        return Folded(first.title, (*first.bullets, *second.bullets))


def _by_month(found: Iterable[HistoryBlock]) -> dict[str, list[HistoryBlock]]:
    months: dict[str, list[HistoryBlock]] = defaultdict(list)
    for block in found:
        if block.end and not block.month:
            months[_month(block)].append(block)
    return months


def _month(block: HistoryBlock) -> str:
    """The month that most of a block's quotes are of; without quotes that of its end.

    By the text alone: the month of an archived block never changes.
    """
    days = (read_quote(bullet.text).day for bullet in block.bullets)
    months = Counter(day[:7] for day in days if day)
    if not months:
        return f"{block.end:%Y-%m}" if block.end else ""
    return max(months, key=lambda month: (months[month], month))
