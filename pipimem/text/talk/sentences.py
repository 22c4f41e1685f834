"""Messages cut at the ends of sentences: each as it was said, without address and greeting."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from pipimem.text.characters import HAN, is_chinese, without_emoji
from pipimem.text.patterns import Pattern
from pipimem.text.private import without_private
from pipimem.text.quotes import quoted
from pipimem.text.talk.personal import health_statement
from pipimem.text.talk.sentence_rules import (
    first_match,
    matches,
    rules,
    without_quotes,
)

# Longer messages are pasted documents rather than talk; their head says what they are about.
_MOST_CHARS = 1500

_WITHHELD = Pattern(r"\[(?:private|redacted|secret)", re.IGNORECASE)
_FENCE = Pattern(r"```.*?(?:```|\Z)", re.DOTALL)
# White space is matched whether a citation follows or not: a search goes on behind it.
_CITED_LINE = Pattern(r"^\s*+(>.*$)?", re.MULTILINE)
# What a platform adds: "[photo: a cat]", （图片）.
_REMARK = Pattern(
    r"\[(?!private\]|redacted\]|secret)[^\[\]]{0,200}\]|^（[^（）]{1,40}）", re.IGNORECASE
)
# Long quotations are somebody else's words: a forwarded mail, a page, an order to obey.
_LONG_QUOTE = Pattern(r"「[^」]{24,}」?|“[^”]{24,}”?|『[^』]{24,}』?|(?<!\w)\"[^\"]{40,}\"")
_CUT_OUT = "「…」"
# What a laughing "lol" may be about: a clause, and no word or two in front of one.
_CLAUSE = Pattern(rf"[,，;；:：。、]|(?<=[{HAN}])\s+(?=[{HAN}])")
_LEAST_LETTERS = 4
# Words as two texts may share them; of Chinese each two characters.
_WORD = Pattern(rf"[a-z]{{4,}}|(?=([{HAN}]{{2}}))")
_LIST_MARK = Pattern(r"^(?:[-*•]\s|\d{1,2}(?:[.)]\s|、))\s*")
# The numbers of a list that stands in one line, and the one that begins a sentence.
_ITEM, _ITEM_NUMBER = (
    Pattern(r"(?<![^\s：:])(\d{1,2})[.)、](?=\s?\D)"),
    Pattern(r"^\s*\d{1,2}\.$"),
)
# A full stop ends a sentence before a space, but not behind a title or a single letter.
_ABBREVIATED = Pattern(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|Inc|Ltd|Ave|Blvd"
    r"|vs|etc|e\.g|i\.e|approx|incl|excl|ca|tel|ext|No|[A-Z])\.$"
)
_END = Pattern(
    r"(?:[。！？!?；\n]|…(?!」))+[”』」\"')）]*|(?<=\w\w)(?!(?<=\b[Nn]o)\.\s\d)\.+[\"')]*(?=\s|$)"
    rf"|(?<!\.)\.++[\"')]*+(?=\s+[\"'(@]?[A-Z{HAN}]|\s*$)|;(?=\s)"
)
_PAIRS = (("「", "」"), ("“", "”"), ("《", "》"), ("『", "』"), ("（", "）"))


class MessageLike(Protocol):
    """The fields of a message of `pipimem.notes` that are read here."""

    @property
    def role(self) -> str: ...

    @property
    def content(self) -> str: ...

    @property
    def id(self) -> str: ...

    @property
    def time(self) -> datetime | None: ...

    @property
    def speaker(self) -> str: ...

    @property
    def number(self) -> int: ...


class Sentence(Struct, frozen=True):
    """One sentence of a message, or several that belong together, and its place in the window.

    `asked` says that somebody asked to remember it, `fragment` that it means nothing alone,
    `laughed` that its speaker laughs at it, or others answer with nothing but laughter, `answers`
    that it begins with a sentence of somebody else in quotation marks, and `closed` that its second
    half says that what was promised is done. `begins` is the place of the first of the sentences
    that it is made of and that follow each other, `mark` what makes it an item of a list: "2. ".
    """

    text: str
    sources: tuple[str, ...]
    speaker: str
    role: str
    when: datetime | None
    place: int
    question: bool = False
    asked: bool = False
    fragment: bool = False
    laughed: bool = False
    answers: bool = False
    closed: bool = False
    begins: int = -1
    mark: str = ""

    def quote(self) -> str:
        """The sentence with who and when."""
        name = self.speaker or ("用户" if is_chinese(self.text) else "User")
        return quoted(name, self.when.date() if self.when else None, self.text.rstrip("。.;； "))


def sentences(window: Sequence[MessageLike]) -> list[Sentence]:
    """All that people and the bot said, in order; without quotations, code and secrets."""
    people = {message.speaker for message in window if message.role == "user" and message.speaker}
    bots = {
        message.speaker for message in window if message.role == "assistant" and message.speaker
    }
    said: list[Sentence] = []
    laughing = ""  # who ended the message before with laughter
    for message in window:
        if message.role == "user" and matches("left_out", "laughter", message.content):
            if said and said[-1].speaker != message.speaker:
                said[-1] = replace(said[-1], laughed=True)
        elif message.role in ("user", "assistant"):
            new = _of_message(message, people, bots, len(said))
            laughs = matches("left_out", "joking", message.content)
            if new and laughs and laughing not in ("", message.speaker) and _goes_on(said, new):
                new[-1] = replace(new[-1], laughed=True)
            said += new
            laughing = message.speaker if laughs else ""
    return said


def _goes_on(said: Sequence[Sentence], new: Sequence[Sentence]) -> bool:
    """Whether a laughing sentence is of what the one before laughed at, and tells nothing grave."""
    told = new[-1].text
    if health_statement(told) or matches("concrete", "vital", told):
        return False
    if matches("changes", "change", told):
        return False
    return not _words_of(said[-1].text).isdisjoint(_words_of(told))


def _words_of(text: str) -> set[str]:
    return {found[1] or found[0] for found in _WORD().finditer(text.casefold())}


def split(text: str) -> list[str]:
    """The sentences of a text, each with its closing sign."""
    parts: list[str] = []
    start = 0
    for end in _END().finditer(text):
        part = text[start : end.end()]
        if (
            _ABBREVIATED().search(part)
            or _ITEM_NUMBER().match(part)
            or _inside(text[start : end.start()])
        ):
            continue
        parts.append(text[start : end.end()])
        start = end.end()
    parts.append(text[start:])
    return [" ".join(part.split()) for part in parts if part.strip()]


def letters(text: str) -> int:
    """The letters and digits of a text; a Chinese character counts for three."""
    return sum((1 if one.isascii() else 3) for one in text if one.isalnum())


def without_front(text: str, people: Collection[str], bots: Collection[str]) -> tuple[str, bool]:
    """A sentence without greeting, address and "remember that", and whether it had the latter."""
    asked, before = False, ""
    while text != before:
        before = text
        text = _without_address(text, people, bots)
        for section in ("greeting", "asking"):
            for rule in rules("front")[section]:
                found = rule.pattern.match(text)
                if found and found[0].strip():
                    text, asked = text[found.end() :], asked or section == "asking"
    bare = text.rstrip("。.!！~ ")
    behind = first_match(rules("front")["behind"], bare)
    if behind:
        text, asked = bare[: behind.start()], True
    if matches("front", "from now on", text):
        asked = True
    return text.strip(" ，,、:：-–—~"), asked


def _of_message(
    message: MessageLike, people: set[str], bots: set[str], place: int
) -> list[Sentence]:
    """The sentences of a message, each marked where it asks, or where somebody asked for it."""
    said: list[Sentence] = []
    waiting = False  # "remember this:" asks for what stands behind it
    for whole in _parts(message.content):
        mark = _LIST_MARK().match(whole)
        part = whole[mark.end() :] if mark else whole
        text, asked = without_front(" ".join(without_emoji(part).split()), people, bots)
        is_mark = matches("left_out", "mere mark", part)
        laughed = _is_laughed_at(part) or _is_sarcastic(part, said[-1:] if is_mark else ())
        if _is_empty(text, people) or (is_mark and laughed):
            if said and (asked or laughed):
                said[-1] = replace(said[-1], asked=asked, laughed=laughed)
            elif asked:
                waiting = True
            continue
        one = Sentence(
            text,
            (message.id,),
            message.speaker,
            message.role,
            message.time,
            place + len(said),
            begins=place + len(said),
            question=not whole.endswith((":", "：")) and _asks(without_quotes(text)),
            laughed=laughed,
            mark=mark[0] if mark else "",
        )
        one = replace(one, asked=(asked or waiting) and not one.question)
        said.append(one)
    return said


def _is_laughed_at(text: str) -> bool:
    """Whether a sentence of one clause ends with laughter; of several it laughs at the last."""
    clauses = [one for one in _CLAUSE().split(text) if sum(map(str.isalnum, one)) >= _LEAST_LETTERS]
    return len(clauses) <= 1 and matches("left_out", "joking", text)


def _is_sarcastic(text: str, before: Sequence[Sentence]) -> bool:
    """Whether a sentence, with those before it, likes something and ends or begins with a mark."""
    return matches("left_out", "sarcasm", " ".join((*(one.text for one in before), text)))


def _is_empty(text: str, people: Collection[str]) -> bool:
    """Whether a text is nothing but a person's name, or has neither letter nor digit."""
    if text.strip("!！.。 ") in people:
        return True
    return not any(character.isalnum() for character in text)


