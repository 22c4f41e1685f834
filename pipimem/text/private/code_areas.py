"""Code in a text: closed fences, and code spans on one line; what is unclear is no code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pipimem.text.patterns import Pattern

_FENCE = Pattern(r"[ \t]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
# The backticks of "don`t" and "the`x`" do not stand where code begins or ends.
_BACKTICKS = Pattern(r"`+")


class _FenceLine(Struct, frozen=True):
    """A line that may open a fence, and close one where nothing stands behind it."""

    sign: str
    length: int
    may_open: bool
    may_close: bool


def code_areas(text: str) -> Iterator[tuple[int, int]]:
    """The places of code, `text[start:end]` with the fences or backticks, in order."""
    lines = text.splitlines(keepends=True)
    closers = _closers([_fence_line(line) for line in lines])
    start = number = 0
    while number < len(lines):
        last = closers.get(number)
        if last is None:
            yield from _spans(lines[number], start)
            start, number = start + len(lines[number]), number + 1
        else:
            end = start + sum(len(line) for line in lines[number : last + 1])
            yield start, end
            start, number = end, last + 1


def _fence_line(line: str) -> _FenceLine | None:
    found = _FENCE().match(line)
    if found is None:
        return None
    sign, info = found["fence"][0], found["info"].strip()
    may_open = sign == "~" or "`" not in info
    return _FenceLine(sign, len(found["fence"]), may_open, may_close=not info)


def _closers(lines: Sequence[_FenceLine | None]) -> dict[int, int]:
    """The line that closes each fence, by the line that opens it; only where there is one."""
    longest = _longest_closer_behind(lines)
    found: dict[int, int] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        if line is not None and line.may_open and longest[line.sign][number] >= line.length:
            found[number] = number = _closer_of(line, lines, number + 1)
        number += 1
    return found


def _closer_of(opener: _FenceLine, lines: Sequence[_FenceLine | None], number: int) -> int:
    while True:
        line = lines[number]
        is_one = line is not None and line.may_close and line.sign == opener.sign
        if line is not None and is_one and line.length >= opener.length:
            return number
        number += 1


def _longest_closer_behind(lines: Sequence[_FenceLine | None]) -> dict[str, list[int]]:
    """By sign, how long the longest fence that may close is behind each line: no search for a
    closing line is in vain, so all of them together read each line once.
    """
    longest = {"`": [0] * len(lines), "~": [0] * len(lines)}
    for number in range(len(lines) - 1, 0, -1):
        line = lines[number]
        for sign, lengths in longest.items():
            is_one = line is not None and line.may_close and line.sign == sign
            length = line.length if line is not None and is_one else 0
            lengths[number - 1] = max(lengths[number], length)
    return longest


def _spans(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """The code spans of a line: runs of as many backticks, with something between them."""
    if "`" not in line:
        return
    runs = [found.span() for found in _BACKTICKS().finditer(line)]
    closers = _closing_runs(line, runs)
    number = 0
    while number < len(runs):
        closer = closers[number]
        if closer is not None and _may_begin(line, runs[number][0]):
            yield offset + runs[number][0], offset + runs[closer][1]
            number = closer
        number += 1


def _closing_runs(line: str, runs: Sequence[tuple[int, int]]) -> list[int | None]:
    """For each run the next one of its length that may close."""
    closers: list[int | None] = [None] * len(runs)
    nearest: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        closers[number] = nearest.get(end - start)
        if not _is_of_a_word(line[end : end + 1]):
            nearest[end - start] = number
    return closers


def _may_begin(line: str, start: int) -> bool:
    before = line[start - 1] if start else ""
    return before != "\\" and not _is_of_a_word(before)


def _is_of_a_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
