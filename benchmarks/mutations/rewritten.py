"""A rival: the model writes MEMORY.md anew as a whole, and the file is replaced by what it wrote.

No model is asked here. What a model would have written is made from the same reply: the file after
everything the reply asks for (its JSON repaired where it is broken), or the reply's own words where
it holds no object. The same kinds of change then befall this text. The file is replaced if the text
holds at least one bullet; `guarded` refuses one with fewer than half of the entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from tests.sidecar.replies.judging import keeps

from benchmarks.mutations.repaired import repaired

_THINKING = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_FENCE = re.compile(r"```\w*\n?")
_BULLET = re.compile(r"^[-*+] (.*\S)", re.MULTILINE)
_STRANGE = ("\u200b", "\u202e", "\x00", "🙈", "，", "\u0301")


def file_asked_for(reply: str, memory: Mapping[str, str]) -> str:
    """MEMORY.md as a model would write it that means what the reply says."""
    body = repaired(reply)
    if not body:
        return reply
    texts = dict(memory)
    for name in ("over", "drop"):
        for item in _items(body, name):
            texts.pop(str(item.get("id")), None)
    for name, ids in (("learned", "replaces"), ("merge", "ids")):
        for number, item in enumerate(_items(body, name)):
            named = item.get(ids)
            for one in named if isinstance(named, list) else ():
                texts.pop(str(one), None)
            texts[f"{name} {number}"] = str(item.get("text", ""))
    return "# Memory\n\n## Facts\n\n" + "".join(
        f"- {text}\n" for text in texts.values() if text.strip()
    )


def changed(text: str, changes: Sequence[str], chance: Random) -> str:
    """The same kinds of change, done to the lines of a file."""
    for change in changes:
        lines = text.splitlines(keepends=True)
        bullets = [number for number, line in enumerate(lines) if line.startswith("- ")]
        at = chance.choice(bullets) if bullets else -1
        match change:
            case "cut":
                text = text[: chance.randrange(len(text) + 1)]
                continue
            case "bracket dropped" if bullets:
                lines[at] = lines[at][2:]
            case "ids swapped" if bullets:
                other = chance.choice(bullets)
                lines[at], lines[other] = lines[other], lines[at]
            case "text emptied" if bullets:
                lines[at] = "- \n"
            case "value retyped" if bullets:
                lines[at] = f"- {chance.choice(('null', '0', 'true', '[]', '{}'))}\n"
            case "operation doubled" if bullets:
                lines.insert(at, lines[at])
            case "reordered":
                chance.shuffle(lines)
            case "white space" | "unicode":
                piece = chance.choice((" ", "\n", "\t") if change == "white space" else _STRANGE)
                place = chance.randrange(len(text) + 1)
                text = text[:place] + piece + text[place:]
                continue
        text = "".join(lines)
    return text


def lost(text: str, memory: Mapping[str, str], wanted: frozenset[str], *, guarded: bool) -> int:
    """How many entries are gone once the file is what the model wrote."""
    lines = _BULLET.findall(_FENCE.sub("", _THINKING.sub("", text)))
    if not lines or (guarded and len(lines) < len(memory) / 2):
        return 0  # refused: the old file stands
    standing = set(lines)
    return sum(
        1
        for name, old in memory.items()
        if name not in wanted
        and old not in standing
        and not any(keeps(old, line) for line in lines)
    )


def _items(body: Mapping[str, object], name: str) -> list[dict[str, object]]:
    found = body.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
