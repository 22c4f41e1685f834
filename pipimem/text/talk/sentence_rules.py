"""The patterns of `pipimem/data/rules/`: one a line, with an example and a counter-example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from pipimem import resources
from pipimem.text.patterns import replaced

_SECTION = re.compile(r"\[([a-z_ ]+)\]")
_EXAMPLE, _COUNTER_EXAMPLE = "  =>  ", "  !=  "
_WORD = re.compile(r"\b[A-Za-z]+\b")
# What quotation marks enclose is somebody else's wording: it decides nothing.
_CLOSED_BY = {"「": "」", "『": "』", "“": "”", '"': '"', "《": "》"}
_OPENING = re.compile(f"[{''.join(_CLOSED_BY)}]")


@dataclass(frozen=True, slots=True)
class SentenceRule:
    """One line of a file: the pattern, a sentence that it finds, and one it must leave alone."""

    pattern: re.Pattern[str]
    example: str
    counter_example: str


@cache  # the files travel with the package and do not change while it runs
def rules(name: str) -> dict[str, tuple[SentenceRule, ...]]:
    """The rules of a file by section, in its order; raises `ValueError` that names a bad line."""
    found: dict[str, list[SentenceRule]] = {}
    section = ""
    for number, line in enumerate(resources.rules(name).splitlines(), 1):
        heading = _SECTION.fullmatch(line.strip())
        if heading:
            section = heading[1]
        elif line.strip() and not line.startswith("#"):
            found.setdefault(section, []).append(_rule(line, f"{name}.txt, line {number}"))
    return {section: tuple(some) for section, some in found.items()}


@cache
def general() -> frozenset[str]:
    """The words of `general.txt`: what people say of everything."""
    return frozenset(
        word for line in resources.sections("rules/general")[""] for word in line.split()
    )


@lru_cache(maxsize=256)  # each sentence is held against many patterns, one after the other
def as_written(text: str) -> str:
    """The text with the apostrophes that belong into it: "im" and "I’m" become "I'm"."""
    known = contractions()
    return _WORD.sub(lambda word: known.get(word[0].casefold(), word[0]), text.replace("’", "'"))


@cache
def contractions() -> dict[str, str]:
    """The lines of `contractions.txt`."""
    lines = resources.sections("rules/contractions")[""]
    return dict(line.split() for line in lines)


def matches(name: str, section: str, text: str) -> bool:
    """Whether a pattern of the section fits somewhere in the text."""
    return first_match(rules(name)[section], as_written(text)) is not None


def first_section(name: str, text: str) -> str:
    """Return the first section of a file of which a pattern fits; empty where none does."""
    text = as_written(text)
    return next((one for one, some in rules(name).items() if first_match(some, text)), "")


def names_a_value(text: str) -> bool:
    """Whether a number, a day or a name stands in the text."""
    return any(matches("concrete", section, text) for section in ("number", "day", "name"))


def first_match(some: Sequence[SentenceRule], text: str) -> re.Match[str] | None:
    """Where the first of the rules that fits begins to fit."""
    for rule in some:
        found = rule.pattern.search(text)
        if found:
            return found
    return None


def without_quotes(text: str) -> str:
    """The text with dots for what stands in quotation marks; lengths stay."""
    spans = _quotations(text)
    return replaced(text, ((start, end, "·" * (end - start)) for start, end in spans))


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each quotation starts and ends; in a quotation no other begins."""
    reached = 0
    unclosed = set[str]()  # what is not closed once is not looked for again
    for opening in _OPENING.finditer(text):
        sign = opening[0]
        if opening.start() < reached or sign in unclosed:
            continue
        closed = text.find(_CLOSED_BY[sign], opening.end())
        if closed < 0:
            unclosed.add(sign)
        else:
            reached = closed + 1
            yield opening.start(), reached


def _rule(line: str, where: str) -> SentenceRule:
    pattern, _, examples = line.partition(_EXAMPLE)
    example, _, counter_example = examples.partition(_COUNTER_EXAMPLE)
    if not (pattern.strip() and example.strip() and counter_example.strip()):
        raise ValueError(f"{where}: write PATTERN  =>  EXAMPLE  !=  COUNTER-EXAMPLE")
    try:
        compiled = re.compile(pattern.strip(), re.IGNORECASE)
    except re.error as wrong:
        raise ValueError(f"{where}: the pattern is no regular expression: {wrong}") from wrong
    return SentenceRule(compiled, example.strip(), counter_example.strip())
