"""Whether journal, ledger and transcript of a channel fit together, and what was set aside."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipimem.errors import PipimemError
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author, Decision
from pipimem.store.caches import search as search_file
from pipimem.store.caches import stamped
from pipimem.store.channel import ChannelStore
from pipimem.store.checkup.finding import Finding, worth_knowing, wrong

_TASK = "doctor"
_EVER = datetime.fromtimestamp(0, UTC)


def state_findings(store: ChannelStore) -> Iterator[Finding]:
    """All there is to say about a channel's own state."""
    own = store.folder / ".pipimem"
    try:
        for record in store.journal_records():
            if record.author is Author.EDITOR:
                for note in record.notes:
                    yield worth_knowing(store.folder, f"{record.time}: {note}")
        for sentence in store.edit_notices(_EVER).brought_back:
            yield worth_knowing(store.folder, sentence)
        yield from _transcript(store)
        yield from _dangling(store)
        yield from _search(store)
    except (PipimemError, OSError) as error:
        yield wrong(own, str(error))
        return
    for hole in store.ledger.holes:
        said = f"messages {hole.first}–{hole.last} were set aside ({hole.reason})"
        yield wrong(
            store.folder,
            f"{said}; `pipimem consolidate --holes '{store.channel_id}'` tries them again",
        )


def _transcript(store: ChannelStore) -> Iterator[Finding]:
    if damaged := store.transcript.damaged():
        told = "1 line that is" if damaged == 1 else f"{damaged} lines that are"
        yield wrong(store.transcript.path, f"{told} no message; passed over")
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
    """Records of entries that stand no more, and entries that rest on messages nobody has."""
    records = store.notes().ledger.records
    standing = {entry.id for entry in store.notes().memory.entries}
    gone = tuple(name for name in records if ":" not in name and name not in standing)
    if gone:

        def drop(now: datetime) -> str:
            decision = Decision(_TASK, Author.RULE, why="records of entries that stand no more")
            outcome = Outcome(delta=Delta(records=dict.fromkeys(gone)))
            store.commit(decision, now, "pipimem", carry_out=lambda desk, view: outcome)  # noqa: ARG005 - the hook's signature
            return f"{len(gone)} records dropped; the journal has them"

        yield worth_knowing(
            store.folder, f"{len(gone)} records of entries that stand no more", drop
        )
    sources = {
        source for name, known in records.items() if name in standing for source in known.sources
    }
    if sources and (missing := sources - {message.id for message in store.transcript.messages()}):
        what = f"entries rest on {len(missing)} messages that the transcript does not have"
        yield worth_knowing(store.transcript.path, what)
