"""Texts on disk: links followed within the workspace, read with care, replaced whole."""

from __future__ import annotations

import errno
import os
import stat
from itertools import count
from pathlib import Path

from msgspec import Struct

from pipimem.errors import StoreError, UnreadableNote
from pipimem.store.disk import presence
from pipimem.store.disk.editor_saves import Lease, is_wanted, leased
from pipimem.store.disk.fencing import check_fence, draft_tag
from pipimem.store.disk.presence import first_unused
from pipimem.store.disk.syscalls import (
    BINARY,
    CLOSE_ON_EXEC,
    FILE_MODE,
    NO_FOLLOW,
    NO_WAIT,
    read_whole,
    store_errors,
    write_whole,
)

_CHANNELS = "channels"


def real_path(path: Path) -> Path:
    """Returns a path with every link in it followed.

    Raises `UnreadableNote` for links that lead round in a circle.
    """
    # Of a circle `Path.resolve` tells before Python 3.13 only, later ones give a path as this does.
    real = Path(os.path.realpath(path))
    try:
        real.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableNote(
                f"{path} is a link that leads back to itself. Move it away."
            ) from error
    return real


def resolved(path: Path, root: Path) -> Path:
    """The file behind a path: a link is followed where it leads nowhere it may not.

    Raises `UnreadableNote`.
    """
    if not presence.is_link(path):
        return path
    target = real_path(path)
    place = astray(path, target, root)
    if place:
        raise UnreadableNote(f"{path} is a link that leads {place}. Put a real file there.")
    return target


def astray(path: Path, target: Path, root: Path) -> str:
    """Where a link at `path` to the real path `target` leads that it must not; else empty."""
    if not target.is_relative_to(root.resolve()):
        return f"out of the workspace, to {target}"
    if leads_to_another_channel(path, target, root):
        return f"into the folder of another channel, to {target}"
    return ""


def leads_to_another_channel(path: Path, target: Path, root: Path) -> bool:
    """Whether the real path `target` lies in the folder of a channel that `path` is not in."""
    real_root = root.resolve()
    own = _channel(real_path(path.parent) / path.name, real_root)
    return _channel(target, real_root) not in ("", own)


def _channel(path: Path, root: Path) -> str:
    """The name of the channel's folder that a real path lies in, empty for none."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return parts[1] if len(parts) > 1 and parts[0] == _CHANNELS else ""


Stamp = tuple[int, int, int, int]
"""Modification time, size, inode, and the time of the last change of any kind; times in ns.

The same stamp says that nothing changed. Another one says nothing: the file may have grown, or be
another one. Nobody can set the last of the times.
"""
NEVER: Stamp = (-1, -1, -1, -1)
"""The stamp of no file, and not `None` either: that a file is absent is something seen."""

# A person's notes end long before; beyond it parsing alone would stall a bot.
_LARGEST = 16 * 1024 * 1024
TEMPORARY = ".pipimem-tmp"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | CLOSE_ON_EXEC | BINARY


class TextFile(Struct, frozen=True):
    """A text and the stamp of the file it was read from.

    `is_open` where somebody was writing to it meanwhile, so that it may be half of a text.
    `problem` says why a file is no text; then `text` is what it had before.
    """

    text: str
    stamp: Stamp
    is_open: bool = False
    problem: str = ""


def stamp(path: Path) -> Stamp | None:
    """The stamp of a file, `None` where there is none."""
    with store_errors("read", path):
        try:
            return _stamp(path.stat())
        # Nothing else: a text that waits would count as arrived, and the older one in its file as a
        # person's.
        except (FileNotFoundError, NotADirectoryError):
            return None


def stamp_of_note(path: Path) -> Stamp | None:
    """The stamp of a note; of a link that leads back to itself that of the link.

    `read` says what is wrong with it.
    """
    try:
        return stamp(path)
    except StoreError as error:
        if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.ELOOP:
            raise
        return _stamp(path.lstat())


def read(path: Path, root: Path) -> TextFile | None:
    """Returns the text of a file with every byte of it, `None` where there is no file.

    Raises `UnreadableNote` for what is no text, or longer than 16 MiB.
    """
    with store_errors("read", path):
        try:
            descriptor = _opened(resolved(path, root))
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(descriptor)
            _refuse_unless_note(path, status)
            lease = leased(descriptor)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(_LARGEST + 1)
            _refuse_size(path, len(data))
            is_open = lease is Lease.WRITTEN or (lease is Lease.HELD and is_wanted(descriptor))
        finally:
            os.close(descriptor)
    # Half of a character at the end of half a text is nobody's fault.
    text = data.decode(errors="ignore") if is_open else _decoded(path, data)
    return TextFile(text, _stamp(status), is_open)


def own_text(path: Path) -> str | None:
    """The text of a file of ours; `None` where there is none, or no text.

    What cannot be read right now is an error: taken for absent, a text that waits would count as
    arrived.
    """
    with store_errors("read", path):
        try:
            return read_whole(path).decode()
        except (FileNotFoundError, UnicodeDecodeError):
            return None


def regular_text(path: Path) -> str | None:
    """Return the text of a file of ours; `None` where no regular file lies there, or no text."""
    with store_errors("read", path):
        try:
            is_regular = stat.S_ISREG(path.lstat().st_mode)
        except FileNotFoundError:
            return None
    return own_text(path) if is_regular else None


def sync_file(path: Path) -> None:
    """Waits until what others wrote into a file is on the disk; one that is gone is passed over."""
    if os.name == "nt":  # Windows syncs only what is open for writing
        return
    with store_errors("sync", path):
        try:
            descriptor = _opened(path)
        except FileNotFoundError:
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | NO_FOLLOW | NO_WAIT | CLOSE_ON_EXEC | BINARY)


def read_text(path: Path, root: Path) -> str | None:
    """The text of a file, `None` where there is none."""
    reading = read(path, root)
    return None if reading is None else reading.text


def put_whole(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write a file of ours in the place of the former one, whole or not at all."""
    draft = _draft_for(path)
    _write_temporary(draft, path, data, synced=synced)
    with store_errors("replace", path):
        check_fence()
        draft.replace(path)


