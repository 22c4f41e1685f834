"""Texts as lists of lines: a line that many texts have is one row.

An etag names a text: its hash under the key of the channel. A text of one line could be guessed
from a hash without a key.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from hashlib import blake2b
from itertools import repeat
from sys import byteorder
from typing import Any, NamedTuple

from msgspec import Struct, field

from pipimem.state.rows import Rows
from pipimem.text.markdown.lines import split_lines

TABLES = (
    "create table line (id integer primary key, mark bigint not null, body blob not null)",
    "create index line_mark on line (mark)",
    "create table text (etag text primary key, lines blob not null)",
)
ETAG_LENGTH = 32
"""The digits of an etag."""
# A note of 16 MiB has fewer lines; what is kept only saves looking them up.
_MOST_KEPT = 200_000


class PastText(NamedTuple):
    """A text that stood in a file: its lines, as a rule by their ids.

    `is_saved` where it is what a person's editor saved and we merged: that editor may go on from
    it.
    """

    lines: Sequence[Any]
    is_saved: bool = False


class Texts(Struct):
    """The texts in a database. `key` is the channel's."""

    key: bytes
    # The lines that were read or written last, to spare looking them up.
    _ids: dict[str, int] = field(default_factory=dict)
    _lines: dict[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "Texts()"  # neither the key nor a line

    def etag(self, text: str) -> str:
        """Return the etag of a text: two texts with the same etag are the same."""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=16, key=self.key).hexdigest()

    def put(self, rows: Rows, text: str) -> str:
        """Store a text, unless it is there. Returns its etag."""
        etag = self.etag(text)
        if not rows.all("select 1 from text where etag = ?", etag):
            ids = self._stored(rows, split_lines(text))
            rows.run("insert into text (etag, lines) values (?, ?)", etag, packed(ids))
        return etag

    def get(self, rows: Rows, etag: str) -> str | None:
        """Return the text of an etag; `None` where it is not there, or damaged."""
        ids = self.line_ids(rows, etag)
        if ids is None:
            return None
        text = "".join(self.lines(rows, ids))
        return text if self.etag(text) == etag else None

    def line_ids(self, rows: Rows, etag: str) -> Sequence[int] | None:
        """Return the ids of a text's lines; `None` where the text is not there, or damaged."""
        found = rows.all("select lines from text where etag = ?", etag)
        return unpacked(found[0][0]) if found else None

    def lines(self, rows: Rows, ids: Sequence[int]) -> Iterator[str]:
        """Return lines by their ids; empty for one that is not there."""
        self.load(rows, set(ids))
        return map(self._lines.get, ids, repeat(""))

    def load(self, rows: Rows, ids: Set[int]) -> None:
        """Read lines, so that `line` has them."""
        if len(self._lines) > _MOST_KEPT:
            self.clear()
        missing = sorted(ids - self._lines.keys())
        for number, body in rows.among("select id, body from line where id", missing):
            self._keep(number, _line(body))

    def line(self, number: int) -> str:
        """Return a line that was read; empty for one that is not there."""
        return self._lines.get(number, "")

    def all_lines(self, rows: Rows) -> tuple[dict[int, str], list[tuple[str, bytes]]]:
        """Return all lines by id, and the etags of all texts with the `packed` ids of theirs."""
        lines = {number: _line(body) for number, body in rows.all("select id, body from line")}
        texts = rows.all("select etag, lines from text")
        return lines, [(etag, bytes(ids)) for etag, ids in texts]

    def has_line(self, rows: Rows, line: str) -> bool:
        """Return whether a line is there."""
        return self._found(rows, line) is not None

    def edit(self, rows: Rows, etag: str, edits: Iterable[tuple[int, int, Sequence[str]]]) -> str:
        """Put lines in the place of lines `[start, end)` of a text. Returns its new etag.

        A text that is damaged becomes the empty one.
        """
        ids = list(self.line_ids(rows, etag) or ())
        if self.etag("".join(self.lines(rows, ids))) == etag:
            for start, end, kept in reversed(list(edits)):
                ids[start:end] = self._stored(rows, kept)
        else:
            ids = []
        rows.run("delete from text where etag = ?", etag)
        after = self.etag("".join(self.lines(rows, ids)))
        rows.run("delete from text where etag = ?", after)
        rows.run("insert into text (etag, lines) values (?, ?)", after, packed(ids))
        return after

    def drop_unused(self, rows: Rows) -> None:
        """Remove the lines that no text has."""
        used: set[int] = set()
        for (lines,) in rows.all("select lines from text"):
            used.update(unpacked(lines) or ())
        numbers = (row[0] for row in rows.all("select id from line"))
        rows.run_many(
            "delete from line where id = ?", [(number,) for number in numbers if number not in used]
        )
        self.clear()

    def clear(self) -> None:
        """Forget what was read."""
        self._ids.clear()
        self._lines.clear()

    def _stored(self, rows: Rows, lines: Iterable[str]) -> list[int]:
        """Return the ids of some lines, which are written where they are new."""
        ids: list[int] = []
        newest: int | None = None
        for line in lines:
            number = self._ids.get(line)
            if number is None:
                number = self._found(rows, line)
            if number is None:
                if newest is None:
                    newest = rows.all("select coalesce(max(id), 0) from line")[0][0]
                number = newest = newest + 1
                rows.run(
                    "insert into line (id, mark, body) values (?, ?, ?)",
                    number,
                    self._mark(line),
                    _body(line),
                )
                self._keep(number, line)
            ids.append(number)
        return ids

    def _found(self, rows: Rows, line: str) -> int | None:
        for number, body in rows.all("select id, body from line where mark = ?", self._mark(line)):
            if _line(body) == line:
                self._keep(number, line)
                return int(number)
        return None

    def _keep(self, number: int, line: str) -> None:
        self._ids[line] = number
        self._lines[number] = line

    def _mark(self, line: str) -> int:
        """Return 63 bits of the keyed hash of a line, by which it is looked up."""
        digest = blake2b(_body(line), digest_size=8, key=self.key).digest()
        return int.from_bytes(digest, "big") >> 1


def packed(ids: Iterable[int]) -> bytes:
    """Return ids as they are stored: 32 bits each, little-endian, compressed."""
    numbers = array("I", ids)
    if byteorder == "big":
        numbers.byteswap()
    return zlib.compress(numbers.tobytes(), 1)


def unpacked(data: bytes) -> Sequence[int] | None:
    """Return the ids that `packed` stored; `None` where they are damaged."""
    numbers = array("I")
    try:
        numbers.frombytes(zlib.decompress(data))
    except (zlib.error, ValueError):
        return None
    if byteorder == "big":
        numbers.byteswap()
    return numbers


def _body(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def _line(body: bytes) -> str:
    return bytes(body).decode("utf-8", "surrogatepass")
