"""The headings of MEMORY.md and SESSION.md in both languages, and the kinds of entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from pipimem.resources import sections
from pipimem.text.han import has_han, is_chinese

K = TypeVar("K")


class Kind(StrEnum):
    """The kind of a durable entry: it decides section, retention and the intents that seed it."""

    IDENTITY = "identity"
    FACT = "fact"
    PREFERENCE = "preference"
    ONGOING = "ongoing"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    OPEN_LOOP = "open_loop"
    LESSON = "lesson"


# What happened once belongs to history; what holds (decisions, constraints, preferences …) stands
# in both on purpose.
EVENTS = (Kind.FACT, Kind.ONGOING)

_LINES = sections("headings")
# Headings of MEMORY.md by kind, and of SESSION.md by the first of them, in the order of the file.
_BY_KIND = [line.split(": ") for line in _LINES["memory"]]
HEADINGS = {Kind(kind): tuple(names.split(", ")) for kind, names in _BY_KIND}
SECTIONS = {line.split(", ")[0]: tuple(line.split(", ")) for line in _LINES["session"]}

_KIND_OF = {heading.casefold(): kind for kind, headings in HEADINGS.items() for heading in headings}
_SECTION_OF = {name.casefold(): section for section, names in SECTIONS.items() for name in names}


def kind_of(section: str) -> Kind | None:
    """The kind a heading stands for, `None` for a heading of people's own."""
    return _KIND_OF.get(section.strip().casefold())


def section_of(title: str) -> str | None:
    """The standard section of SESSION.md that a heading stands for, `None` for another heading."""
    return _SECTION_OF.get(title.strip().casefold())


def heading_for(kind: Kind, present: Sequence[str], text: str = "") -> str:
    """The heading of `present` for a kind, or the one to add to a MEMORY.md with a text."""
    return _heading(HEADINGS, kind_of, kind, present, text)


def title_for(section: str, present: Sequence[str], text: str = "") -> str:
    """The heading of `present` for a section, or the one to add to a SESSION.md with a text."""
    return _heading(SECTIONS, section_of, section, present, text)


def _heading(
    names: Mapping[K, tuple[str, ...]],
    meant: Callable[[str], K | None],
    wanted: K,
    present: Sequence[str],
    text: str,
) -> str:
    """The heading that is there, or one in the language of the others; without any, of the text."""
    standing = {meant(title): title for title in reversed(present)}
    standing.pop(None, None)
    if wanted in standing:
        return standing[wanted]
    in_chinese = is_chinese(" ".join(standing.values()) or text)
    return next(name for name in names[wanted] if has_han(name) is in_chinese)
