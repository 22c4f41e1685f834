"""The manifest of an archive: which files it holds, of whom, and their checksums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from msgspec import Struct, field

from pipimem.errors import ArchiveError
from pipimem.notes.kinds import File
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.workspace import USER_FILES
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded

NAME = "manifest.json"
"""The member of an archive that says what the others are."""
FORMAT = 2
"""The format of an archive. One of format 1 holds channels of an older format."""
STATE_PATH = ".pipimem/state.db"
"""The path of the state in a channel's folder."""
SHARED = "shared/"
"""What the names of files that belong to no channel begin with."""
CHANNELS = "channels/"
SETTINGS = "pipimem.toml"

_DIGEST_BYTES = 32
_NOTES = "|".join(re.escape(file) for file in File)
# Nothing else is a channel's: locks and caches stay where they are, and no path leads elsewhere.
_OF_A_CHANNEL = re.compile(
    rf"{_NOTES}|log(-\d{{4,9}})?\.jsonl"
    r"|\.pipimem/(channel\.json|state\.db|recall\.json|off_the_record\.json)"
)
# What an archive of an older pipimem holds besides.
_OLD_STATE = re.compile(
    r"\.pipimem/(ledger\.json|journal(-\d{4,9})?\.jsonl|versions/[A-Za-z.]{1,40}\.[0-9a-f]{16})"
)
_OF_THE_WORKSPACE = re.compile(
    "|".join(map(re.escape, (*USER_FILES, SETTINGS)))
    + r"|prompts/[a-z_-]{1,60}\.md|\.pipimem/usage-\d{4}-\d{2}(~[A-Za-z0-9._-]{1,64})?\.jsonl"
)


class PackedFile(Struct, frozen=True):
    """A file of an archive: its place in its folder, its bytes, and their BLAKE2b (32 bytes)."""

    path: str
    size: int
    digest: str


class PackedChannel(Struct, frozen=True):
    """A channel of an archive, under its true id."""

    id: str
    folder: str
    kind: str
    title: str = ""
    files: tuple[PackedFile, ...] = ()

    @property
    def prefix(self) -> str:
        """What the names of its members begin with."""
        return f"{CHANNELS}{self.folder}/"


class Manifest(Struct, frozen=True):
    """All that an archive holds; `made` is the time it was made, ISO 8601."""

    format: int = 0
    version: str = ""
    made: str = ""
    channels: tuple[PackedChannel, ...] = ()
    shared: tuple[PackedFile, ...] = field(default=())

    def members(self) -> Iterator[tuple[str, PackedFile]]:
        """Each file under the name that it has in the archive."""
        for one in self.shared:
            yield SHARED + one.path, one
        for channel in self.channels:
            for one in channel.files:
                yield channel.prefix + one.path, one

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(one.size for _, one in self.members())


def is_of_a_channel(path: str) -> bool:
    """Whether a path in a channel's folder is one that an export takes along."""
    return _OF_A_CHANNEL.fullmatch(path) is not None


def is_of_the_workspace(path: str) -> bool:
    """Whether a path in the workspace is one that belongs to all channels and is taken along."""
    return _OF_THE_WORKSPACE.fullmatch(path) is not None


def written(manifest: Manifest) -> bytes:
    """The manifest as JSON."""
    return json_lines.line({"pipimem": "archive", **encoded(manifest)})


def read_manifest(data: bytes) -> Manifest:
    """The manifest in some bytes, with every name in it checked.

    Raises `ArchiveError` for what is none, for a newer format, and for a name that leads elsewhere
    than a file of ours in the folder of its channel.
    """
    value = json_lines.value(data)
    if value is None or value.get("pipimem") != "archive":
        raise ArchiveError(f"its {NAME} is not one of pipimem's")
    number = value.get("format")
    if isinstance(number, int) and number > FORMAT:
        raise ArchiveError(f"a newer pipimem made it (format {number}); update pipimem")
    try:
        manifest = decoded(Manifest, value)
    except CodecError as error:
        raise ArchiveError(f"its {NAME} is damaged ({error})") from error
    _refuse_strange_names(manifest)
    return manifest


def _refuse_strange_names(manifest: Manifest) -> None:
    for one in manifest.shared:
        if not is_of_the_workspace(one.path):
            raise ArchiveError(f"it holds {one.path!r}, which is no file of a workspace")
    for channel in manifest.channels:
        if not channel.id or channel.folder != folder_name(channel.id):
            raise ArchiveError(f"{channel.folder!r} is not the folder of channel {channel.id!r}")
        for one in channel.files:
            if not _may_be_in_a_channel(one.path, manifest.format):
                raise ArchiveError(f"it holds {one.path!r}, which is no file of a channel")
    _refuse_doubles(name for name, _ in manifest.members())


def _may_be_in_a_channel(path: str, version: int) -> bool:
    is_old = version == 1 and _OLD_STATE.fullmatch(path) is not None
    return is_of_a_channel(path) or is_old


def _refuse_doubles(names: Iterable[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise ArchiveError(f"it names {name!r} twice")
        seen.add(name)


def new_digest() -> blake2b:
    """What the checksum of a file is taken with."""
    return blake2b(digest_size=_DIGEST_BYTES)
