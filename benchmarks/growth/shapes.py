"""Twenty shapes of text that people paste, and that slow programs down."""

from __future__ import annotations

import random
from collections.abc import Callable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# The common part of the Unified Ideographs.
_HAN = (0x4E00, 0x9FA5)


def _units(unit: str) -> Callable[[int], str]:
    """The same thing again and again."""
    return lambda size: unit * max(1, size // len(unit.encode()))


def _lines(line: Callable[[int, random.Random], str]) -> Callable[[int], str]:
    """Lines of which each is made from its number."""

    def made(size: int) -> str:
        dice, lines, length = random.Random(1), list[str](), 0
        while length < size:
            lines.append(line(len(lines), dice))
            length += len(lines[-1].encode())
        return "".join(lines)

    return made


def _han_line(size: int) -> str:
    dice = random.Random(1)
    return "".join(chr(dice.randint(*_HAN)) for _ in range(max(1, size // 3)))


def _word(dice: random.Random) -> str:
    return "".join(dice.choices(_LETTERS, k=8))


SHAPES: dict[str, Callable[[int], str]] = {
    "one line of letters": _units("a"),
    "one line of Han, one character": _units("字"),
    "one line of Han": _han_line,
    "one line of digits": _units("1234567890"),
    "one line of words": _lines(lambda _, dice: f"{_word(dice)} "),
    "repeated lines": _units("ok\n"),
    "lines of their own": _lines(lambda _, dice: f"{_word(dice)} {_word(dice)} {_word(dice)}\n"),
    "pairs of similar lines": _lines(lambda number, _: f"- job {number // 2}, try {number % 2}\n"),
    "tables": _units("| a | b |\n|---|---|\n"),
    "quotes": _units("> x\n>> y\n"),
    "rules": _units("x\n---\n"),
    "nested bullets": _lines(lambda number, _: f"{'  ' * (number % 12)}- item {number}\n"),
    "bullets": _units("- x\n"),
    "headings": _lines(lambda number, _: f"## Part {number}\n\n- x\n"),
    "brackets": _units("[[[[("),
    "code fences": _units("```\nx\n"),
    "blank lines": _units("\n"),
    "emoji": _units("👩‍👩‍👧‍👦🏳️‍🌈"),
    "combining marks": _units("e\u0301\u0323\u0308"),
    "CRLF": _lines(lambda number, _: f"- line {number}\r\n"),
}
