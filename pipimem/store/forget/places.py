"""The places where a channel may hold what is to be forgotten, one function each.

A function returns what its place holds of the targets, and without `dry_run` removes it. So what a
preview shows, what a receipt counts and what is removed is found by the same code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field, structs

from pipimem.errors import StoreError
from pipimem.notes.entry import content_id, record_name
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger, Record, Tombstone
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import Author, Change, Decision, LeftOut, Progress
from pipimem.state.changes import FORGET, ChangeRecord
from pipimem.state.rows import texts_in
from pipimem.state.texts import unpacked
from pipimem.store.caches import search_index
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.commit.commit import Recalls, commit
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.publish import is_unfinished, publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files
from pipimem.store.disk.files import TEMPORARY, put_whole, read_text, remove
from pipimem.store.disk.syscalls import read_whole
from pipimem.store.forget.archive import clean_archive, is_archive_being_saved
from pipimem.store.forget.past_texts import count_texts, edits_of_texts
from pipimem.store.forget.targets import (
    ForgetTargets,
    LineEdit,
    blanked_ledger,
    blanked_message,
    lines_that_go,
    without,
)
from pipimem.store.forget.traces import is_in_bytes
from pipimem.store.merge.forgotten_lines import mark_of
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import line, parsed
from pipimem.text.folding import folded_as_shown
from pipimem.text.json_codec import encoded

KINDS = (
    "entries",
    "archive",
    "versions",
    "messages",
    "changes",
    "ledger",
    "left_out",
    "left_behind",
)
"""The kinds of what a receipt counts."""
STATE = ".pipimem/state.db"
# Beside a note such a file is a text that waits for it, or what a person saved: a commit reads it.
_LEFT_BEHIND = (
    f"{STATE}.damaged*",
    f".pipimem/.*{TEMPORARY}",
    f".log*{TEMPORARY}",
)
_UNREADABLE = "*.md.unreadable*"
# Nothing is written where no time is given.
_NEVER = datetime.fromtimestamp(0, UTC)
# What an editor saves meanwhile is merged, and may hold the words again. Nobody saves more often
# than this.
_TRIES = 5


class Passage(Struct, frozen=True):
    """An entry of a file that would go, or lines of it that are none, as a heading.

    `record_name` is the entry's name in the ledger.
    """

    file: File
    section: str
    text: str
    record_name: str = ""


class Held(Struct, frozen=True):
    """How much a place holds of the targets: passages of notes, messages, or `count` of another.

    Of the messages in `named` the speaker alone is one.
    """

    kind: str
    place: str
    count: int
    passages: tuple[Passage, ...] = ()
    messages: tuple[Message, ...] = ()
    named: tuple[Message, ...] = ()


class Forgotten(Struct, frozen=True):
    """The receipt of a forgetting: how much held the words, by kind of place and by file."""

    counts: dict[str, int]
    places: dict[str, int]

    @classmethod
    def of(cls, found: Iterable[Held]) -> Forgotten:
        """Sum up what places hold."""
        counts, places = Counter(dict.fromkeys(KINDS, 0)), Counter[str]()
        for held in found:
            counts[held.kind] += held.count
            places[held.place] += held.count
        return cls(dict(counts), dict(places))

    @property
    def is_empty(self) -> bool:
        """Whether nothing held them."""
        return not self.places

    def __str__(self) -> str:
        return ", ".join(f"{count} in {kind}" for kind, count in self.counts.items() if count)


class Plan(Struct, frozen=True):
    """A forgetting under way, as the state keeps it: what is removed, and how much held it."""

    targets: ForgetTargets
    receipt: Forgotten = field(default_factory=lambda: Forgotten({}, {}))


class Forgetting(Struct, frozen=True):
    """A plan, and the channel that may hold its targets."""

    working_copy: WorkingCopy
    log: Transcript
    plan: Plan
    now: datetime = _NEVER

    @property
    def targets(self) -> ForgetTargets:
        """What is removed."""
        return self.plan.targets

    @property
    def own(self) -> Path:
        """The folder of the channel's state and caches."""
        return self.working_copy.folder / ".pipimem"

    def without(self, text: str) -> str:
        """Return a Markdown text without the targets."""
        return without(text, self.targets, self.working_copy.key)[0]


class EditorSavesError(StoreError):
    """An editor is saving one of the files: what is left to forget is left to a later writing."""


Place = Callable[[Forgetting, bool], list[Held]]


