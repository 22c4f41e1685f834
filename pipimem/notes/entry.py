"""Entries: the bullets and paragraphs of a note, named by their content."""

from __future__ import annotations

from base64 import b32encode
from collections import Counter
from hashlib import blake2b

from msgspec import Struct

from pipimem.notes.kinds import File
from pipimem.notes.message import Role
from pipimem.notes.operations import Target
from pipimem.text.markdown import parser
from pipimem.text.markdown.lines import white_folded


def said_mark(key: bytes, role: Role, content: str) -> str:
    """A hash of 40 bits, under the channel's key, of a role and a text; blanks do not count."""
    return content_id(key, f"{role} {content.strip()}")


# 40 bits: at 5,000 entries a chance of about 1 in 90,000 that any two share an id, and a clash only
# costs a refused operation.
_ID_BYTES = 5
_PREFIXES = {
    File.MEMORY: "",
    File.SESSION: "session:",
    File.HISTORY: "history:",
    File.ARCHIVE: "history:",  # where its bullets stood before
}


def content_id(key: bytes, text: str) -> str:
    """The id of a text in a channel: 8 letters and digits, a hash under the channel's key."""
    digest = blake2b(
        white_folded(text).encode("utf-8", "surrogatepass"), key=key, digest_size=_ID_BYTES
    ).digest()
    return b32encode(digest).decode().lower()


def record_name(file: File, name: str) -> str:
    """Under which name the ledger has the record of a text of this id in a file."""
    return f"{_PREFIXES[file]}{name}"


class Entry(Struct, frozen=True):
    """One bullet with its continuation and sub-bullets, or one paragraph, of a file.

    `start` and `end` are its lines `[start, end)` in the document, `ordinal` counts equal texts in
    one section from 1. Only bullets are the runtime's to change; a paragraph is people's.
    """

    file: File
    section: str
    id: str
    text: str
    start: int
    end: int
    ordinal: int = 1
    marker: str = "- "
    bullet: bool = True

    @property
    def ref(self) -> str:
        """The id for people: `abcd2345`, or `abcd2345.2` for the second of two equal texts."""
        return self.id if self.ordinal == 1 else f"{self.id}.{self.ordinal}"

    @property
    def record_name(self) -> str:
        """Under which name the ledger has its record."""
        return record_name(self.file, self.id)

    @property
    def target(self) -> Target:
        """How an operation names the entry."""
        return Target(self.file, self.section, self.id, self.ordinal)


def entries(document: parser.Document, key: bytes, file: File) -> tuple[Entry, ...]:
    """The bullets and paragraphs of a document in their order, without empty bullets."""
    seen: Counter[tuple[str, str]] = Counter()
    found: list[Entry] = []
    for section in document.sections:
        for block in section.blocks:
            bullet = block.kind is parser.BlockKind.ENTRY
            if not (bullet or block.kind is parser.BlockKind.PARAGRAPH) or not block.text.strip():
                continue
            title, name = section.title, content_id(key, block.text)
            seen[title, name] += 1
            ordinal, marker = seen[title, name], block.marker
            entry = Entry(
                file, title, name, block.text, block.start, block.end, ordinal, marker, bullet
            )
            found.append(entry)
    return tuple(found)
