"""What goes wrong with a reply on its way, one seeded change at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

_BRACKETS = re.compile(r"[{}\[\]\"]")
_STRANGE = (
    "\u200b",
    "\u202e",
    "\ufeff",
    "\x00",
    "\ud83d",
    "\u2028",
    "🙈",
    "，",
    "“",
    "\u0301",
    "\t",
)
_TEXTS = ("text", "why", "title")
_VALUES: tuple[object, ...] = (None, True, 0, -1.5, 1e308, "", "none", [], {}, ["x"], {"id": "x"})


def mutated(text: str, chance: Random, ids: Sequence[str]) -> tuple[str, str]:
    """The names of one to three changes, and the text after them; `ids` are those of the whole
    memory.
    """
    names = []
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        name, change = chance.choice(MUTATIONS)
        names.append(name)
        text = change(text, chance, ids)
    return " + ".join(names), text


def _cut(text: str, chance: Random, _: Sequence[str]) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _bracket_dropped(text: str, chance: Random, _: Sequence[str]) -> str:
    found = list(_BRACKETS.finditer(text))
    if not found:
        return text[1:]
    gone = chance.choice(found)
    return text[: gone.start()] + text[gone.end() :]


def _ids_swapped(text: str, chance: Random, ids: Sequence[str]) -> str:
    """Every id of an entry becomes another one, of any entry."""
    return re.sub("|".join(map(re.escape, ids)), lambda _: chance.choice(ids), text)


def _text_emptied(text: str, chance: Random, _: Sequence[str]) -> str:
    def emptied(value: object) -> None:
        places = [(holder, key) for holder, key in _places(value) if key in _TEXTS]
        if places:
            holder, key = chance.choice(places)
            holder[key] = chance.choice(("", " ", "\n"))

    return _changed(text, emptied)


def _value_retyped(text: str, chance: Random, _: Sequence[str]) -> str:
    def retyped(value: object) -> None:
        places = list(_places(value))
        if places:
            holder, key = chance.choice(places)
            holder[key] = chance.choice(_VALUES)

    return _changed(text, retyped)


def _op_doubled(text: str, chance: Random, _: Sequence[str]) -> str:
    def doubled(value: object) -> None:
        lists = [items for items in _lists(value) if items]
        if lists:
            items = chance.choice(lists)
            items.extend([chance.choice(items)] * chance.choice((1, 1, 20)))

    return _changed(text, doubled)


def _reordered(text: str, chance: Random, _: Sequence[str]) -> str:
    def reordered(value: object) -> None:
        for items in _lists(value):
            chance.shuffle(items)
        for holder in [value, *(item for items in _lists(value) for item in items)]:
            if isinstance(holder, dict):
                pairs = list(holder.items())
                chance.shuffle(pairs)
                holder.clear()
                holder.update(pairs)

    return _changed(text, reordered)


def _white_space(text: str, chance: Random, _: Sequence[str]) -> str:
    return _inserted(text, chance, (" ", "\n", "\r\n", "\t", "\n\n- ", "\u3000"))


def _unicode(text: str, chance: Random, _: Sequence[str]) -> str:
    return _inserted(text, chance, _STRANGE)


def _inserted(text: str, chance: Random, pieces: Sequence[str]) -> str:
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        text = text[:place] + chance.choice(pieces) + text[place:]
    return text


MUTATIONS: tuple[tuple[str, Callable[[str, Random, Sequence[str]], str]], ...] = (
    ("cut", _cut),
    ("bracket dropped", _bracket_dropped),
    ("ids swapped", _ids_swapped),
    ("text emptied", _text_emptied),
    ("value retyped", _value_retyped),
    ("operation doubled", _op_doubled),
    ("reordered", _reordered),
    ("white space", _white_space),
    ("unicode", _unicode),
)


def _changed(text: str, change: Callable[[object], None]) -> str:
    """The text with the object in it changed; without a whole one it stays."""
    start, end = text.find("{"), text.rfind("}") + 1
    try:
        value = json.loads(text[start:end])
    except ValueError:
        return text
    change(value)
    return text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]


def _places(value: object) -> Iterator[tuple[dict[str, object], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)


def _lists(value: object) -> Iterator[list[object]]:
    if isinstance(value, list):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _lists(one)
