"""A rival: operations out of repaired JSON, item by item, whatever of it can be understood.

This is how many bots read a model's answer: text around the object is cut away, quotes and commas
are set right, what is cut off is closed, fields of the wrong type are left out with their item.
What the item then asks for is done by the same thoughts and the same store as ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Bullet
from pipimem.sidecar.tasks import Consolidated, Folded, Learned, Merge, Over, Refile, Tidied

_THINKING = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_COMMA = re.compile(r",\s*([}\]])")
_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")


def repaired(answer: str) -> dict[str, object]:
    """The object in an answer, mended until it parses; an empty one where nothing helps."""
    text = _THINKING.sub("", answer)
    start = text.find("{")
    if start < 0:
        return {}
    text = text[start:]
    for mended in (
        text,
        text[: text.rfind("}") + 1],
        _tidied(text),
        _tidied(text[: text.rfind("}") + 1]),
    ):
        for closed in (mended, *_closed(mended)):
            try:
                value = json.loads(closed, strict=False)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return value
    return {}


def _tidied(text: str) -> str:
    text = text.replace("“", '"').replace("”", '"')
    if '"' not in text:
        text = text.replace("'", '"')
    return _KEY.sub(r'\1"\2":', _COMMA.sub(r"\1", _COMMENT.sub("", text)))


def _closed(text: str) -> Iterator[str]:
    """The text with what is open closed: first as it stands, then back to the last whole value."""
    yield _COMMA.sub(r"\1", text + _ends(text))
    for end in range(len(text), max(0, len(text) - 400), -1):
        if text[end - 1 : end] in {"}", "]", '"'}:
            yield _COMMA.sub(r"\1", text[:end] + _ends(text[:end]))


def _ends(text: str) -> str:
    """The quote and brackets that are missing at the end."""
    open_ones, quoted, escaped = [], False, False
    for character in text:
        if quoted:
            escaped, quoted = character == "\\" and not escaped, character != '"' or escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            open_ones.append("}" if character == "{" else "]")
        elif character in "}]" and open_ones:
            open_ones.pop()
    return ('"' if quoted else "") + "".join(reversed(open_ones))


def consolidated(answer: str, entries: Collection[str], messages: Collection[str]) -> Consolidated:
    """What can be understood of an answer to `Consolidate`."""
    body = repaired(answer)
    learned = [
        Learned(
            kind=_kind(item.get("kind")),
            text=text,
            sources=tuple(name for name in _strings(item.get("sources")) if name in messages),
            necessity=str(item.get("necessity", "high")),
            confidence=confidence
            if isinstance(confidence := item.get("confidence"), float)
            else 1.0,
            explicit=item.get("explicit") is True,
            replaces=tuple(name for name in _strings(item.get("replaces")) if name in entries),
        )
        for item in _items(body.get("learned"))
        if isinstance(text := item.get("text"), str)
    ]
    history = [
        Bullet(text, tuple(_strings(item.get("sources"))))
        for item in _items(body.get("history"))
        if isinstance(text := item.get("text"), str) and text.strip()
    ]
    over = [
        Over(name, str(item.get("why", "")))
        for item in _items(body.get("over"))
        if isinstance(name := item.get("id"), str) and name in entries
    ]
    return Consolidated(
        tuple(learned),
        tuple(over),
        str(body.get("title", "")),
        tuple(history) or (Bullet("A talk"),),
    )


def tidied(answer: str, entries: Collection[str]) -> Tidied:
    """What can be understood of an answer to `Tidy`."""
    body = repaired(answer)
    merge = [
        Merge(ids, text)
        for item in _items(body.get("merge"))
        if len(ids := tuple(name for name in _strings(item.get("ids")) if name in entries)) > 1
        and isinstance(text := item.get("text"), str)
    ]
    move = [
        Refile(name, _kind(item.get("kind")))
        for item in _items(body.get("move"))
        if isinstance(name := item.get("id"), str) and name in entries
    ]
    drop = [
        Over(name, str(item.get("why", "")))
        for item in _items(body.get("drop"))
        if isinstance(name := item.get("id"), str) and name in entries
    ]
    return Tidied(tuple(merge), tuple(move), tuple(drop))


def folded(answer: str) -> Folded:
    """What can be understood of an answer to `Fold`."""
    body = repaired(answer)
    bullets = [
        Bullet(text, tuple(_strings(item.get("sources"))))
        for item in _items(body.get("bullets"))
        if isinstance(text := item.get("text"), str)
    ]
    return Folded(str(body.get("title", "")), tuple(bullets))


def _kind(value: object) -> Kind:
    return Kind(value) if isinstance(value, str) and value in set(Kind) else Kind.FACT


def _items(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
