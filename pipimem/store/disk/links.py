"""Where links lead: not out of the workspace, and not into another channel's folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.store.disk import presence

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