def in_caches(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Drop the caches that are made of texts. They count for nothing."""
    if not dry_run:
        drop_texts(channel.own)
    return []


def in_notes(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Remove entries and other lines of the notes, by a commit like any other.

    Raises `EditorSavesError` while a file is being saved, and `StoreError`.
    """
    held = [found for file in NOTE_FILES for found in _in_text(channel, file, "entries")]
    if not dry_run:
        _commit(channel)
    return held


def in_archive(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Clean the archive, behind the notes: what a commit archives is found by the old size."""
    held = _in_text(channel, File.ARCHIVE, "archive")
    copy = channel.working_copy
    if not dry_run and not clean_archive(copy.path(File.ARCHIVE), copy.root, channel.without):
        raise EditorSavesError(f"{copy.path(File.ARCHIVE)}: an editor is saving it.")
    return held


def in_talk(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Empty messages in all files of the transcript, and in the lines that `doctor` took out."""
    if channel.targets.keep_transcript:
        return []
    if dry_run:
        return [held for part in channel.log.files() for held in _in_part(channel, part, dry_run)]
    with channel.log.exclusive():
        # A search holds this lock alone, and may have written it since the caches went.
        search_index.drop(channel.own)
        return [held for part in channel.log.files() for held in _in_part(channel, part, dry_run)]


def in_left_behind(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Remove what nobody reads: what was set aside, and what a killed process left half-written.

    A note that was no text, and was set aside, goes only if it holds the targets.
    """
    folder = channel.working_copy.folder
    ours = [path for pattern in _LEFT_BEHIND for path in sorted(folder.glob(pattern))]
    paths = [*ours, *sorted(folder.glob(_UNREADABLE))]
    held = [path for path in paths if is_in_bytes(read_whole(path), channel.targets)]
    for path in {*ours, *held} if not dry_run else ():
        remove(path)
    return [Held("left_behind", path.relative_to(folder).as_posix(), 1) for path in held]


def in_state(channel: Forgetting, dry_run: bool) -> list[Held]:
    """Remove the targets from past texts, ledger and left-out items, and all changes, at once.

    The plan of the forgetting goes with it. Afterwards undo reaches no further back.
    """
    state, targets = channel.working_copy.state, channel.targets
    bodies, packed = state.past_lines()
    left_out = [one.number for one in state.all_left_out() if _holds(one.item, targets)]
    texts = ((etag, unpacked(ids) or ()) for etag, ids in packed)
    if dry_run:
        said = ("\n".join(texts_in(encoded(change))) for change in state.changes())
        counts = {
            "versions": count_texts(bodies, texts, targets),
            "changes": sum(map(targets.are_in, said)),
            "ledger": int(blanked_ledger(state.ledger, targets) != state.ledger),
            "left_out": len(left_out),
        }
        return [Held(kind, STATE, count) for kind, count in counts.items()]
    edits = edits_of_texts(bodies, texts, targets)
    gone = _collect_removed_lines(bodies, packed, edits)
    ledger = blanked_ledger(state.ledger, targets, channel.log.messages())
    marks = marks_of(gone, channel.working_copy.key)
    last = _last_change(channel, ledger)
    state.end_forgetting(last, ledger, edits, marks, left_out)
    channel.working_copy.clear()
    return []


VISIBLE: tuple[Place, ...] = (in_notes, in_archive, in_talk)
"""The places that people see, and so a preview shows."""
FILES: tuple[Place, ...] = (in_caches, *VISIBLE, in_left_behind)
"""All places but the state, which is cleaned last: it has the plan."""


def find_held(channel: Forgetting, places: Iterable[Place]) -> list[Held]:
    """Return what places hold, and remove nothing."""
    found = (held for place in places for held in place(channel, True))
    return [held for held in found if held.count or held.named]


def is_being_saved(working_copy: WorkingCopy) -> bool:
    """Return whether somebody is halfway through saving one of the files, or the archive."""
    if any(
        working_copy.is_locked_by_editor(file, working_copy.read_now(file)) for file in NOTE_FILES
    ):
        return True
    return is_archive_being_saved(working_copy.path(File.ARCHIVE), working_copy.root)


def marks_of(lines: Iterable[str], key: bytes) -> set[str]:
    """Return the marks of lines: a save that has them is merged without."""
    return {mark_of(key, line) for line in lines if line.strip()}


# ── notes ────────────────────────────────────────────────────────────────────────────────────────


def _in_text(channel: Forgetting, file: File, kind: str) -> list[Held]:
    copy = channel.working_copy
    blocks = channel.targets.held_in(read_text(copy.path(file), copy.root) or "")
    passages = tuple(
        Passage(
            file,
            block.section,
            block.removed,
            record_name(file, content_id(copy.key, block.entry)) if block.entry else "",
        )
        for block in blocks
    )
    entries = sum(bool(block.entry) for block in blocks)
    return [Held(kind, str(file), max(entries, 1), passages)] if passages else []


def _commit(channel: Forgetting) -> None:
    copy, now = channel.working_copy, channel.now
    decision = Decision(FORGET, Author.PERSON)

    def outcome(_: WorkingCopy, view: View) -> Outcome:
        return _outcome(channel, view.current)

    for _ in range(_TRIES):
        actor = channel.targets.actor
        commit(copy, decision, now, actor, now, Recalls(), insists=True, carry_out=outcome)
        # A commit leaves to others what the disk refused behind it; here it is raised.
        publish(copy, now)
        # Half of a save lacks words that its rest brings back.
        if is_unfinished(copy) or is_being_saved(copy):
            break
        if not find_held(channel, [in_notes]):
            return
    raise EditorSavesError(f"{copy.folder}: an editor is saving a file.")


def _outcome(channel: Forgetting, notes: Notes) -> Outcome:
    """Return the texts without the targets, and tombstones against learning them again."""
    targets, known = channel.targets, notes.ledger.records
    texts: dict[File, str] = {}
    records: dict[str, Record | None] = {}
    for file in NOTE_FILES:
        note = notes.note(file)
        kept = channel.without(note.text)
        if kept != note.text:
            texts[file] = kept
        records |= _records_after(note, targets, known, notes.key)
    stone = Tombstone("forgotten", channel.log.last_number)
    delta = Delta(records, dict.fromkeys(targets.entries, stone), forgets_asked=True)
    return Outcome(texts, delta=delta, changes=_changes_of(texts))


def _records_after(
    note: Note, targets: ForgetTargets, known: Mapping[str, Record], key: bytes
) -> dict[str, Record | None]:
    """Return what becomes of records: that of an entry without a quote goes to its new id."""
    names = (record_name(note.file, name) for name in targets.entries)
    records: dict[str, Record | None] = {name: None for name in names if name in known}
    for entry in note.entries if targets.lines else ():
        rest = targets.lines.get(folded_as_shown(entry.text))
        record = known.get(entry.record_name)
        if rest and record:
            name = record_name(note.file, content_id(key, rest))
            sources = tuple(source for source in record.sources if source not in targets.messages)
            records[name] = structs.replace(record, sources=sources)
    return records


def _changes_of(files: Iterable[File]) -> tuple[Change, ...]:
    """Return a change for each file that held something; none says what it was."""
    return tuple(Change("forgotten", file) for file in files)


# ── talk and state ───────────────────────────────────────────────────────────────────────────────


def _in_part(channel: Forgetting, part: Path, dry_run: bool) -> list[Held]:
    """Empty messages in a file of the transcript, which is rewritten whole or not at all."""
    lines = list(appended_files.lines(part))
    clean = [_blanked(data, channel.targets, channel.working_copy.key) for data in lines]
    changed = [data for data, kept in zip(lines, clean, strict=True) if data != kept]
    if changed and not dry_run:
        put_whole(part, b"".join(clean))
    return [_held_messages(channel.targets, part.name, changed)] if changed else []


def _blanked(data: bytes, targets: ForgetTargets, key: bytes) -> bytes:
    """Return a line of the transcript without the targets; empty if it is damaged and has one."""
    message = parsed(data)
    if message is None:
        return b"" if targets.are_in(data.decode("utf-8", "replace")) else data
    blank = blanked_message(message, targets, key)
    return data if blank == message else line(blank)


def _held_messages(targets: ForgetTargets, part: str, lines: Sequence[bytes]) -> Held:
    messages, named = list[Message](), list[Message]()
    for message in filter(None, map(parsed, lines)):
        is_emptied = blanked_message(message, targets).content != message.content
        (messages if is_emptied else named).append(message)
    return Held("messages", part, len(lines), (), tuple(messages), tuple(named))


def _holds(item: LeftOut, targets: ForgetTargets) -> bool:
    """Return whether a left-out item holds a target, or rests on a message that is emptied.

    An item that names no message may rest on any.
    """
    if not targets.messages.isdisjoint(item.sources) or (targets.are_named and not item.sources):
        return True
    return any(
        targets.are_in_block(text) for text in (item.text, item.reason, item.speaker) if text
    )


def _collect_removed_lines(
    bodies: Mapping[int, str],
    packed: Iterable[tuple[str, bytes]],
    edits: Mapping[str, Sequence[LineEdit]],
) -> set[str]:
    """Return the lines that past texts have no more after edits.

    `bodies` are all lines by id, `packed` are etags with packed ids of lines, `edits` are by etag.
    """
    removed: set[int] = set()
    for etag, ids in packed:
        if etag in edits:
            removed |= lines_that_go(unpacked(ids) or (), edits[etag])
    return {bodies.get(number, "") for number in removed}


def _last_change(channel: Forgetting, ledger: Ledger) -> ChangeRecord:
    """Return the change that ends a forgetting, which is the first that is kept then.

    It says how much was removed, and has the ledger.
    """
    progress = Progress(**{name: getattr(ledger, name) for name in PROGRESSED})
    receipt = channel.plan.receipt
    return ChangeRecord(
        ledger.sequence + 1,
        channel.now.isoformat(timespec="seconds"),
        FORGET,
        Author.PERSON,
        channel.targets.actor,
        str(receipt),
        changes=_changes_of(file for file in File if str(file) in receipt.places),
        delta=Delta(
            dict(ledger.records),
            dict(ledger.tombstones),
            ledger.jobs,
            progress,
            forgets_asked=True,
            settled=ledger.settled,
        ),
    )
