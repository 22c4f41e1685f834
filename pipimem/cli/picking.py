"""Choosing among what recall finds: what a question means is said by a person, not guessed."""

from __future__ import annotations

import re

import click

from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen
from pipimem.cli.printing import note, one_line
from pipimem.clock import Clock
from pipimem.errors import NothingFound
from pipimem.runtime.reading import Reading
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore

_MOST = 12
_ALL = ("all", "全部", "都")


def picked(chosen: Chosen, store: ChannelStore, query: str, *, yes: bool) -> list[str]:
    """The ids of what a person picks of what recall finds for a query; with `yes`, of all of it.

    Raises `NothingFound` where nothing is found, `Failed` where nothing is picked.
    """
    reading = Reading(store, Vocabulary(store.workspace), chosen.settings().recall)
    reading.notes()
    candidates = reading.recalled(query, Clock().now(), automatic=False).candidates[:_MOST]
    found = [one.item for one in candidates if _is_ours(one.item.id)]
    if not found:
        raise NothingFound(f"Recall finds nothing for {query!r}. Give the text itself, or an id.")
    for number, one in enumerate(found, start=1):
        note(f"{number}. {one.id}  {one_line(one.text, 200)}")
    numbers = range(1, len(found) + 1) if yes else _numbers(len(found))
    return [found[number - 1].id for number in numbers]


def _is_ours(name: str) -> bool:
    """The workspace's own file is people's."""
    return not name.startswith("workspace:")


def _numbers(most: int) -> list[int]:
    try:
        answer = click.prompt("Which? (numbers, or all)", err=True, default="", show_default=False).strip()
    except click.Abort:
        answer = ""
    if answer.casefold() in _ALL:
        return list(range(1, most + 1))
    numbers = [int(number) for number in re.findall(r"\d+", answer)]
    if not numbers or not all(1 <= number <= most for number in numbers):
        raise Failed("nothing was forgotten: no number of the list was given")
    return sorted(set(numbers))
