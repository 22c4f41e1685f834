"""Whether journal, ledger and transcript of a channel fit together, and what was set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pipimem.errors import PipimemError, UnreadableNote
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author, Decision
from pipimem.store.caches import search_index as search_file
from pipimem.store.caches import stamped
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import presence
from pipimem.store.disk.files import is_regular
from pipimem.store.health.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.health.older_journal import older_journal
from pipimem.store.history.edit_notices import edit_notices
from pipimem.store.journal.journal import Journal

_TASK = "doctor"
_EVER = datetime.fromtimestamp(0, UTC)


def state_findings(store: ChannelStore) -> Iterator[Finding]:
    """What is to be said about the journal, ledger, transcript and search index of a channel."""
    own = store.folder / ".pipimem"
    versions = own / "versions"
    if presence.exists(versions) and not presence.is_folder(versions):
        yield wrong(versions, "is no folder, so nothing can be written; move it away")
    try:
        yield from _no_files(versions)
        yield from _foreign_journal(store)
        older = older_journal(store)
        if older:
            yield older
            return
        past = store.past()
        if past.is_cut:
            yield _cut_journal(store)
        notices = edit_notices(store.channel_id, past, _EVER)
        for sentence in (*notices.shrunk, *notices.brought_back):
            yield worth_knowing(store.folder, sentence)
        yield from _transcript(store)
        yield from _dangling(store)
        yield from _search(store)
    except UnreadableNote:  # reported with the text
        return
    except (PipimemError, OSError) as error:
        yield wrong(own, str(error))
        return
    for hole in store.ledger.holes:
        what = f"messages {hole.first}–{hole.last} were set aside ({hole.reason})"
        mend = f"`pipimem consolidate --holes '{store.channel_id}'` tries them again"
        yield wrong(store.folder, f"{what}; {mend}")


def _no_files(versions: Path) -> Iterator[Finding]:
    """Folders, pipes and sockets that have the name of a kept text; links are told with access."""
    for path in sorted(versions.iterdir()) if presence.is_folder(versions) else ():
        if not is_regular(path) and not presence.is_link(path):
            yield wrong(path, "is no file, where a text of ours belongs; move it away")


def _foreign_journal(store: ChannelStore) -> Iterator[Finding]:
    journal = Journal(store.folder / ".pipimem")
    if journal.channel not in ("", store.folder.name):
        what = f"is the journal of another channel, {journal.channel}; move it back there"
        yield wrong(journal.path, what)


def _cut_journal(store: ChannelStore) -> Finding:
    """The journal lacks records that the checkpoint has: its end was cut off, or it is older."""

    def accept(now: datetime) -> str:
        store.journal_edits(now)
        return "the Markdown files count as they stand; a new checkpoint says so"

    what = (
        "ends before the checkpoint beside it, ledger.json: undo, log and blame lack what it lost. "
        "The Markdown files are whole. If you have a copy with more, put it back before anything "
        "is written; else the next change goes on from the files as they stand"
    )
    return wrong(Journal(store.folder / ".pipimem").path, what, accept)


def _transcript(store: ChannelStore) -> Iterator[Finding]:
    damaged = store.transcript.damaged()
    if damaged:
        lines = "1 line that is" if damaged == 1 else f"{damaged} lines that are"
        yield wrong(store.transcript.path, f"{lines} no message; passed over")
    if store.ledger.cursor > store.transcript.last_number:
        what = "the transcript ends before what was consolidated; a part of log.jsonl is missing"
        yield wrong(store.transcript.path, what)


def _search(store: ChannelStore) -> Iterator[Finding]:
    own = store.folder / ".pipimem"
    if not stamped.is_whole(own / search_file.NAME):

        def drop(_now: datetime) -> str:
            search_file.drop(own)
            return "removed; the next search makes it anew"

        what = "damaged; searches pass it over, and the next one over much talk makes it anew"
        yield worth_knowing(own / search_file.NAME, what, drop)


def _dangling(store: ChannelStore) -> Iterator[Finding]:
    """Records of entries that are gone, and entries learnt from messages that are gone."""
    notes = store.notes()
    standing = {entry.id for entry in notes.memory.entries}
    names = [name for name in notes.ledger.records if ":" not in name]
    gone = [name for name in names if name not in standing]
    if gone:
        what = f"{len(gone)} records of entries that stand no more"
        yield worth_knowing(store.folder, what, _dropping(store, gone))
    yield from _without_messages(store, [name for name in names if name in standing])


def _without_messages(store: ChannelStore, names: Sequence[str]) -> Iterator[Finding]:
    """How many of the messages that these entries were learnt from are gone."""
    records = store.notes().ledger.records
    missing = {source for name in names for source in records[name].sources}
    if missing:
        missing -= {message.id for message in store.transcript.messages()}
    if missing:
        what = f"entries rest on {len(missing)} messages that the transcript does not have"
        yield worth_knowing(store.transcript.path, what)


def _dropping(store: ChannelStore, names: Sequence[str]) -> Mend:
    """Removes these records from the ledger, as a commit."""

    def drop(now: datetime) -> str:
        decision = Decision(_TASK, Author.RULE, why="records of entries that stand no more")
        outcome = Outcome(delta=Delta(records=dict.fromkeys(names)))

        def carry_out(*_: object) -> Outcome:
            return outcome

        store.commit(decision, now, "pipimem", carry_out=carry_out)
        return f"{len(names)} records dropped; the journal has them"

    return drop
