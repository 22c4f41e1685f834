"""A folder of small JSON files, one value each."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import make_folder, read_whole, store_errors
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded

T = TypeVar("T")

_SUFFIX = ".json"


class JsonFolder(Struct, Generic[T], frozen=True):
    """The values of one type in a folder, by name. The methods raise `StoreError`.

    The files are not synced: they matter when a process dies, not when a machine does.
    """

    folder: Path
    type: type[T]

    def put(self, name: str, value: T) -> None:
        """Writes a value in the place of the former one of its name."""
        make_folder(self.folder)
        put_whole(self._path(name), json_lines.line(encoded(value)), synced=False)

    def remove(self, name: str) -> bool:
        """Takes a value away; whether it was there."""
        with store_errors("remove", self._path(name)):
            try:
                self._path(name).unlink()
            except FileNotFoundError:
                return False
        return True

    def all(self) -> dict[str, T]:
        """The values by name; a file that is none is passed over."""
        with store_errors("read", self.folder):
            try:
                paths = [path for path in self.folder.iterdir() if path.suffix == _SUFFIX]
            except FileNotFoundError:
                return {}
        found = {}
        for path in paths:
            try:
                found[path.stem] = decoded(self.type, json_lines.value(read_whole(path)))
            except (FileNotFoundError, CodecError):  # removed meanwhile; not written by us
                continue
        return found

    def _path(self, name: str) -> Path:
        return self.folder / (name + _SUFFIX)
