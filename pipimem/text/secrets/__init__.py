"""Secrets in a text, found and replaced by a mark: `[secret:<kind>]` or `[secret:<kind>:<tag>]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from hashlib import blake2b

from pipimem import resources
from pipimem.settings import SecretSettings
from pipimem.text.patterns import Pattern, replaced
from pipimem.text.secrets.anchors import Cue, anchored
from pipimem.text.secrets.checked_numbers import checked_numbers
from pipimem.text.secrets.keys import Secret, by_format, by_shape
from pipimem.text.secrets.normalized import Normalized
from pipimem.text.secrets.spoken import Span, announced, mark_kind, table_cells
from pipimem.text.word_lists import HintedPattern, hinted

NO_LIST = SecretSettings()
"""The settings of a workspace that masks nothing besides."""
# Text built so that each redaction uncovers another secret is hidden whole at this depth; others
# need 2.
_DEPTH = 6
# "pw a1b2": nothing shorter holds a word for a secret and the secret.
_LEAST_CHARS = 6
# Kinds that name less than the format of a key does.
_SAID = ("key", "password", "code", "api-key")
# Who sends nothing but "2580#" answers a question for what opens a door.
_MOST_ALONE = 16
_KEYPAD_ALONE = Pattern(r"\s*(?P<value>\d{4,8}[#*])[.!。！]?\s*")


def secrets(text: str, own: SecretSettings = NO_LIST) -> tuple[Secret, ...]:
    """Return every secret in the text, in order, without overlaps.

    Marks of earlier redactions are walls. `own` is what a workspace masks besides.
    """
    found: list[Secret] = []
    start = 0
    for wall in mark_pattern()().finditer(text) if "[secret:" in text else ():
        found += _in_piece(text[start : wall.start()], start, own)
        start = wall.end()
    found += _in_piece(text[start:] if start else text, start, own)
    return tuple(found)


def redacted(text: str, key: bytes = b"", own: SecretSettings = NO_LIST) -> str:
    """Return the text with each secret replaced by its mark, tagged under `key` if there is one.

    `own` is what a workspace masks besides. Redacting twice changes nothing more.
    """
    for _ in range(_DEPTH):
        found = secrets(text, own)
        if not found:
            return text
        text = _marked(text, found, key)
    return "".join(
        "[secret:hidden]" if secrets(piece, own) else piece
        for piece in re.split(f"({mark_pattern().source})", text)
    )


def _marked(text: str, found: Iterable[Secret], key: bytes) -> str:
    return replaced(
        text, ((start, end, mark(kind, text[start:end], key)) for kind, start, end in found)
    )


def _in_piece(piece: str, offset: int, own: SecretSettings) -> list[Secret]:
    """Return the secrets of a text without marks; a listed word inside a secret is part of it."""
    known = _known(piece) if len(piece) >= _LEAST_CHARS else list(_alone(piece))
    if own != NO_LIST:
        for secret in _listed(piece, own):
            if all(secret.end <= other.start or other.end <= secret.start for other in known):
                known.append(secret)
    return _merged(known, offset)


def _listed(piece: str, own: SecretSettings) -> list[Secret]:
    """Return the listed words of a text, also those with an invisible character inside."""
    found = list(places_of_list(piece, own))
    if not piece.isascii():
        read = Normalized(piece)
        inside = places_of_list(read.text, own)
        found += (Secret(kind, *read.span(start, end)) for kind, start, end in inside)
    return _merged(found, 0)


def _alone(piece: str) -> Iterator[Secret]:
    """Yield a keypad's code that is the whole of a message."""
    found = _KEYPAD_ALONE().fullmatch(piece) if len(piece) <= _MOST_ALONE else None
    if found is not None and len(set(found["value"][:-1])) > 1:
        yield Secret("password", *found.span("value"))


def _known(piece: str) -> list[Secret]:
    normalized = Normalized(piece)
    text = normalized.text
    places = [*_alone(text), *by_shape(text), *checked_numbers(text)]
    places += _anchored(text, normalized.lowered)
    spans = ((kind, *normalized.span(start, end)) for kind, start, end in places)
    return _merged((Secret(kind, start, end) for kind, start, end in spans), 0)


def _anchored(text: str, lowered: str) -> Iterator[Secret]:
    """Yield what the formats, contexts and words of `data/secrets` find."""
    # How far a rule matched: a run of a thousand prefixes is one match, not a thousand.
    reached: dict[HintedPattern, int] = {}
    words = _Words()
    for start, rule in anchored(lowered):
        if isinstance(rule, Cue):
            word = rule.pattern.match(lowered, start)
            if word is not None and words.is_new(start, word.end(), rule.kind):
                yield from _said(rule.kind, text, lowered, (start, word.end()), words)
        elif start >= reached.get(rule, 0):
            match = rule.pattern().match(text, start)
            if match is not None:
                reached[rule] = match.end()
                yield from by_format(rule.kind, match)


