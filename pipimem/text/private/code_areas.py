"""Code in a text: closed fences, and code spans on one line; what is unclear is no code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipimem.text.patterns import Pattern

_FENCE = Pattern(r"[ \t]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
_BACKTICKS = Pattern(r"`+")


def code_areas(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of code, `text[start:end]` with the fences or backticks, in order."""
    lines = text.splitlines(keepends=True)
    closers = _closers(lines)
    start = number = 0
    while number < len(lines):
        last = closers.get(number)
        if last is None:
            yield from _spans(lines[number], start)
            start, number = start + len(lines[number]), number + 1
        else:
            end = start + sum(map(len, lines[number : last + 1]))
            yield start, end
            start, number = end, last + 1


def _closers(lines: Sequence[str]) -> dict[int, int]:
    """Return the line that closes a fence by the line that opens it: the next that is as long."""
    # Closing lines behind, the nearest last: a longer fence in front of it hides a shorter one.
    behind: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
    found: dict[int, int] = {}
    for number in range(len(lines) - 1, -1, -1):
        fence = _FENCE().match(lines[number])
        if fence is None:
            continue
        sign, length, info = fence["fence"][0], len(fence["fence"]), fence["info"].strip()
        closing = behind[sign]
        if sign == "~" or "`" not in info:
            nearest = _nearest_closer(closing, length)
            if nearest is not None:
                found[number] = nearest
        if not info:
            while closing and closing[-1][1] <= length:
                closing.pop()
            closing.append((number, length))
    return found


def _nearest_closer(closing: Sequence[tuple[int, int]], length: int) -> int | None:
    """Return the nearest closing line, the last in `closing`, with a fence of `length` or more."""
    return next((line for line, size in reversed(closing) if size >= length), None)


def _spans(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the code spans of a line: runs of as many backticks, with something between them."""
    if "`" not in line:
        return
    runs = [found.span() for found in _BACKTICKS().finditer(line)]
    ends = _span_ends(line, runs)
    reached = 0
    for start, _ in runs:
        if start >= reached and start in ends:
            reached = ends[start]
            yield offset + start, offset + reached


def _span_ends(line: str, runs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return where a code span ends by where it starts, for each run that a later run closes."""
    ends: dict[int, int] = {}
    nearest: dict[int, int] = {}  # where the next run that may close ends, by its length
    for start, end in reversed(runs):
        before = line[start - 1 : start]
        if end - start in nearest and before != "\\" and not _is_of_a_word(before):
            ends[start] = nearest[end - start]
        if not _is_of_a_word(line[end : end + 1]):
            nearest[end - start] = end
    return ends


def _is_of_a_word(character: str) -> bool:
    """Return whether a sign is of a word: the backticks of "don`t" are no code."""
    return character.isascii() and character.isalnum()
