"""The labels of a stretch: what a good assistant would keep of it, and how to see that an entry
says it.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "stretches"
UNSEEN = Path(__file__).parent / "unseen"
BLIND = Path(__file__).parent / "blind"
BLIND_SECOND = Path(__file__).parent / "blind_second"
BLIND_THIRD = Path(__file__).parent / "blind_third"
BLIND_FOURTH = Path(__file__).parent / "blind_fourth"
TALKS = Path(__file__).parent / "talks"  # the transcripts of the unseen and blind stretches


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact; an entry says it when of each set of `words` at least one stands in it.

    Where one of `unless` stands in the entry, the entry does not say it. What is `hidden` (a secret,
    off the record, a joke) must not be kept in any words, its own included. Nor must what is
    `stale`: it was said, but by the end of the talk it was changed, corrected, cancelled or done.
    """

    says: str
    words: tuple[tuple[str, ...], ...]
    rests_on: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    hidden: bool = False
    stale: bool = False

    def is_in(self, text: str) -> bool:
        """Whether an entry says this; a Latin word counts from its beginning, so that "paint" finds
        "painting".
        """
        if any(_stands(word, text) for word in self.unless):
            return False
        return all(any(_stands(word, text) for word in choice) for choice in self.words)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some messages of a transcript, named by their first and last id, with their labels."""

    name: str
    file: str
    first: str
    last: str
    language: str
    facts: tuple[Fact, ...]
    also_fine: tuple[Fact, ...]
    held_out: bool = False  # labelled after the rules were made, never looked at while they were
    falsified: tuple[Fact, ...] = ()  # wrong sentences that the talk tempts one to learn
    unseen: bool = False  # labelled without knowledge of the rules; its talk is in TALKS

    def lines(self, evals: Path) -> list[str]:
        """The stretch's lines of the transcript.

        Raises `ValueError` where the transcript is another one.
        """
        folder = TALKS if self.unseen else evals / "transcripts"
        lines = (folder / self.file).read_text(encoding="utf-8").splitlines()
        ids = [json.loads(line)["id"] for line in lines]
        cut = lines[ids.index(self.first) : ids.index(self.last) + 1]
        known = {json.loads(line)["id"] for line in cut}
        if missing := [name for fact in self.facts for name in fact.rests_on if name not in known]:
            raise ValueError(
                f"{self.name}: {missing} are not in {self.file} from {self.first} to {self.last}"
            )
        return cut


@dataclass(frozen=True, slots=True)
class Score:
    """What came of one stretch: facts kept and missed, entries that say none, and wrong ones."""

    kept: tuple[Fact, ...]
    missed: tuple[Fact, ...]
    fine: tuple[str, ...]
    junk: tuple[str, ...]
    entries: int
    # What must not be kept; of that, what was said but is overtaken by the end of the talk.
    falsified: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


def stretches(folder: Path = FOLDER) -> list[Stretch]:
    """All of them, by name."""
    return [_stretch(path) for path in sorted(folder.glob("*.toml"))]


def scored(stretch: Stretch, entries: list[str]) -> Score:
    """The entries held against the labels."""
    kept = tuple(fact for fact in stretch.facts if any(fact.is_in(text) for text in entries))
    other = [text for text in entries if not any(fact.is_in(text) for fact in stretch.facts)]
    fine = tuple(text for text in other if any(fact.is_in(text) for fact in stretch.also_fine))
    junk = tuple(text for text in other if text not in fine)
    missed = tuple(fact for fact in stretch.facts if fact not in kept)
    falsified, never = (
        tuple(text for text in entries if any(fact.is_in(text) for fact in wrong))
        for wrong in (stretch.falsified, [one for one in stretch.falsified if not one.stale])
    )
    stale = tuple(text for text in falsified if text not in never)
    return Score(kept, missed, fine, junk, len(entries), falsified, stale)


def _stands(word: str, text: str) -> bool:
    if word.isascii():
        return re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}", text, re.IGNORECASE) is not None
    return word in text


def _stretch(path: Path) -> Stretch:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    facts, fine = (tuple(_fact(row) for row in table.get(key, ())) for key in ("fact", "also_fine"))
    return Stretch(
        path.stem,
        table["file"],
        table["first"],
        table["last"],
        table["language"],
        facts,
        fine,
        table.get("held_out", False),
        tuple(_fact(row) for row in table.get("falsified", ())),
        table.get("unseen", False),
    )


def _fact(row: dict[str, list[list[str]]]) -> Fact:
    return Fact(
        str(row["says"]),
        tuple(map(tuple, row["words"])),
        tuple(map(str, row.get("rests_on", ()))),
        tuple(map(str, row.get("unless", ()))),
        bool(row.get("hidden", False)),
        bool(row.get("stale", False)),
    )