def _draft_for(target: Path) -> Path:
    """Where a text is written before it gets a name that others know."""
    return temporary_for(target, draft_tag())


def temporary_for(target: Path, tag: str) -> Path:
    """Where the text that shall replace `target` is prepared."""
    return target.with_name(f".{target.name}.{tag}{TEMPORARY}")


def free_name(temporary: Path) -> Path:
    """A name with the same tag at its beginning that nobody has."""
    stem = temporary.name.removesuffix(TEMPORARY)
    return first_unused(
        temporary.with_name(f"{stem}-old{number or ''}{TEMPORARY}") for number in count()
    )


def tag_of(temporary: Path, target: Path) -> str:
    """The tag in the name that `temporary_for` made."""
    return temporary.name.removeprefix(f".{target.name}.").removesuffix(TEMPORARY)


def is_temporary_of(name: str, target: Path) -> bool:
    """Whether a name in the folder of `target` is one that `temporary_for` made."""
    return name.startswith(f".{target.name}.") and name.endswith(TEMPORARY)


def prepare(path: Path, target: Path, text: str) -> None:
    """Lays a replacement of `target` ready at `path`, with the mode of what it will replace.

    What lies at `path` is whole at any instant, also after a power cut: written and synced under
    another name first, renamed when done. The name itself stays only once the folder is synced.
    """
    draft = _draft_for(target)
    _write_temporary(draft, target, text.encode(), synced=True)
    with store_errors("write", path):
        check_fence()
        draft.replace(path)


def take_mode(path: Path, target: Path) -> bool:
    """Give a prepared text the mode that the file it replaces has now.

    A text may wait for long. Returns False where that file must not be replaced.
    """
    with store_errors("replace", target):
        try:
            mode = _mode_to_keep(target)
        except PermissionError:
            return False
        if stat.S_IMODE(path.lstat().st_mode) != mode:
            path.chmod(mode)
    return True


def _write_temporary(temporary: Path, target: Path, data: bytes, *, synced: bool) -> None:
    """Writes a file in full."""
    with store_errors("write", target):
        mode = _mode_to_keep(target)
        temporary.unlink(missing_ok=True)  # left behind by a killed process that had this name
        descriptor = os.open(temporary, _NEW, FILE_MODE)
        try:
            if mode != FILE_MODE and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            write_whole(descriptor, data)
            if synced:
                os.fsync(descriptor)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Takes a file of ours away; one that is gone already is fine."""
    with store_errors("remove", path):
        check_fence()
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Removes what a killed process left half-prepared in a folder of ours."""
    with store_errors("read", folder):
        leftovers = list(folder.glob(f".*{TEMPORARY}"))
    for path in leftovers:
        remove(path)


def _mode_to_keep(target: Path) -> int:
    try:
        status = target.lstat()
    except FileNotFoundError:
        return FILE_MODE
    if not stat.S_ISREG(status.st_mode):
        return FILE_MODE  # a folder, say: it goes before the text takes its place
    mode = stat.S_IMODE(status.st_mode)
    if not mode & stat.S_IWUSR:
        # A rename would get round the mode; whoever took the right to write away meant it.
        raise PermissionError(errno.EACCES, "the file is read-only", str(target))
    return mode


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _refuse_unless_note(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableNote(f"{path} is a folder, not a file. Move it away.")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableNote(f"{path} is not a regular file. Move it away.")
    _refuse_size(path, status.st_size)


def refuse_unreadable_size(name: str, text: str) -> None:
    """Raises `UnreadableNote` for a text that `read` would refuse."""
    # A character has at most four bytes.
    size = len(text) if len(text) * 4 <= _LARGEST else len(text.encode())
    if size > _LARGEST:
        raise UnreadableNote(
            f"{name} would be too long to be read again: a note may have "
            f"{_LARGEST // 1024 // 1024} MiB. Nothing was changed. Give a shorter text, or take "
            "something out."
        )


def _refuse_size(path: Path, size: int) -> None:
    if size > _LARGEST:
        raise UnreadableNote(
            f"{path} has {-(-size // 1024 // 1024)} MiB; "
            f"a note may have {_LARGEST // 1024 // 1024}. "
            "It was left as it is: split it, or move it away."
        )


def _decoded(path: Path, data: bytes) -> str:
    if b"\0" in data:
        raise UnreadableNote(
            f"{path} is not a text: it has NUL bytes. It was left as it is; save it as UTF-8 text."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableNote(
            f"{path}, line {line}: not UTF-8. It was left as it is; open it and save it as UTF-8."
        ) from error