class _Words:
    """The words for secrets that were read, by their start; the last value; the last table."""

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._others: set[int] = set()
        self.value = self.table = (0, 0)

    def is_new(self, start: int, end: int, kind: str) -> bool:
        """Return whether a word is part of no longer one, as of "access token", and of no value."""
        is_part = self._ends.get(start, 0) > end or end in self._others
        if is_part or self.value[0] <= start < self.value[1]:
            return False
        self._ends[start] = max(end, self._ends.get(start, 0))
        self._others.add(end)
        return kind != "another word"


def _said(kind: str, text: str, lowered: str, word: Span, words: _Words) -> Iterator[Secret]:
    """Yield what a word announces, and the cells below it if it is the heading of a table."""
    for place in announced(kind, text, lowered, *word):
        words.value = place
        yield Secret(mark_kind(kind), *place)
    is_heading = word[0] >= words.table[1] or word[1] <= words.table[0]
    if kind in ("password", "code", "key") and is_heading:
        cells, words.table = table_cells(text, *word) or ((), words.table)
        yield from (Secret(mark_kind(kind), *cell) for cell in cells)


def _merged(places: Iterable[Secret], offset: int) -> list[Secret]:
    """Return places in order, overlapping ones as one; the earlier and longer names the kind."""
    merged: list[Secret] = []
    for kind, start, end in sorted(
        places, key=lambda place: (place[1], -place[2], place[0] in _SAID)
    ):
        if merged and start + offset < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(end + offset, merged[-1].end))
        else:
            merged.append(Secret(kind, start + offset, end + offset))
    return merged


def places_of_list(text: str, settings: SecretSettings) -> Iterator[Secret]:
    """Yield the places of phone numbers, if they are to be masked, and of the workspace's list."""
    if settings.phone_numbers:
        for rule in hinted("secrets/phone_numbers"):
            if any(hint in text for hint in rule.hints):
                for match in rule.pattern().finditer(text):
                    yield Secret(rule.kind, *match.span())
    for pattern in _own(settings):
        for match in pattern.finditer(text):
            if match[0]:
                yield Secret("listed", *match.span())


@lru_cache(maxsize=8)  # of the workspaces of a process
def _own(settings: SecretSettings) -> tuple[re.Pattern[str], ...]:
    """Return the words of a list as one expression, the longest first, and its patterns."""
    words = sorted(filter(str.strip, settings.words), key=len, reverse=True)
    found = [re.compile(pattern) for pattern in settings.patterns]
    if words:
        found.append(re.compile("|".join(map(_word, words)), re.IGNORECASE))
    return tuple(found)


def _word(word: str) -> str:
    """Return an expression for a word; ASCII letters and digits beside it make it another."""
    word = word.strip()
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", word) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]$", word) else ""
    return f"{before}{re.escape(word)}{after}"


# A keyed hash of what can be guessed would tell it to whoever holds the channel's folder, where
# the key lies: of a code of six digits, all of it. Machines make longer ones.
_LEAST_TAGGED = 20
_OTHER_KINDS = (
    *("card-number", "identity-number", "iban", "phone-number", "listed", "hidden"),
    *("password", "code", "key", "api-key", "extraction-code"),
)


@cache
def kinds() -> frozenset[str]:
    """Return every kind of secret that a mark may name."""
    files = (resources.sections(f"secrets/{name}") for name in ("kinds", "contexts"))
    return frozenset((*_OTHER_KINDS, *(kind for file in files for kind in file if kind)))


@cache
def mark_pattern() -> Pattern:
    """Return the expression for a mark, also of a former version.

    Only known kinds: `[secret: my password]` that somebody types hides nothing.
    """
    known = "|".join(sorted(kinds(), key=len, reverse=True))
    former = "|".join(resources.sections("secrets/former_kinds")[""])
    return Pattern(rf"\[secret:(?:(?:{known})(?::[0-9a-f]{{4}})?| (?:{former}))\]")


def mark(kind: str, value: str, key: bytes) -> str:
    """Return the mark of a secret; a long one has a keyed tag, by which it is known again.

    Without a key, and for what can be guessed, there is no tag.
    """
    if not key or len(value) < _LEAST_TAGGED:
        return f"[secret:{kind}]"
    tag = blake2b(value.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=2)
    return f"[secret:{kind}:{tag.hexdigest()}]"


def holds_mark(text: str) -> bool:
    """Return whether something was masked in a text."""
    return "[secret:" in text and mark_pattern()().search(text) is not None
