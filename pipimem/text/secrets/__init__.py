"""Secrets in a text, found and replaced by a mark: `[secret:<kind>]` or `[secret:<kind>:<tag>]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipimem.settings import SecretSettings
from pipimem.text.patterns import Pattern, replaced
from pipimem.text.secrets.anchors import anchored
from pipimem.text.secrets.formats import by_format, by_shape
from pipimem.text.secrets.marks import mark, mark_pattern
from pipimem.text.secrets.numbers import checked_numbers
from pipimem.text.secrets.secret import Secret
from pipimem.text.secrets.spoken import announced
from pipimem.text.secrets.workspace_list import places_of_list

# Of a workspace that masks nothing besides.
NO_LIST = SecretSettings()
# Soft hyphen, zero-width blanks and joiners, word joiner: one inside "password" and no pattern sees
# the word.
_INVISIBLE = Pattern("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
# Text built so that each redaction uncovers another secret is hidden whole at this depth; others
# need 2.
_DEPTH = 6
# "pw a1b2": nothing shorter holds a word for a secret and the secret.
_LEAST_CHARS = 6
# Who sends nothing but "2580#" answers a question for what opens a door.
_MOST_ALONE = 16
_KEYPAD_ALONE = Pattern(r"\s*(?P<value>\d{4,8}[#*])[.!。！]?\s*")


def secrets(text: str, own: SecretSettings = NO_LIST) -> tuple[Secret, ...]:
    """Every secret in the text, in order, without overlaps.

    Marks of earlier redactions are walls. `own` is what a workspace masks besides.
    """
    if own != NO_LIST:
        return _with_listed(text, own)
    found: list[Secret] = []
    start = 0
    if "[secret:" in text:
        for wall in mark_pattern()().finditer(text):
            found += _in_piece(text[start : wall.start()], start)
            start = wall.end()
    found += _in_piece(text[start:] if start else text, start)
    return tuple(found)


def redacted(text: str, key: bytes = b"", own: SecretSettings = NO_LIST) -> str:
    """The text with each secret replaced by its mark, tagged under `key` where one is given.

    `own` is what a workspace masks besides. Redacting twice changes nothing more. A secret that
    only shows once invisible characters are gone is replaced in the text without them.
    """
    if not text.isascii() and _INVISIBLE().search(text) is not None:
        bare = _INVISIBLE().sub("", text)
        text = bare if secrets(bare) or any(places_of_list(bare, own)) else text
    text = _by_rules(text, key)
    return text if own == NO_LIST else _without_listed(text, own, key)


def _with_listed(text: str, own: SecretSettings) -> tuple[Secret, ...]:
    """The secrets of a text with what a workspace's list names, where that is in none of them."""
    found = list(secrets(text))
    walls = [(one.start, one.end) for one in found]
    walls += [wall.span() for wall in mark_pattern()().finditer(text)]
    listed = _merged(places_of_list(text, own), 0)
    for start, end in walls:
        listed = [one for one in listed if one.end <= start or end <= one.start]
    return tuple(sorted([*found, *listed], key=lambda one: one.start))


def _without_listed(text: str, own: SecretSettings, key: bytes) -> str:
    """The text without what a workspace's own list names; marks stay as they are."""
    pieces = re.split(f"({mark_pattern().source})", text)
    for number in range(0, len(pieces), 2):  # between them stand marks
        found = _merged(places_of_list(pieces[number], own), 0)
        pieces[number] = _marked(pieces[number], found, key)
    return "".join(pieces)


def _by_rules(text: str, key: bytes) -> str:
    for _ in range(_DEPTH):
        found = secrets(text)
        if not found:
            return text
        text = _marked(text, found, key)
    return "".join(map(_hidden, re.split(f"({mark_pattern().source})", text)))


def _hidden(piece: str) -> str:
    return "[secret:hidden]" if secrets(piece) else piece


def _marked(text: str, found: Iterable[Secret], key: bytes) -> str:
    stretches = (
        (one.start, one.end, mark(one.kind, text[one.start : one.end], key)) for one in found
    )
    return replaced(text, stretches)


def _in_piece(piece: str, offset: int) -> list[Secret]:
    if len(piece) <= _MOST_ALONE:
        alone = _KEYPAD_ALONE().fullmatch(piece)
        if alone is not None and len(set(alone["value"][:-1])) > 1:
            return [Secret("password", alone.start("value") + offset, alone.end("value") + offset)]
    if len(piece) < _LEAST_CHARS:
        return []
    places = [*by_shape(piece), *checked_numbers(piece)]
    # "access token" and "token" announce the same; what stands inside a value announces nothing.
    known: set[tuple[str, int]] = set()
    inside = Secret("", 0, 0)
    for name, kind, match in anchored(piece, _lowered(piece)):
        if name != "secrets/announcements":
            places += by_format(kind, match)
        elif (kind, match.end()) not in known and not inside.start <= match.start() < inside.end:
            known.add((kind, match.end()))
            for place in announced(kind, piece, match):
                places.append(place)
                inside = place
    return _merged(places, offset)


def _lowered(text: str) -> str:
    """In lower case, character by character: "İ" would be two."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


def _merged(places: Iterable[Secret], offset: int) -> list[Secret]:
    """Places in order, those that overlap made one; the earlier and longer gives its kind."""
    merged: list[Secret] = []
    for kind, start, end in sorted(places, key=lambda place: (place[1], -place[2])):
        if merged and start + offset < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(end + offset, merged[-1].end))
        else:
            merged.append(Secret(kind, start + offset, end + offset))
    return merged
