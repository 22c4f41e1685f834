"""How a process joins the fleet of a workspace: its database, and the workspace's name there."""

from __future__ import annotations

import os
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.settings import FleetSettings
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.files import prepare, remove, temporary_for
from pipimem.store.disk.json_lines import checked_line, checked_value
from pipimem.store.disk.syscalls import make_folder, read_if_there, sync_folder
from pipimem.store.fleet.database import Database
from pipimem.store.fleet.fleet_lock import Fleet

_NAME = "fleet.json"
_NAME_BYTES = 8


def joined(root: Path, settings: FleetSettings) -> Fleet:
    """The fleet of a workspace; the database is asked at the first lock, not here.

    Raises `StoreError`.
    """
    own = root / ".pipimem"
    name = _name(own) or _named(own)
    return Fleet(root, name, Database(settings.database), settings.lease_seconds)


def _name(own: Path) -> str:
    value = checked_value(read_if_there(own / _NAME) or b"") or {}
    return str(value.get("workspace", ""))


def _named(own: Path) -> str:
    """Gives a workspace a name; where several hosts do at once, all get that of the fastest."""
    make_folder(own)
    draft = temporary_for(own / _NAME, os.urandom(_NAME_BYTES).hex())
    line = checked_line({"workspace": os.urandom(_NAME_BYTES).hex()})
    prepare(draft, own / _NAME, line.decode())
    try:
        put_new(draft, own / _NAME)
    except FileExistsError:
        remove(draft)
    sync_folder(own)
    name = _name(own)
    if not name:
        raise StoreError(f"{own / _NAME} is damaged. Put it back from a backup.")
    return name
