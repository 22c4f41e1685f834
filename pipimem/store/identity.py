"""Who a channel's folder belongs to, as `.pipimem/channel.json` says, and the making of it.

The file also keeps what must outlast the channel's state: how far its talk was consolidated, and
which texts are not to be learnt again.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from pipimem.errors import ChannelError, StoreError
from pipimem.notes.ledger import Ledger, Tombstone
from pipimem.store.disk import presence
from pipimem.store.disk.files import Stamp, put_whole, stamp
from pipimem.store.disk.folder_lock import FolderLock, MakeLock, WriteLock
from pipimem.store.disk.syscalls import (
    make_folder,
    raises_store_error,
    read_if_there,
    sync_folder,
)
from pipimem.text import json_lines
from pipimem.text.json_codec import decoded, encoded

FORMAT = 3
"""The number of the format of a channel's folder, as docs/reference/format.md has it."""
KEY_BYTES = 32

_log = logging.getLogger("pipimem")


class DamagedIdentity(ChannelError):
    """A `channel.json` that is no JSON of ours, or whose key does not have its checksum."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A channel: its id, its `kind`, its title, and the key of its entry ids.

    The kind is `dm` or `group`, or empty where no host gave one: then it counts as a group.
    `format` is that of its folder.
    """

    id: str
    kind: str
    title: str
    key: bytes = field(repr=False)
    format: int = FORMAT


class Kept(Struct, frozen=True):
    """What of a channel's ledger stands in `channel.json`, for the loss of its state.

    `tombstones` have by name the number of the newest message that a text is not learnt from.
    `newest` is the greatest number of a message in the ledger. `has_state` is whether the channel
    had a state.
    """

    cursor: int = 0
    tombstones: Mapping[str, int] = {}
    has_state: bool = False
    newest: int = 0

    @classmethod
    def of(cls, ledger: Ledger) -> Kept:
        """Return what is kept of a ledger."""
        stones = ledger.tombstones.items()
        upto = {name: stone.upto for name, stone in stones}
        return cls(ledger.cursor, upto, ledger.sequence > 0, ledger.newest_message)

    @property
    def ledger(self) -> Ledger:
        """The ledger of a channel that has lost its state."""
        stones = {name: Tombstone("", upto) for name, upto in self.tombstones.items()}
        at = self.cursor
        return Ledger(cursor=at, boundary=at, refreshed=at, epoch_start=at, tombstones=stones)


@dataclass(frozen=True, slots=True)
class _Saved:
    """The fields of `channel.json`; `key_sum` is the checksum of the key, which nobody may edit."""

    format: int
    id: str
    kind: str
    title: str
    key: str = field(repr=False)
    key_sum: str | None = None
    cursor: int = 0
    tombstones: Mapping[str, int] = field(default_factory=dict)
    has_state: bool = False
    newest: int = 0


def load(folder: Path) -> Identity | None:
    """Read who a folder belongs to; `None` where it has no `channel.json`.

    Raises `ChannelError` for one of a newer pipimem, `DamagedIdentity` for one that cannot be
    understood.
    """
    found = load_with_kept(folder)
    return found[0] if found else None


def load_with_kept(folder: Path) -> tuple[Identity, Kept] | None:
    """Read `channel.json`: whose folder it is, and what is kept of the ledger; raises as `load`."""
    path = _path(folder)
    data = read_if_there(path)
    if data is None:
        return None
    value = json_lines.value(data) or {}
    version = value.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise ChannelError(
            f"{path} was written by a newer pipimem (format {version}). Update pipimem."
        )
    try:
        saved = decoded(_Saved, value)
        if saved.format < 1 or saved.key_sum not in (None, _checksum(saved.key)):
            raise ValueError
        key = bytes.fromhex(saved.key)
    except ValueError as error:
        raise DamagedIdentity(
            f"{path} is damaged. Put it back from a backup. Without one remove it: the folder is "
            "then adopted again, its Markdown untouched; but its key is gone, so entries get other "
            "ids, and what was forgotten or deleted by hand may be learnt again from older talk."
        ) from error
    identity = Identity(saved.id, saved.kind, saved.title, key, saved.format)
    return identity, Kept(saved.cursor, saved.tombstones, saved.has_state, saved.newest)


def save(folder: Path, identity: Identity, kept: Kept) -> None:
    """Write `channel.json`, synced with its name."""
    write(folder, identity, kept)
    sync_folder(folder / ".pipimem")


def write(folder: Path, identity: Identity, kept: Kept) -> None:
    """Write `channel.json`, synced; its name is, once the folder is."""
    key = identity.key.hex()
    saved = _Saved(
        FORMAT,
        identity.id,
        identity.kind,
        identity.title,
        key,
        _checksum(key),
        kept.cursor,
        kept.tombstones,
        kept.has_state,
        kept.newest,
    )
    put_whole(_path(folder), json_lines.line(encoded(saved)))


def _checksum(key: str) -> str:
    return f"{zlib.crc32(key.encode()):08x}"


def derived_key(channel_id: str) -> bytes:
    """The key of a folder that has none saved: made of the id, so the same at each reading."""
    return blake2b(
        channel_id.encode("utf-8", "surrogatepass"),
        digest_size=KEY_BYTES,
        person=b"pipimem channel",
    ).digest()


