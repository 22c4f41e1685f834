"""Whether a file that people write can be read, what its Markdown hides, and where a secret stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipimem.errors import PipimemError
from pipimem.store.checkup.finding import Finding, worth_knowing, wrong
from pipimem.store.disk.files import read_text
from pipimem.text.markdown import Block, Document, Kind, parsed
from pipimem.text.secrets import secrets

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
# What a merge of git leaves, and what nobody would write at the beginning of a line.
_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")


def text_findings(path: Path, root: Path) -> Iterator[Finding]:
    """All there is to say about one file as a text; a secret itself is never told."""
    try:
        text = read_text(path, root) or ""
    except PipimemError as error:
        yield wrong(path, str(error))
        return
    line, reached = 1, 0
    for found in secrets(text):
        line += text.count("\n", reached, found.start)
        reached = found.start
        what = f"a secret stands here ({found.kind}); it is masked when injected, but take it out of the file"
        yield wrong(f"{path}, line {line}", what)
    if path.suffix == ".md":
        yield from _hidden(path, parsed(text))


def _hidden(path: Path, document: Document) -> Iterator[Finding]:
    """Lines that look like entries and are none, and what a merge left behind."""
    for number, line in enumerate(document.lines, start=1):
        if _CONFLICT.match(line):
            yield wrong(
                f"{path}, line {number}",
                "a merge left its marks here; keep one side and take out the marks",
            )
    blocks = [block for section in document.sections for block in section.blocks]
    last = next((block for block in reversed(blocks) if block.kind is not Kind.BLANK), None)
    if last is None or not _swallows(document, last):
        return
    bullets = sum(1 for line in document.lines[last.start + 1 : last.end] if _BULLET.match(line))
    if bullets:
        what = f"what begins here is not closed: {bullets} bullets below it are no entries; close the comment or code"
        yield wrong(f"{path}, line {last.start + 1}", what)
    for block in blocks[:-1]:
        if block.kind is Kind.ENTRY and not block.text.strip():
            yield worth_knowing(f"{path}, line {block.start + 1}", "a bullet without text")


def _swallows(document: Document, last: Block) -> bool:
    """Whether a bullet at the end of the file would not be one; only its last block can hide it."""
    probe = parsed("".join((*document.lines[last.start :], "\n\n- x\n")))
    told = probe.sections[-1].blocks[-1]
    return told.kind is not Kind.ENTRY or told.text != "x"
