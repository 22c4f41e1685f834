"""What of MEMORY.md a prompt shows: all while it is small, else what the window may change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry
from pipimem.text.dates import mentioned
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import shared_words

PLANS = (Kind.OPEN_LOOP, Kind.ONGOING)
# People tell what came of a plan within days, or not at all.
NO_NEWS_DAYS = 14
# After so long nobody asks for it: it is recalled where a question is about it, and shown nowhere.
STALE_DAYS = 60


def days_past(kind: str | None, text: str, said: datetime, today: date) -> int:
    """The days since the last day that a plan names; 0 for what is no plan, or names none.

    A day that was past when the plan was `said` is none of the plan's: "works there since May".
    """
    if kind not in PLANS:
        return 0
    last = max((span.end for span in mentioned(words_said(text), said)), default=None)
    if last is None or last < said.date():
        return 0
    return max(0, (today - last).days)


# About 4,000 tokens: a prompt with a full window stays within 16,000.
_MOST_CHARS = 12_000
# What the talk is about is what it changes or repeats; plans end, the newest is told of again, and
# what binds is contradicted in other words. Then the nearest of the rest take what is left.
_NEAREST, _PLANS, _NEWEST, _BINDING = 0.4, 0.2, 0.15, 0.15
_BINDING_KINDS = (Kind.CONSTRAINT, Kind.DECISION, Kind.PREFERENCE, Kind.IDENTITY)


def known(
    notes: Notes, now: datetime, about: str = "", chars: int = _MOST_CHARS
) -> tuple[KnownEntry, ...]:
    """The bullets of MEMORY.md in file order, those that fit into `chars`.

    Of too many: what shares rare words with `about`, open plans, the newest, what binds. Plans of
    which there was no news come last, stale ones only among the nearest to `about`.
    """
    bullets = [entry for entry in notes.memory.entries if entry.bullet and entry.ordinal == 1]
    past = {entry.start: _days_past(notes, entry, now) for entry in bullets}
    if sum(len(entry.text) for entry in bullets) > chars:
        chosen = _chosen(_groups(notes, bullets, past, about), chars)
        bullets = [entry for entry in bullets if entry.start in chosen]
    return tuple(_shown(notes, entry, now, past[entry.start]) for entry in bullets)


def newest_within(texts: Sequence[str], chars: int) -> tuple[str, ...]:
    """As many of the last texts as have `chars` characters together, in their order."""
    first, room = len(texts), chars
    while first and len(texts[first - 1]) <= room:
        first -= 1
        room -= len(texts[first])
    return tuple(texts[first:])


def targets(notes: Notes) -> dict[str, Target]:
    """The entries that an answer may name, by id."""
    return {entry.id: entry.target for entry in reversed(notes.memory.entries) if entry.bullet}


def _groups(
    notes: Notes, bullets: Sequence[Entry], past: Mapping[int, int], about: str
) -> Iterable[tuple[Sequence[Entry], float]]:
    """The bullets by what speaks for them, best first, and the share of the room for each group.

    `past` says how many days the plan that starts at a line is past.
    """
    nearest, touched = _by_shared_words(bullets, about)
    starts = {entry.start for entry in touched}
    newest = sorted(bullets, key=lambda entry: (_when(notes, entry), entry.start), reverse=True)
    newest = [entry for entry in newest if past[entry.start] <= NO_NEWS_DAYS]
    rest = [entry for entry in nearest if past[entry.start] <= STALE_DAYS]
    # The talk may say at last what came of a plan that there was no news of.
    plans = [entry for entry in rest if entry.start in starts or past[entry.start] <= NO_NEWS_DAYS]
    rest.sort(key=lambda entry: past[entry.start] > NO_NEWS_DAYS)
    return (
        (touched, _NEAREST),
        (_of_kinds(plans, PLANS), _PLANS),
        (newest, _NEWEST),
        (_of_kinds(nearest, _BINDING_KINDS), _BINDING),
        (rest, 1.0),
    )


def _by_shared_words(bullets: Sequence[Entry], about: str) -> tuple[list[Entry], list[Entry]]:
    """The bullets, nearest to `about` first, and those of them that share a word with it."""
    shared = shared_words([entry.text for entry in bullets], about)
    order = sorted(range(len(bullets)), key=lambda place: (-shared[place], -place))
    return [bullets[place] for place in order], [bullets[place] for place in order if shared[place]]


def _of_kinds(entries: Iterable[Entry], kinds: Collection[Kind]) -> list[Entry]:
    return [entry for entry in entries if kind_of(entry.section) in kinds]


def _chosen(groups: Iterable[tuple[Sequence[Entry], float]], chars: int) -> set[int]:
    """Where the entries start that fit, each group within its share of `chars`."""
    chosen: set[int] = set()
    left = chars
    for group, share in groups:
        room = min(left, int(chars * share))
        left -= room
        for entry in group:
            if entry.start not in chosen and len(entry.text) <= room:
                chosen.add(entry.start)
                room -= len(entry.text)
        left += room
    return chosen


def _when(notes: Notes, entry: Entry) -> float:
    record = notes.record(entry.id)
    return datetime.fromisoformat(record.when).timestamp() if record and record.when else 0.0


def _days_past(notes: Notes, entry: Entry, now: datetime) -> int:
    """How long a plan's day is past; 0 for what a person typed: theirs is shown as it stands."""
    record = notes.record(entry.id)
    if record is None or not record.when:
        return 0
    said = datetime.fromisoformat(record.when)
    return days_past(kind_of(entry.section), entry.text, said, now.date())


def _shown(notes: Notes, entry: Entry, now: datetime, past: int) -> KnownEntry:
    record = notes.record(entry.id)
    if record is None:
        return KnownEntry(entry.id, entry.section, entry.text)
    age = (now - datetime.fromisoformat(record.when)).days if record.when else None
    trust = Trust(record.trust)
    awaits = record.awaits_second_voice
    no_news = past > NO_NEWS_DAYS
    return KnownEntry(entry.id, entry.section, entry.text, trust, age, no_news, awaits)
