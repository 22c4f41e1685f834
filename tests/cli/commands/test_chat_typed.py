"""What is typed or piped."""

from __future__ import annotations

import io
import os

import pytest
from pipimem.cli.commands.chat import typed


class Standard(io.StringIO):
    """A standard input with a descriptor of its own."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor

    def fileno(self) -> int:
        """The reading end."""
        return self.descriptor


@pytest.mark.anyio
async def test_a_pipe_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows line ends, characters cut between two reads, and a last line without an end all
    come out whole.
    """
    reading, writing = os.pipe()
    monkeypatch.setattr("sys.stdin", Standard(reading))
    monkeypatch.setattr("pipimem.cli.commands.chat._CHUNK", 4)
    os.write(writing, "上线窗口\r\n\nlast".encode())
    os.close(writing)
    assert [line async for line in typed()] == ["上线窗口", "", "last"]
    os.close(reading)


@pytest.mark.anyio
async def test_a_stand_in_without_a_descriptor_is_read_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a host or a test puts in the place of standard input."""
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo"))
    assert [line async for line in typed()] == ["one", "two"]
