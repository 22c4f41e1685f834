"""The archive without what is forgotten, whoever saves it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import File, etag
from pipimem.notes.operations import Author
from pipimem.state.changes import ChangeRecord
from pipimem.state.texts import ETAG_LENGTH
from pipimem.store.commit.manual_edits import removed_again
from pipimem.store.commit.publish import merged_displaced, read_when_closed, temporaries_beside
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.editor_saves import is_recent
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.fencing import HALF
from pipimem.store.disk.files import (
    prepare,
    read,
    remove,
    resolved,
    stamp,
    tag_of,
    temporary_for,
)
from pipimem.store.disk.syscalls import sync_folder
from pipimem.store.merge.forgotten_lines import mark_of, without_forgotten_lines
from pipimem.store.merge.three_way import only_added
from pipimem.text.markdown.lines import split_lines

# A person cannot save more often between a reading and the exchange right after it, a script might.
_ARCHIVE_TRIES = 10


def clean_archive(path: Path, root: Path, left: Callable[[str], str]) -> bool:
    """Bring the archive to `left(text)`; return whether it is so, with nothing beside it.

    As in a commit the new text is prepared, the two trade places, and what was displaced is read
    once nobody writes to it. What a person saved there meanwhile is merged, and goes through `left`
    too. False where somebody is saving: whoever tries again goes on. The caller holds the lock.
    """
    target = resolved(path, root)
    for _ in range(_ARCHIVE_TRIES):
        if is_archive_being_saved(path, root):
            return False
        leftovers = temporaries_beside(target)
        if leftovers:
            if not all(_takes_in(leftover, path, root, left) for leftover in leftovers):
                return False
            continue  # what was merged has displaced another text
        reading = read(path, root)
        if reading is None:
            return True
        wanted = left(reading.text)
        if wanted == reading.text:
            return True
        _exchange(target, wanted, wanted)
    return False


def clean_archive_again(working_copy: WorkingCopy, now: datetime) -> None:
    """Remove forgotten lines that an older buffer of an editor brought back into the archive.

    That is recorded. A line that the notes had since is archived anew, and stays. Looks only where
    the archive changed since the last look.
    """
    path = working_copy.path(File.ARCHIVE)
    state = working_copy.state
    mark = stamp(path)
    if not state.forgotten_lines or mark is None or mark == working_copy.archive_seen:
        return
    counts = [0]

    def without_forgotten(text: str) -> str:
        key, forgotten = working_copy.key, state.forgotten_lines
        marked = {line for line in split_lines(text) if mark_of(key, line) in forgotten}
        anew = "".join(filter(state.has_line, marked))
        save = without_forgotten_lines(text, mark[0], anew, key, forgotten)
        counts.append(save.removed)
        return save.text

    with suppress(UnreadableNote):
        if not clean_archive(path, working_copy.root, without_forgotten):
            return
    if any(counts):
        time, why = now.isoformat(timespec="seconds"), removed_again(File.ARCHIVE, max(counts))
        record = ChangeRecord(state.ledger.sequence + 1, time, "edit", Author.EDITOR, why=why)
        state.append([record], ())
    working_copy.archive_seen = stamp(path)


def is_archive_being_saved(path: Path, root: Path) -> bool:
    """Return whether somebody is, or seems to be, halfway through saving the archive."""
    reading = read(path, root)
    if reading is None:
        return False
    # All that we add to the archive ends with a line.
    is_cut = not reading.text.endswith(("\n", "\r"))
    return reading.is_open or (is_cut and is_recent(reading.stamp[0] / 10**9))


def _exchange(target: Path, text: str, expected: str) -> Path:
    """Put a text in the archive's place; return the path where it was prepared.

    The name has the etag of `expected`, the text without the forgotten words that it displaces if
    nobody saves in between: by it the next look tells whether somebody did.
    """
    ready = temporary_for(target, etag(expected))
    prepare(ready, target, text)
    displace(ready, target)
    sync_folder(target.parent)
    return ready


def _takes_in(leftover: Path, path: Path, root: Path, left: Callable[[str], str]) -> bool:
    """Merge what an exchange displaced, here or before a crash, then remove it.

    Returns False, and leaves it where it is, while somebody still writes to it.
    """
    target = resolved(path, root)
    if tag_of(leftover, target).startswith(HALF):
        remove(leftover)  # written by us, and never exchanged
        return True
    try:
        displaced, standing = read_when_closed(leftover, root), read(path, root)
    except UnreadableNote:
        displace(leftover, target)  # back in its place: whoever saved it is told
        raise
    if displaced is None:
        return True
    if displaced.is_open:
        return False
    text = standing.text if standing else ""
    merged = _merged(left(text), left(displaced.text), tag_of(leftover, target)[:ETAG_LENGTH])
    # The text that is merged may be prepared under the same name, and displaces another one to it.
    if merged == text or _exchange(target, merged, left(text)) != leftover:
        remove(leftover)
    return True


def _merged(standing: str, displaced: str, tag: str) -> str:
    """Return the archive with what a displaced text adds; neither has the forgotten words.

    `tag` begins the etag of the text that was expected to be displaced. Where the archive is that
    text still, the displaced one differs from it by a person's hand alone; where it is another,
    nothing counts as deleted.
    """
    if etag(displaced).startswith(tag):
        return standing
    if etag(standing).startswith(tag):
        return merged_displaced(standing, standing, displaced)
    return only_added(standing, standing, displaced)
