"""Whether the files that pipimem keeps for itself fit together, and what a crash left behind."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from pipimem.errors import LockTimeout, PipimemError, UnreadableNote
from pipimem.notes.kinds import File
from pipimem.notes.ledger import QuoteReason
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.appended_files import parts
from pipimem.store.disk.files import TEMPORARY, read_text
from pipimem.store.disk.folder_lock import FolderLock, locks_hold
from pipimem.store.forget.forget import is_under_way
from pipimem.store.health.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.history.edit_notices import edit_notices
from pipimem.store.transcript.log import DAMAGED as DAMAGED_LINES
from pipimem.store.transcript.log import LOCK
from pipimem.store.workspace import WorkspaceStore
from pipimem.store.workspace_state import DAMAGED

_NOTE = r"(?:SESSION|MEMORY|HISTORY|HISTORY\.archive)"
# Copies beside a note, of vim, emacs, editors that keep a backup, git and sync clients.
_COPY_NAMES = (
    rf"\.{_NOTE}\.md\.sw[a-p]",
    rf"{_NOTE}\.md~",
    rf"#{_NOTE}\.md#",
    rf"{_NOTE}\.md\.(?:bak|orig|rej)",
    rf"{_NOTE}.*conflict.*\.md",
    rf"{_NOTE} ?\(.*\)\.md",
)
_COPIES = re.compile("|".join(_COPY_NAMES), re.IGNORECASE)


def leftover_findings(store: ChannelStore) -> Iterator[Finding]:
    """Files that should not be there, and commits that have not reached their files."""
    folder, own = store.folder, store.folder / ".pipimem"

    def finish(now: datetime) -> str:
        store.record_edits(now)
        return "what was cut off was finished, the rest swept"

    waiting = tuple(f".{file}." for file in _unreadable_notes(store))
    left = [path for path in folder.glob(f".*{TEMPORARY}") if not path.name.startswith(waiting)]
    left += folder.glob(f".pipimem/**/.*{TEMPORARY}")
    if left:
        what = f"{len(left)} unfinished files of a process that ended; the next writing clears them"
        yield worth_knowing(folder, what, finish)
    yield from _unreadable(folder, store.workspace.root)
    yield from _waiting(store)
    yield from _forgetting(store, finish)
    yield from _kept_beside(folder)
    for name in ("lock", LOCK):
        yield from _lock(own / name)


def _kept_beside(folder: Path) -> Iterator[Finding]:
    """Files that were set aside, or left by an editor, and that nobody reads."""
    beside: tuple[tuple[Iterable[Path], str], ...] = (
        (
            folder.glob(".pipimem/state.db.damaged*"),
            "a state that was damaged, or another channel's, and was set aside. Nobody reads it; "
            "the next forgetting removes it",
        ),
        (
            parts(folder / DAMAGED_LINES),
            "lines that were taken out of the transcript, for they are no messages. Only `forget` "
            "reads them; remove the file when you need it no more",
        ),
        (
            (path for path in folder.iterdir() if _COPIES.fullmatch(path.name)),
            "a copy beside a note; nobody reads it. Take over what it has, and remove it",
        ),
        (
            folder.glob("*.md.unreadable*"),
            "a note that was no text; nobody reads it. Take over what it has, and remove it",
        ),
    )
    for paths, what in beside:
        for path in sorted(paths):
            yield worth_knowing(path, what)


def database_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """Damage of the workspace's database, and files that were set aside."""
    state = workspace.state
    path, damage = state.path, state.database.damage()

    def begin_anew(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        kept = state.set_damaged_aside()
        return f"it is kept as {kept.name}, and a new one is begun" if kept else "mended meanwhile"

    if damage:
        what = f"is damaged ({damage}). A new one is begun once it is set aside"
        yield wrong(path, what, begin_anew)
    for path in sorted(state.folder.glob(f"*{DAMAGED}*")):
        what = "was set aside, since it is damaged: sums of calls, and today's budgets, lack what "
        more = "it holds. Remove it when you need it no more"
        yield worth_knowing(path, what + more)


def _unreadable_notes(store: ChannelStore) -> Collection[File]:
    """Return the notes that are no text: what waits for them is reported with them."""
    try:
        return store.unreadable()
    except PipimemError:  # reported with the state
        return ()


def removal_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """What a crash left of channels that were removed."""

    def finish(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        workspace.finish_removals()
        return "it is gone"

    try:
        left = workspace.removed()
    except PipimemError as error:
        yield wrong(workspace.root / ".pipimem", str(error))
        return
    if left:
        what = "holds what is left of removed channels: the process that deleted them ended"
        yield wrong(left[0].parent, what, finish)


def _waiting(store: ChannelStore) -> Iterator[Finding]:
    """Talk that a host kept beside the transcript, while the hosts could not agree who writes."""
    count = sum(1 for _ in store.transcript.spooled())
    if not count:
        return

    def take_in(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        store.take_in_spool()
        return "the messages stand in the transcript"

    what = f"{count} messages wait beside the transcript; the next writing takes them in"
    yield worth_knowing(store.folder / ".pipimem" / "spool", what, take_in)


def _unreadable(folder: Path, root: Path) -> Iterator[Finding]:
    """Files beside a note that wait to be merged and are no text: writing is refused."""
    for path in sorted(folder.glob(f".*{TEMPORARY}")):
        try:
            read_text(path, root)
        except PipimemError as error:
            what = "Writing is refused while it lies there: take over what it has, and move it away"
            yield wrong(path, f"{error} {what}")


def _forgetting(store: ChannelStore, finish: Mend) -> Iterator[Finding]:
    try:
        with store.reading() as working_copy:
            is_cut_off = is_under_way(working_copy)
    except PipimemError:  # reported with the state
        return
    if is_cut_off:
        what = "a forgetting was cut off; any writing, such as `pipimem consolidate`, finishes it"
        yield wrong(store.folder, what, finish)


def _lock(path: Path) -> Iterator[Finding]:
    """A lock that does not hold or is held; none is stale: the system frees it with its process."""
    if not os.path.lexists(path):
        return
    try:
        if not locks_hold(path):
            what = "locks do not hold on this file system: put the workspace on a local disk, "
            yield wrong(path, f"{what}before two write")
        with FolderLock(path).held(timeout=0.0):
            pass
    except LockTimeout:
        yield worth_knowing(path, "another process is writing to this channel right now")
    except PipimemError as error:
        yield wrong(path, str(error))


_EVER = datetime.fromtimestamp(0, UTC)


def state_findings(store: ChannelStore) -> Iterator[Finding]:
    """Yield what is to be said about the state and the transcript of a channel."""
    try:
        yield from _damage(store)
        notices = edit_notices(store.channel_id, store.past(), _EVER)
        for sentence in (*notices.shrunk, *notices.brought_back):
            yield worth_knowing(store.folder, sentence)
        yield from _transcript(store)
        yield from _lost_records(store)
        yield from _without_messages(store)
    except UnreadableNote:  # reported with the text
        return
    except (PipimemError, OSError) as error:
        yield wrong(store.folder / ".pipimem", str(error))
        return
    for hole in store.ledger.holes:
        what = f"messages {hole.first}–{hole.last} were set aside ({hole.reason})"
        mend = f"`pipimem consolidate --holes '{store.channel_id}'` tries them again"
        yield wrong(store.folder, f"{what}; {mend}")


def _damage(store: ChannelStore) -> Iterator[Finding]:
    """Yield what is wrong with the state: what SQLite finds, or texts that are not as they were."""
    with store.reading() as working_copy:
        state = working_copy.state
        found = state.damage()

    def begin_anew(now: datetime) -> str:
        store.set_state_aside()
        store.record_edits(now)
        return "set aside; the notes count as they stand"

    if found:
        what = f"damaged ({found}); notes and talk are whole, undo may lack something"
        yield wrong(store.folder / ".pipimem" / "state.db", what, begin_anew)


def _transcript(store: ChannelStore) -> Iterator[Finding]:
    damaged = store.transcript.damaged()
    if damaged:
        lines = "1 line that is" if damaged == 1 else f"{damaged} lines that are"
        what = f"{lines} no message; passed over. `pipimem doctor --fix` moves such lines "
        more = f"into {DAMAGED_LINES} beside it"
        yield wrong(store.transcript.path, what + more, _setting_lines_aside(store))
    if store.ledger.cursor > store.transcript.last_number:
        what = "the transcript ends before what was consolidated; a part of log.jsonl is missing"
        yield wrong(store.transcript.path, what)


def _setting_lines_aside(store: ChannelStore) -> Mend:
    def set_aside(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        with store.channel_folder.lock.held():
            count = store.transcript.set_damaged_aside()
        lines = "1 line" if count == 1 else f"{count} lines"
        return f"{lines} moved into {DAMAGED_LINES}"

    return set_aside


def _lost_records(store: ChannelStore) -> Iterator[Finding]:
    """Yield how many entries nobody is known to have said, since the state was lost."""
    records = store.notes().ledger.records.values()
    lost = sum(record.quote_reason == QuoteReason.LOST for record in records)
    if lost:
        what = f"nobody knows who said {lost} entries, for the state was lost: they bind nobody. "
        more = "Put state.db back from a backup; else what somebody says again counts"
        yield worth_knowing(store.folder, what + more)


def _without_messages(store: ChannelStore) -> Iterator[Finding]:
    """Yield how many of the messages that entries were learnt from are gone."""
    notes = store.notes()
    records = filter(None, (notes.record(entry.id) for entry in notes.memory.entries))
    missing = {source for record in records for source in record.sources}
    if missing:
        missing -= {message.id for message in store.transcript.messages()}
    if missing:
        what = f"entries rest on {len(missing)} messages that the transcript does not have"
        yield worth_knowing(store.transcript.path, what)
