"""What a journey must not do while a fault happens."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.errors import PipimemError

from benchmarks.faults.child import Ended


def misbehaved(ended: Ended) -> Iterator[str]:
    """What a journey must not do while a fault happens: raise what is not ours, say no way out,
    hang.
    """
    if ended.how in ("hung", "crashed"):
        yield f"it {ended.how}"
    for names, text, trace in ended.of("raised"):
        assert isinstance(names, list)
        if not {PipimemError.__name__, "ClickException", "Exit"} & set(names):
            yield f"it raised {names[0]}: {trace}"
        elif PipimemError.__name__ in names and not _says_what_to_do(str(text)):
            yield f"it does not say what to do: {text}"
    for line in ended.of("wrong"):
        yield str(line[0])


_WAYS_OUT = ("Free ", "Mount ", "Check ", "Raise ", "Move ", "Put ", "Try ", "Remove ", "Save ",
"Name ", "Create ",
             "see `", "Make ", "Rename ", "try again", "There are")  # fmt: skip


def _says_what_to_do(text: str) -> bool:
    return any(way in text for way in _WAYS_OUT)
