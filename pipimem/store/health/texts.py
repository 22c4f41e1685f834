"""Whether a note can be read, what its Markdown hides, and where a secret stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipimem.errors import PipimemError
from pipimem.settings import SecretSettings
from pipimem.store.disk.files import read_text
from pipimem.store.health.finding import Finding, worth_knowing, wrong
from pipimem.store.health.kept_secrets import secrets_in_file
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, parsed
from pipimem.text.secrets import NO_LIST

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
# What a merge of git leaves, and what nobody would write at the beginning of a line.
_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")


def text_findings(path: Path, root: Path, own: SecretSettings = NO_LIST) -> Iterator[Finding]:
    """What is to be said about a file as a text; a secret itself is never shown.

    `own` is what the workspace masks besides known kinds of secrets.
    """
    try:
        text = read_text(path, root) or ""
    except PipimemError as error:
        yield wrong(path, str(error))
        return
    yield from secrets_in_file(path, text, own)
    if path.suffix == ".md":
        yield from _hidden(path, parsed(text))


def _hidden(path: Path, document: Document) -> Iterator[Finding]:
    """Lines that look like entries and are none, and what a merge left behind."""
    for number, line in enumerate(document.lines, start=1):
        if _CONFLICT.match(line):
            what = "a merge left its marks here; keep one side and take out the marks"
            yield wrong(f"{path}, line {number}", what)
    blocks = [block for section in document.sections for block in section.blocks]
    filled = [block for block in blocks if block.kind is not BlockKind.BLANK]
    if filled and _swallows(document, filled[-1]):
        yield from _swallowed(path, document, filled[-1])
    yield from _empty_bullets(path, blocks)


def _empty_bullets(path: Path, blocks: Iterable[MarkdownBlock]) -> Iterator[Finding]:
    for block in blocks:
        if block.kind is BlockKind.ENTRY and not block.text.strip():
            yield worth_knowing(f"{path}, line {block.start + 1}", "a bullet without text")


def _swallowed(path: Path, document: Document, block: MarkdownBlock) -> Iterator[Finding]:
    """Bullets in a comment or code at the end of a file, which nobody closed."""
    lines = document.lines[block.start + 1 : block.end]
    bullets = sum(1 for line in lines if _BULLET.match(line))
    if bullets:
        what = f"what begins here is not closed: {bullets} bullets below it are no entries; "
        yield wrong(f"{path}, line {block.start + 1}", f"{what}close the comment or code")


def _swallows(document: Document, last: MarkdownBlock) -> bool:
    """Whether the last block of a file would hide a bullet behind it."""
    probe = parsed("".join((*document.lines[last.start :], "\n\n- x\n")))
    end = probe.sections[-1].blocks[-1]
    return end.kind is not BlockKind.ENTRY or end.text != "x"
