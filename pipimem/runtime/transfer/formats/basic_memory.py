"""A folder of basic-memory: notes with front matter, observations and relations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.runtime.transfer.formats.markdown_files import front_matter, paragraphs
from pipimem.runtime.transfer.formats.values import time_of, with_name
from pipimem.runtime.transfer.found import Found, FoundEntry, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles

# - [category] content #tag (context)
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(\S.*)", re.DOTALL)
# - type [[Target]] (context)
_RELATION = re.compile(r"(?:([\"'])(?P<long>.+?)\1|(?P<type>[^\s\[]+)) *\[\[(?P<to>[^\]]+)\]\].*")
_KINDS = {
    "preference": Kind.PREFERENCE,
    "wish": Kind.WISH,
    "health": Kind.HEALTH,
    "decision": Kind.DECISION,
    "constraint": Kind.CONSTRAINT,
    "requirement": Kind.CONSTRAINT,
    "rule": Kind.CONSTRAINT,
    "todo": Kind.OPEN_LOOP,
    "question": Kind.OPEN_LOOP,
    "lesson": Kind.LESSON,
}


def recognises(files: SourceFiles) -> bool:
    """Whether a note says under which permalink it is known."""
    notes = files.named(".md")
    return any("permalink" in front_matter(files.head(name)) for name in notes)


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each observation, relation and paragraph, behind its note's title."""
    for name in files.names:
        if name.endswith(".md"):
            yield from _note(files.text(name), name, files.base(name).removesuffix(".md"))
        else:
            yield Skipped(name, "no note")


def _note(text: str, name: str, base: str) -> Iterator[Found]:
    fields = front_matter(text)
    title = fields.get("title") or base
    when = time_of(fields.get("modified")) or time_of(fields.get("created"))
    for one in paragraphs(text):
        said, kind = _said(one.text, title, kind_of(one.section) or Kind.FACT)
        yield FoundEntry(said, f"{name}:{one.line}", kind, when=when)


def _said(text: str, title: str, kind: Kind) -> tuple[str, Kind]:
    """What a bullet or paragraph says on its own, and its kind."""
    observation = _OBSERVATION.fullmatch(text)
    if observation and len(observation[1]) > 1:
        kind = _KINDS.get(observation[1].strip().casefold(), kind)
        return f"{title}: {observation[2]}", kind
    relation = _RELATION.fullmatch(text)
    if relation:
        word = (relation["long"] or relation["type"]).replace("_", " ")
        return f"{title} {word} {relation['to']}", kind
    return with_name(title, text), kind


FORMAT = SourceFormat("basic-memory", "a folder of basic-memory", recognises, read)