def without_tail(text: str) -> str:
    """A sentence without the question to "you" behind what it tells of its speaker, if any."""
    tail = first_match(rules("left_out")["tail"], text.rstrip("？?。！! "))
    if tail and matches("concrete", "person speaking", text[: tail.start()]):
        return text[: tail.start()]
    return text


def _asks(text: str) -> bool:
    """Whether a sentence is a question, also without a question to "you" at its end."""
    wholly = matches("left_out", "question", text)
    return wholly and matches("left_out", "question", without_tail(text))


def _parts(content: str) -> Iterator[str]:
    """The sentences of a message that are its speaker's own words."""
    text = _FENCE().sub(" ", without_private(content))
    text = _CITED_LINE().sub(lambda found: "" if found[1] else found[0], text)
    text = _REMARK().sub(" ", _LONG_QUOTE().sub(_CUT_OUT, text))
    parts = split("\n".join(map(_items_apart, text[:_MOST_CHARS].splitlines())))
    for part in parts[:-1] if len(text) > _MOST_CHARS else parts:
        if not _WITHHELD().search(part) and _CUT_OUT not in part:
            yield part


def _items_apart(line: str) -> str:
    """A line with each item of a list in it, which counts on from 1, in a line of its own."""
    items = list(_ITEM().finditer(line))
    if [int(item[1]) for item in items] != list(range(1, len(items) + 1)):
        return line
    starts = [0, *(item.start() for item in items), len(line)]
    return "\n".join(line[start:end] for start, end in pairwise(starts))


def _without_address(text: str, people: Collection[str], bots: Collection[str]) -> str:
    """Without the name of the bot in front or behind; a name of a person stays."""
    found = re.match(r"@([^\s,，:：]+)[,，:：]?\s*", text)
    if found and found[1] not in people:
        text = text[found.end() :]
    for name in bots:
        text = re.sub(
            rf"^{re.escape(name)}[,，:：!！]\s*|[,，]\s*{re.escape(name)}(?=[。.!！?？]*$)",
            "",
            text,
        )
    return text


def _inside(text: str) -> bool:
    return any(text.count(left) > text.count(right) for left, right in _PAIRS)
