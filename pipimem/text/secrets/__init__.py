"""Secrets in a text, found and replaced by a mark: `[secret:<kind>]` or `[secret:<kind>:<tag>]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain

from pipimem import resources
from pipimem.settings import SecretSettings
from pipimem.text.patterns import Pattern, replaced
from pipimem.text.secrets.spoken import announced
from pipimem.text.secrets.values import Secret, by_format, by_shape, checked_numbers
from pipimem.text.word_lists import HintedPattern, hinted


def places_of_list(text: str, settings: SecretSettings) -> Iterator[Secret]:
    """The places of phone numbers, if they are to be masked, and of the workspace's own list."""
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
    """The words of a list as one expression, the longest first, and its patterns."""
    words = sorted(filter(str.strip, settings.words), key=len, reverse=True)
    found = [re.compile(one) for one in settings.patterns]
    if words:
        found.append(re.compile("|".join(map(_word, words)), re.IGNORECASE))
    return tuple(found)


def _word(word: str) -> str:
    """An expression for a word; ASCII letters and digits beside it make it a part of another."""
    word = word.strip()
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", word) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]$", word) else ""
    return f"{before}{re.escape(word)}{after}"


FILES = ("secrets/key_formats", "secrets/contexts", "secrets/announcements")
"""The rules that are tried where one of their hints begins."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One expression for many hints; its longest hint stands for those that begin it."""

    pattern: re.Pattern[str]
    rules: dict[str, tuple[tuple[str, HintedPattern], ...]]


def anchored(text: str, lowered: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """The rules that match where a hint stands: the file, the kind, the match.

    `lowered` is the text in lower case, character by character.
    """
    lowered = "\n" + lowered  # what stands before a word is then always a character
    # How far a rule matched: a run of a thousand prefixes is one match, not a thousand.
    reached: dict[HintedPattern, int] = {}
    for one in _passes():
        for found in one.pattern.finditer(lowered):
            start = found.start(1) - 1
            for name, rule in one.rules[found[1]]:
                if start < reached.get(rule, 0):
                    continue
                match = rule.pattern().match(text, start)
                if match is not None:
                    reached[rule] = match.end()
                    yield name, rule.kind, match


@cache
def _passes() -> tuple[_Pass, ...]:
    """A search for 300 words one after another costs 1 ms for 4 KB of chat.

    So: those at the beginning of a word, which few positions are; the few that stand inside words;
    those in Chinese, whose characters are rare in code.
    """
    word: dict[str, list[tuple[str, HintedPattern]]] = {}
    inside: dict[str, list[tuple[str, HintedPattern]]] = {}
    han: dict[str, list[tuple[str, HintedPattern]]] = {}
    for name in FILES:
        for rule in hinted(name, "(?i:{})" if name.endswith("announcements") else "{}"):
            for hint in rule.hints:
                if hint[0] == "*":
                    place = inside
                elif hint[0].isascii():
                    place = word
                else:
                    place = han
                place.setdefault(hint.lstrip("*"), []).append((name, rule))
    return (
        _pass("[^a-z0-9](?=({}))", word),
        _pass("({})", inside),
        _pass("({})", han),
    )


def _pass(around: str, rules: dict[str, list[tuple[str, HintedPattern]]]) -> _Pass:
    with_shorter: dict[str, tuple[tuple[str, HintedPattern], ...]] = {}
    for hint in rules:
        beginnings = [rules[other] for other in rules if hint.startswith(other)]
        with_shorter[hint] = tuple(chain.from_iterable(beginnings))
    return _Pass(re.compile(around.replace("{}", _alternatives(rules))), with_shorter)


def _alternatives(words: Iterable[str]) -> str:
    """An expression for the longest of the words, which branches at each character once."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return _branches(root)


def _branches(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    branches = [re.escape(one) + _branches(below) for one, below in sorted(node.items()) if one]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in node else "")


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


# A keyed hash of what can be guessed would tell it to whoever holds the channel's folder, where
# the key lies: of a code of six digits, all of it. Machines make longer ones.
_LEAST_TAGGED = 20
_FILES = (*FILES, "secrets/key_shapes")
_OTHER_KINDS = ("card-number", "identity-number", "iban", "phone-number", "listed", "hidden")


@cache
def kinds() -> frozenset[str]:
    """Every kind of secret that a mark may name."""
    headings = (heading for name in _FILES for heading in resources.sections(name))
    return frozenset((*_OTHER_KINDS, *(one.partition(":")[0] for one in headings if one)))


@cache
def mark_pattern() -> Pattern:
    """A mark, also one of a former version.

    Only known kinds: `[secret: my password]` that somebody types hides nothing.
    """
    known = "|".join(sorted(kinds(), key=len, reverse=True))
    former = "|".join(resources.sections("secrets/former_kinds")[""])
    return Pattern(rf"\[secret:(?:(?:{known})(?::[0-9a-f]{{4}})?| (?:{former}))\]")


def mark(kind: str, value: str, key: bytes) -> str:
    """The mark of a secret; a long one has a keyed tag, by which it is known when it comes again.

    Without a key, and for what can be guessed, there is no tag.
    """
    if not key or len(value) < _LEAST_TAGGED:
        return f"[secret:{kind}]"
    tag = blake2b(value.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=2)
    return f"[secret:{kind}:{tag.hexdigest()}]"


def holds_mark(text: str) -> bool:
    """Whether something was masked in a text."""
    return "[secret:" in text and mark_pattern()().search(text) is not None
