"""The one bar that everything learnt must pass before it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pipimem.memory.known import targets
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import kind_of
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Add, Confirm, Evidence, Operation, Supersede, Target, Trust
from pipimem.sidecar.contracts import Learned
from pipimem.text.dates.bounds import later
from pipimem.text.dates.lasting import lasts_until
from pipimem.text.quotes import read_quote
from pipimem.text.same_subject import same_script, same_subject
from pipimem.text.secrets import redacted
from pipimem.text.similarity import same_thought
from pipimem.text.whitespace import white_folded

# DESIGN §8. High and 0.85 alone learns nothing from careful models, so what is middling goes on probation.
_DURABLE = 0.85
_PROBATION = 0.90
_PROBATION_DAYS = 30
_PROBATION_A_RUN = 5
_MOST_CHARS = 600
# A short sentence may well be the best wording of a fact; a longer one in the very same words is a transcript.
_MOST_COPIED = 80


@dataclass(frozen=True, slots=True)
class Passed:
    """What came over the bar as operations, and what did not with the reason."""

    operations: tuple[Operation, ...]
    left_out: tuple[str, ...]


def passed(
    learned: tuple[Learned, ...], notes: Notes, messages: Mapping[str, Message], today: datetime
) -> Passed:
    """The operations that write what was learnt from `messages` (by id); a probation counts from `today`."""
    places, on_probation = targets(notes), 0
    operations: list[Operation] = []
    left_out: list[str] = []
    for item in learned:
        sources = [messages[name] for name in item.sources if name in messages]
        heard = any(message.role == "user" for message in sources)
        if is_copy(item.text, sources) and not item.explicit:
            left_out.append(f"copies a message word for word: {redacted(item.text)[:80]}")
            continue
        until = None
        if not _durable(item, heard=heard):
            if not _middling(item) or on_probation >= _PROBATION_A_RUN:
                left_out.append(
                    f"below the bar ({item.necessity}, {item.confidence:.2f}): {redacted(item.text)[:80]}"
                )
                continue
            on_probation += 1
            until = later(today, timedelta(days=_PROBATION_DAYS))
        evidence = _evidence(item, sources, today)
        replaced, kept = _replaced(item, notes, places, evidence, heard=heard)
        left_out += kept
        operations += _written(item, notes, replaced, evidence, until, heard=heard)
    return Passed(tuple(operations), tuple(left_out))


def is_copy(text: str, messages: Iterable[Message]) -> bool:
    """Whether a text is no thought but a stretch of a message, as weak models give it back.

    A quote with who and when is none: the rules bound how many they keep instead.
    """
    if read_quote(text).day:
        return False
    told = white_folded(text)
    return len(told) > _MOST_COPIED and any(
        told in white_folded(message.content) for message in messages
    )


def _durable(item: Learned, *, heard: bool) -> bool:
    """What only the bot or a tool said is never durable at once."""
    return heard and (item.explicit or (item.necessity == "high" and item.confidence >= _DURABLE))


def _middling(item: Learned) -> bool:
    return item.necessity in ("high", "medium") and item.confidence >= _PROBATION


def _evidence(item: Learned, sources: list[Message], today: datetime) -> Evidence:
    spoke = next((message.speaker for message in sources if message.role == "user"), "")
    return Evidence(
        sources=tuple(message.id for message in sources),
        newest=max((message.number for message in sources), default=0),
        speaker=redacted(item.speaker) or spoke,
        when=max((message.time for message in sources if message.time), default=None),
        learnt=today,
    )


def _replaced(
    item: Learned, notes: Notes, places: Mapping[str, Target], evidence: Evidence, *, heard: bool
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The entries an item takes the place of, and why those stay that it names but may not."""
    replaced: list[Target] = []
    kept: list[str] = []
    for name in item.replaces:
        entry = notes.find(places[name]) if name in places else None
        record = notes.record(entry.id) if entry else None
        if entry is None or record is None or record.trust is Trust.HUMAN:
            continue
        if why := _stays(item, notes, entry, evidence, heard=heard):
            kept.append(f"not replaced, {why}: {redacted(entry.text)[:80]}")
        else:
            replaced.append(entry.target)
    return tuple(replaced), tuple(kept)


def _stays(item: Learned, notes: Notes, entry: Entry, evidence: Evidence, *, heard: bool) -> str:
    """Why an item does not take an entry's place; empty where it does."""
    if same_script(entry.text, item.text):
        same = same_subject(entry.text, item.text)
    else:
        same = kind_of(entry.section) is item.kind  # in another language only its kind can tell
    # Models mix up ids: an entry that has no word in common with its newer value would be a silent loss.
    if not same:
        return "it says something else"
    # A newer value is durable at once, and that no word of the bot or a tool is.
    if not heard:
        return "only the bot or a tool says so"
    # What was learnt from talk has its place in the transcript, and windows come in its order; a command has only its
    # time. Old talk is no newer value of what somebody asked for later.
    record = notes.record(entry.id)
    if record and record.when and not record.sources and evidence.when:
        return (
            "it was asked for later" if datetime.fromisoformat(record.when) > evidence.when else ""
        )
    return ""


def _written(
    item: Learned,
    notes: Notes,
    replaced: tuple[Target, ...],
    evidence: Evidence,
    until: datetime | None,
    *,
    heard: bool,
) -> Iterator[Operation]:
    text = redacted(white_folded(item.text))[:_MOST_CHARS]
    expires = _end(text, evidence)
    trust = Trust.EXPLICIT if item.explicit and heard else Trust.INFERRED
    if replaced:
        yield Supersede(replaced, text, trust, evidence, "a newer value", item.kind, expires)
        return
    if standing := _standing(notes, text):
        yield Confirm(standing.target, evidence)
        return
    # What a person typed stays beside its newer value: recall shows the newer first, and a person decides.
    yield Add(item.kind, text, trust, evidence, until, item.confidence, expires)


def _end(text: str, evidence: Evidence) -> date | None:
    """The last day it holds; what ended before it was said or taken in is told as past, and stays."""
    end, told = lasts_until(text), evidence.learnt or evidence.when
    return end if end and told and end >= told.date() else None


def _standing(notes: Notes, text: str) -> Entry | None:
    return next(
        (
            e
            for e in notes.memory.entries
            if e.bullet and e.text != text and same_thought(e.text, text)
        ),
        None,
    )
