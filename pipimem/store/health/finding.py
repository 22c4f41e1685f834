"""The result of a check, with a function that mends it where that loses nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

Mend = Callable[[datetime], str]
"""Mends it at this time and returns what was done. Raises `PipimemError` where it cannot."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `wrong` needs action. `where` is a file, a line of one, or a setting.

    `kind` and `count` are those of secrets, empty for other findings.
    """

    wrong: bool
    where: str
    what: str
    mend: Mend | None = None
    kind: str = ""
    count: int = 0


def wrong(where: object, what: str, mend: Mend | None = None) -> Finding:
    """A finding that needs action."""
    return Finding(True, str(where), what, mend)


def worth_knowing(where: object, what: str, mend: Mend | None = None) -> Finding:
    """A finding that needs no action."""
    return Finding(False, str(where), what, mend)


# What differs between findings that are alike: numbers, paths in commands, quoted words.
_VARYING = re.compile(r"[\d,]*\d|'[^']*'|“.*”")
_LINE = ", line "
# A group names so many further places.
_PLACES = 3


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those that are alike as one, in the order of the first of each.

    It has the words of the first, how many more there are, and where the first of these are. Lines
    are grouped by file.
    """
    groups: dict[tuple[bool, str, str], list[Finding]] = {}
    for one in findings:
        path, line, _ = one.where.partition(_LINE)
        shape = _VARYING.sub("#", one.what.replace(one.where, ""))
        groups.setdefault((one.wrong, shape, path if line else ""), []).append(one)
    return [_joined(*group) for group in groups.values()]


def _joined(first: Finding, *others: Finding) -> Finding:
    if not others:
        return first
    places = [one.where.rpartition(_LINE)[2] for one in others[:_PLACES]]
    places += ["…"] if len(others) > _PLACES else []
    where = ", in lines " if _LINE in first.where else ": "
    what = f"{first.what}; and {len(others):,} more like it{where}{', '.join(places)}"
    mend = next((one.mend for one in (first, *others) if one.mend), None)
    return replace(first, what=what, mend=mend)
