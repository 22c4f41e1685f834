"""What a format finds in files that are written in it."""

from __future__ import annotations

from pathlib import Path

from pipimem.runtime.transfer.found import (
    Found,
    FoundDay,
    FoundEntry,
    FoundMessage,
    Skipped,
    SourceFormat,
)
from pipimem.runtime.transfer.source_files import opened_source

FIXTURES = Path(__file__).parents[3] / "fixtures" / "imports"
# Small inputs that once came in wrong.
CASES = FIXTURES.parent / "import-cases"


def found_in(source: Path, source_format: SourceFormat) -> list[Found]:
    """All that is found, in its order."""
    with opened_source(source) as files:
        assert source_format.recognises(files)
        return list(source_format.read(files))


def fixture(source_format: SourceFormat) -> list[Found]:
    """What is found in the files of tests/fixtures/imports."""
    return found_in(FIXTURES / source_format.name, source_format)


def said(found: list[Found]) -> list[tuple[str, str, str, str]]:
    """The messages: role, speaker, what was said, and the session or channel."""
    messages = [one for one in found if isinstance(one, FoundMessage)]
    return [
        (one.message.role, one.message.speaker, one.message.content,
         one.channel or one.message.session)
        for one in messages
    ]  # fmt: skip


def entries(found: list[Found]) -> list[tuple[str, str]]:
    """The entries: kind and text."""
    return [(str(one.kind), one.text) for one in found if isinstance(one, FoundEntry)]


def days(found: list[Found]) -> list[tuple[str, tuple[str, ...]]]:
    """The days and their lines."""
    return [(str(one.day), one.lines) for one in found if isinstance(one, FoundDay)]


def left_out(found: list[Found]) -> list[tuple[str, str]]:
    """What is left out: where it stands, and why."""
    return [(one.origin, one.reason) for one in found if isinstance(one, Skipped)]