def new(channel_id: str, kind: str, title: str, key: bytes | None, *, is_derived: bool) -> Identity:
    """A channel that has no `channel.json` yet, with a random key if none is given.

    A folder that is only read gets a key derived from the id, the same at each reading.
    """
    if key is None:
        key = derived_key(channel_id) if is_derived else os.urandom(KEY_BYTES)
    return Identity(channel_id, kind, title, key)


@dataclass(slots=True)
class ChannelFolder:
    """A folder that becomes a channel of ours, by `channel.json`, before it is first written to.

    `is_saved` is whether it is one already, not just a folder that people made.
    """

    folder: Path
    identity: Identity
    is_saved: bool
    lock: WriteLock = field(init=False)
    # The stamp of `channel.json` when locks last proved to hold here: a workspace may be moved to
    # another disk long after its channels were made, and people may delete `.pipimem/` at any time.
    settled: Stamp | None = None
    make_lock: MakeLock = FolderLock
    # What `channel.json` keeps of the ledger, as last read or written; `None` without that file.
    kept: Kept | None = None
    # Whether it was said that the state is gone.
    is_loss_told: bool = False

    def __post_init__(self) -> None:
        self.lock = self.make_lock(self.own / "lock")

    @property
    def own(self) -> Path:
        """Where our state lies."""
        return self.folder / ".pipimem"

    @property
    def is_deleted(self) -> bool:
        """Whether the folder was a channel of ours when last looked at, and is none any more."""
        return self.is_saved and stamp(_path(self.folder)) is None

    @raises_store_error
    def make_channel(self, timeout: float | None = None) -> bool:
        """Checks that locks hold, and writes `channel.json` where it is missing.

        To be called before each writing. Returns whether what was read of the folder before is of
        no use any more. Raises `StoreError`, for a lock that is held by others after `timeout`
        seconds, and `ChannelError` where it became another channel's.
        """
        if self.is_settled():
            return False
        try:
            return self._make_channel(timeout)
        except StoreError:
            if presence.is_folder(self.own):
                raise
            return self._make_channel(timeout)  # it was deleted at this very instant

    def is_settled(self) -> bool:
        """Return whether `channel.json` stands as it is known here, and locks hold.

        Takes no lock: the file is only ever replaced whole.
        """
        found = stamp(_path(self.folder))
        if found is None or found == self.settled:
            return found is not None
        if not self.is_saved or self._standing() != self.identity:
            return False
        if not self.lock.keeps_others_out:
            return False
        self.settled = found
        return True

    def lacks_title_alone(self) -> bool:
        """Return whether `channel.json` has all as it is known here, but another title."""
        standing = self._standing()
        if standing is None:
            return False
        return replace(standing, title=self.identity.title) == self.identity

    def _standing(self) -> Identity | None:
        try:
            return load(self.folder)
        except ChannelError:
            return None

    def _make_channel(self, timeout: float | None) -> bool:
        make_folder(self.own)
        if not self.lock.keeps_others_out:
            raise StoreError(
                f"{self.folder}: locks do not hold on this file system, so two processes would "
                "overwrite each other. Put the workspace on a local disk, or mount this one with "
                "locks."
            )
        with self.lock.held(timeout):
            is_another = self._agree()
        self.is_saved, self.settled = True, stamp(_path(self.folder))
        return is_another

    def _agree(self) -> bool:
        """Reads or writes `channel.json`: the key in it is taken over, and once saved all of it.

        Returns whether what was read was read under another key, or is gone.
        """
        try:
            found = load_with_kept(self.folder)
        except DamagedIdentity:
            if not self.is_saved:
                raise
            found = None
        if found is None:
            save(self.folder, self.identity, self.kept or Kept())
            if not self.is_saved:
                return False
            if not self.is_loss_told:
                self.is_loss_told = True
                _log.warning(
                    "%s was deleted or damaged while it was in use. It is made anew under the same "
                    "key; what was in no Markdown file (undo, recalls, what was deleted by hand) "
                    "is known as far as other files have it.",
                    _path(self.folder),
                )
            return not presence.exists(self.own / "state.db")
        standing, kept = found
        self.kept = kept
        if standing.id != self.identity.id:
            raise ChannelError(of_another(self.folder, standing.id, self.identity.id))
        is_another_key = standing.key != self.identity.key
        self.identity = standing if self.is_saved else replace(self.identity, key=standing.key)
        if self.identity != standing:
            save(self.folder, self.identity, kept)
        return is_another_key

    def keep_ledger(self, ledger: Ledger) -> None:
        """Write what must outlast the state to `channel.json`, where it is another than before.

        The caller holds the lock.
        """
        kept = Kept.of(ledger)
        # Without a change nothing was written, and a state that was lost before is still lost.
        if kept == self.kept or not kept.has_state:
            return
        write(self.folder, self.identity, kept)
        self.kept, self.settled = kept, stamp(_path(self.folder))


def _path(folder: Path) -> Path:
    return folder / ".pipimem" / "channel.json"


def of_another(folder: Path, known: str, wanted: str) -> str:
    """A sentence: the folder is not the wanted channel's."""
    return f"{folder} belongs to the channel {known!r}, not to {wanted!r}. Rename the folder."
