"""What is lost: an entry that is gone though nobody wanted it, judged from the files and the
answer alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipimem.errors import AnswerRefused
from pipimem.llm.json_object import extract_json
from pipimem.notes.kinds import File
from pipimem.text.words.similarity import bigrams, share_in

# A text that keeps less than half of the words does not stand for what it replaces.
KEPT = 0.5
LEAST_ALLOWED, SHARE_ALLOWED = 3, 0.25

Texts = Mapping[File, Mapping[str, str]]


@dataclass(frozen=True)
class Loss:
    """One entry that is gone, and why that counts."""

    text: str
    why: str


def named(answer: str, task: str) -> dict[str, str]:
    """The entries that a whole answer ends, each with the text that takes its place (none where
    it is dropped).
    """
    try:
        body = json.loads(extract_json(answer))
    except AnswerRefused:
        return {}
    found: dict[str, str] = {}
    lists = ("over", "learned") if task == "consolidate" else ("drop", "merge")
    for name in lists:
        for item in _dicts(body.get(name)):
            ids = [item.get("id"), *_list(item.get("ids")), *_list(item.get("replaces"))]
            text = item.get("text", "")
            found |= {
                one: text if isinstance(text, str) else "" for one in ids if isinstance(one, str)
            }
    return found


def gone(before: Texts, after: Texts) -> list[str]:
    """The ids of the entries of MEMORY.md that stand there no more."""
    return [name for name in before[File.MEMORY] if name not in after[File.MEMORY]]


def losses(
    before: Texts, after: Texts, ends: Mapping[str, str], wanted: frozenset[str]
) -> tuple[Loss, ...]:
    """What is lost. An entry may go if its words are kept, or if the answer named it and the
    run's cap allows it.
    """
    allowed = max(LEAST_ALLOWED, int(SHARE_ALLOWED * len(before[File.MEMORY])))
    standing = list(after[File.MEMORY].values())
    found, spent = [], 0
    for name in gone(before, after):
        text = before[File.MEMORY][name]
        if name in wanted or (keeps(text, ends.get(name, "")) and ends[name] in standing):
            continue
        if name not in ends:
            found.append(Loss(text, "no answer named it"))
        elif spent == allowed:
            found.append(Loss(text, "beyond the cap"))
        else:
            spent += 1
    told = {*after[File.HISTORY].values(), *after[File.ARCHIVE].values()}
    found += [
        Loss(text, "gone from history")
        for text in before[File.HISTORY].values()
        if text not in told
    ]
    return tuple(found)


def keeps(old: str, new: str) -> bool:
    """Whether a text keeps at least half of the words of another one."""
    return share_in(bigrams(old), bigrams(new)) >= KEPT


def may_be_newer(old: str, new: str) -> bool:
    """A loose look of the judge's own: two pairs of letters in common besides digits, or another
    language.
    """
    pairs = {pair for pair in bigrams(old) & bigrams(new) if not any(c.isdigit() for c in pair)}
    return len(pairs) >= 2 or old.isascii() is not new.isascii()


def _dicts(value: object) -> Iterator[dict[str, object]]:
    return (item for item in _list(value) if isinstance(item, dict))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
