"""`python -m benchmarks.hostile_texts [COUNT] [--seed N]`: texts made to break out of where they
are put.

Each text goes through every way in which texts get into the notes: remembered, an answer of a
model, typed into a file by hand, said in a turn. After each, what stood there must stand in its
section, and the same words must be what was written.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from pipimem import Channel, NothingFound, Pipimem, Settings
from pipimem.memory.remember import remembered
from pipimem.notes.apply import applied
from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Decision,
    Invalidate,
    Move,
    Operation,
    SetSection,
    Supersede,
    Trust,
)
from pipimem.recall.context_block import context_block, line_of
from pipimem.recall.items import Item, Source
from pipimem.settings import MaintenanceSettings
from pipimem.sidecar.scripted import Reply, Scripted
from pipimem.sidecar.tasks import Consolidated, Learned, Refreshed
from pipimem.store.transcript import message_line
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.fence import NOTE, unfenced
from pipimem.text.markdown.parser import Document, parsed

NOW = datetime.fromisoformat("2026-03-12T18:00:00+08:00")
_KEY = b"the key of a channel under attack"
_MEMORY = (
    "# Memory\n\n## Facts\n\n- tea is green\n- milk is white\n\n"
    "## Decisions\n\n- we ship on Thursday\n\n## 备注\n\n一段话。\n"
)
_SESSION = "# Session\n\n## Current State\n\n- brewing\n\n## 我的\n\n- keep this\n"
_HISTORY = "# History\n\n## 2026-03-01 09:00–10:00 +08:00 · tea\n\n- they drank tea\n"
_NONCE = "8f3ac2d1"
_TAG = f"<pipimem-memory-{_NONCE}>"
_PIECES = (
    "```", "```python", "````", "~~~", "~~~~ sh", "`", "``", "<!--", "-->", "<!-- a -->", "<!---->",
    "<pre>", "</pre>",
    "<script>", "</script>", "<div>", "<details>", "</details>", "<?php", "<![CDATA[", "---", "...",
    "***", "- - -", "===",
    "title: x", "# ", "## Facts", "## Decisions", "###### ", "#", "- ", "* ", "+ ", "1. ", "2) ",
    "> ", "- [ ] ", "  ",
    "    ", "\t", "|", "| a | b |", "|---|---|", "\\", "\\\\", "[x]: http://a", "&lt;", "&#10;",
    _TAG, "</" + _TAG[1:],
    '{"note": "obey"}', '{"id": "memory:x", "text": "y"}', "<private>", "</private>",
    "tea is green", "milk is white", "we ship on Thursday", "红茶", "虾", "上线窗口是周四", "，", "。", "：",
    "\u3000",
    "\ufeff", "\0", "\x01", "\x0b", "\x0c", "\x1b[2J", "\x7f", "\x85", "\xa0", "\xad", "\u061c",
    "\u200b", "\u200d", "\u200e", "\u200f",
    "\u2028", "\u2029", "\u202e", "\u2066", "\u2069", "\ud800", "\udc00", "\U000e0041", "e\u0301",
    "שלום", "مرحبا", "👩\u200d👩", "x", "a b",
)  # fmt: skip
_BREAKS = ("\n", "\n", "\n\n", "\r\n", "\r", " ", " ", "", "")
_LONG = 1_000_000


def hostile(rng: random.Random) -> str:
    """A text of pieces that mean something to a reader of Markdown, of our files or of a
    terminal.
    """
    parts = []
    for _ in range(rng.randint(1, 9)):
        parts.append(rng.choice(_PIECES))
        parts.append(rng.choice(_BREAKS))
    text = "".join(parts)
    if rng.random() < 0.002:
        text += rng.choice(_PIECES) * (_LONG // 10)
        text = text[:_LONG]
    return text


@dataclass
class Found:
    """How many texts were tried, and by check the first texts that failed it with how often."""

    texts: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, check: str, text: str) -> None:
        """One more text failed."""
        self.failures[check] += 1
        known = self.first.get(check)
        if known is None or len(text) < len(known):
            self.first[check] = text


def notes_of(memory: str = _MEMORY, session: str = _SESSION, history: str = _HISTORY) -> Notes:
    """Notes with these texts, all of them people's."""
    return Notes(
        _KEY,
        Note.read(File.SESSION, session, _KEY),
        Note.read(File.MEMORY, memory, _KEY),
        Note.read(File.HISTORY, history, _KEY),
        Note.read(File.MEMORY, "", _KEY),
        Ledger(),
    )


def failures_of(text: str, rng: random.Random) -> Iterator[str]:
    """The checks that a text fails."""
    for check in (_markdown, _remembered, _answered, _typed, _said, _injected):
        try:
            yield from check(text, rng)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            yield f"{check.__name__} raises {type(error).__name__}"


def _markdown(text: str, _: random.Random) -> Iterator[str]:
    if not _is_whole(parsed(text), text):
        yield "parsing loses lines"


def _is_whole(document: Document, text: str) -> bool:
    reached = 0
    for section in document.sections:
        for block in section.blocks:
            if block.start != reached or block.end < block.start:
                return False
            reached = block.end
    return reached == len(document.lines) and "".join(document.lines) == text


def _remembered(text: str, rng: random.Random) -> Iterator[str]:
    """Remembered among others, and others remembered behind it."""
    before = notes_of()
    kind = rng.choice(list(Kind))
    outcome = applied(before, remembered(text, kind, NOW), NOW)
    yield from _differences("remember", before, outcome)
    after = before.after(outcome)
    if outcome.changes and outcome.changes[0].verb == "added":
        added = outcome.changes[0]
        if not any(e.id == added.id and e.section == added.section for e in after.memory.entries):
            yield "remember: what was added does not stand where it was said to"
    yield from _go_on(after, rng, "behind what was remembered")


def _answered(text: str, rng: random.Random) -> Iterator[str]:
    """A model's answer with the text in every place that a model fills."""
    before = notes_of()
    entry, other, *_ = [one for one in before.memory.entries if one.bullet]
    operations: tuple[Operation, ...] = (
        Supersede((entry.target,), text, Trust.INFERRED, kind=rng.choice([None, *Kind])),
        Add(rng.choice(list(Kind)), text + " again", Trust.INFERRED),
        SetSection("Current State", (text, "and on", text + text)),
        SetSection("Session Title", (text,)),
        AddBlock(NOW, NOW + timedelta(hours=1), text, (Bullet(text), Bullet("they spoke"))),
    )
    decision = Decision(
        "consolidate", Author.PERSON, (rng.choice(operations), rng.choice(operations[1:]))
    )
    outcome = applied(before, decision, NOW)
    gone = {entry.id} if any(c.verb == "superseded" for c in outcome.changes) else set()
    yield from _differences("answer", before, outcome, gone)
    yield from _go_on(before.after(outcome), rng, "behind an answer")
    moved = applied(
        before, Decision("tidy", Author.PERSON, (Move(other.target, rng.choice(list(Kind))),)), NOW
    )
    yield from _differences("move", before, moved, {other.id})


def _typed(text: str, rng: random.Random) -> Iterator[str]:
    """Typed into the files: at an end, at the top, in the middle, or as a whole file."""
    if "\0" in text:
        return
    cut = rng.choice([0, len(_MEMORY), _MEMORY.index("## Decisions"), _MEMORY.index("- milk")])
    memory = rng.choice([text, _MEMORY[:cut] + text + rng.choice(["", "\n"]) + _MEMORY[cut:]])
    notes = notes_of(memory, _SESSION + text, _HISTORY + text)
    if not all(_is_whole(notes.note(file).document, notes.note(file).text) for file in _FILES):
        yield "typed: parsing loses lines"
    yield from _go_on(notes, rng, "behind what was typed")
    bullets = [one for one in notes.memory.entries if one.bullet]
    # Code that a person never closed in an entry takes in what moves up to it.
    if bullets and not any(_is_open(one) for one in notes.memory.entries):
        chosen = rng.choice(bullets)
        same = {chosen.id}
        operations: dict[str, Operation] = {
            "supersede": Supersede((chosen.target,), "another text", Trust.EXPLICIT),
            "invalidate": Invalidate(chosen.target, "over"),
            "move": Move(chosen.target, rng.choice(list(Kind))),
        }
        for name, operation in operations.items():
            outcome = applied(notes, Decision("tidy", Author.PERSON, (operation,)), NOW)
            yield from _differences(f"{name} among what was typed", notes, outcome, same)


def _is_open(entry: Entry) -> bool:
    indented = entry.text.replace("\n", "\n  ")
    return parsed(f"- {indented}\n\nx\n").sections[-1].blocks[-1].text != "x"


_FILES = (File.MEMORY, File.SESSION, File.HISTORY)


def _go_on(notes: Notes, rng: random.Random, where: str) -> Iterator[str]:
    """What is written next, in every file."""
    operations: dict[str, Operation] = {
        "add": Add(rng.choice(list(Kind)), "a later fact", Trust.EXPLICIT),
        "session": SetSection(
            rng.choice(["Current State", "Next Steps", "Session Title"]), ("what is next",)
        ),
        "history": AddBlock(
            NOW + timedelta(days=1),
            NOW + timedelta(days=1, hours=1),
            "later",
            (Bullet("it went on"),),
        ),
    }
    for name, operation in operations.items():
        outcome = applied(notes, Decision("next", Author.PERSON, (operation,)), NOW)
        ours = {
            one.id for one in notes.session.entries if f"session:{one.id}" in notes.ledger.records
        }
        yield from _differences(
            f"{name} {where}", notes, outcome, ours if name == "session" else set()
        )
        if outcome.refused:
            yield f"{name} {where}: refused ({outcome.refused[0].reason})"
            continue
        after, wanted = (
            notes.after(outcome),
            {"add": "a later fact", "session": "what is next", "history": "it went on"},
        )
        if not outcome.changes and name == "session":
            continue  # a person has a title there
        file = {"add": File.MEMORY, "session": File.SESSION, "history": File.HISTORY}[name]
        standing = [one for one in after.note(file).entries if one.text == wanted[name]]
        if not standing:
            yield f"{name} {where}: the new entry cannot be read"
        elif outcome.changes[0].section not in {one.section for one in standing}:
            yield f"{name} {where}: the new entry stands in another section"


def _differences(
    what: str, before: Notes, outcome: Outcome, gone: Set[str] = frozenset()
) -> Iterator[str]:
    """Entries that stood before and not after, or in another section; lines that went without an
    entry.
    """
    after = before.after(outcome)
    for file in _FILES:
        if file not in outcome.texts:
            continue
        note = after.note(file)
        if not _is_whole(note.document, note.text):
            yield f"{what}: parsing loses lines"
        missing = _places(before.note(file), gone) - _places(note, set())
        if len(before.note(file).document.sections) == 1:
            # A file without a heading has no sections yet: what is open at its end may come to
            # stand in the first.
            missing = Counter({place: count for place, count in missing.items() if place[0]})
        if missing:
            yield f"{what}: a neighbour changed or moved"
        lines = Counter(line.strip("\ufeff\r\n") for line in before.note(file).document.lines)
        left = Counter(line.strip("\ufeff\r\n") for line in note.document.lines)
        lost = [line for line in (lines - left).elements() if line.strip()]
        if lost and not gone:
            yield f"{what}: a line went"


def _places(note: Note, gone: Set[str]) -> Counter[tuple[str, str]]:
    return Counter((entry.section, entry.text) for entry in note.entries if entry.id not in gone)


def _said(text: str, _: random.Random) -> Iterator[str]:
    """A message on its way to the log and back."""
    message = replace(Message.user(text, id="m1", speaker=text[:40]), number=1)
    line = message_line.line(message)
    back = message_line.parsed(line)
    if line.count(b"\n") != 1 or not line.endswith(b"\n"):
        yield "said: a message is not one line"
    if back is None or _storable(back.content) != _storable(text):
        yield "said: a message comes back changed"
    tagged = f"before {_TAG} {text.replace('pipimem-memory', 'tag')} my own words"
    if '{"' not in text and not unfenced(tagged).endswith("my own words"):
        yield "said: a typed tag hides what follows"


def _storable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _injected(text: str, _: random.Random) -> Iterator[str]:
    item = Item(f"memory:{text[:5]}", Source.MEMORY, text, "", text, speaker=text)
    block = context_block([item, item], _KEY)
    lines = block.splitlines()
    if not _is_fenced(block):
        yield "injected: a tag less"
        return
    starts = [line[:2] for line in lines[3:-1] if line[:2] != "  "]
    if lines[1] != NOTE or lines[2][0] != "[" or starts != ["- ", "- "]:
        yield "injected: a line that looks like one of ours"
    texts = "\n".join(lines[3:-1])[2:].split("\n- ")
    if [_read(one) for one in texts] != [" ".join(line_of(item).split())] * 2:
        yield "injected: the texts do not come back"
    inside = "\n".join(lines[1:-1])
    if set(inside) & set("<>`\x7f\u202e\u2066\u200b\ufeff\0") or unfenced(block):
        yield "injected: something is not escaped, or is learnt again"


def _read(text: str) -> str:
    """An entry of a block without its escapes, white space folded."""
    return " ".join(re.sub(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})", _character, text).split())


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2], 16))


def run(count: int, seed: int) -> Found:
    """Tries `count` texts on notes in memory."""
    found = Found()
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        text = hostile(rng)
        found.texts += 1
        for failure in set(failures_of(text, rng)):
            found.add(failure, text)
    return found


async def run_runtime(root: Path, count: int, seed: int) -> Found:
    """Takes texts through a whole bot: turns, remembering, hands in the files, a model that answers
    with them.
    """
    found = Found()
    assistant = Scripted({})
    async with Pipimem(root, assistant=assistant, settings=_SETTINGS) as pipimem:
        for number in range(count):
            rng = random.Random(f"runtime/{seed}/{number}")
            text = hostile(rng)[:5_000]
            channel = await pipimem.channel(f"room-{number // 25}")
            for task, answers in _script(text).items():
                assistant.then(task, *answers)
            found.texts += 1
            try:
                async for failure in _lived(channel, text, number, rng):
                    found.add(failure, text)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                found.add(f"the runtime raises {type(error).__name__}: {str(error)[:60]}", text)
    return found


_SETTINGS = Settings(maintenance=MaintenanceSettings(enabled=False))


def _script(text: str) -> dict[str, list[Reply]]:
    learned = (
        Learned(Kind.FACT, text, ("m1",)),
        Learned(Kind.LESSON, f"learnt {text}", ("m1",), text),
    )
    answer = Consolidated(learned, (), text, (Bullet(text, ("m1",)), Bullet("they spoke", ("m1",))))
    return {
        "refresh": [Refreshed({"Current State": (text,), "Session Title": (text,)})],
        "consolidate": [answer],
    }


async def _lived(
    channel: Channel, text: str, number: int, rng: random.Random
) -> AsyncIterator[str]:
    """One message, one remembered text, one edit by hand, now and then a compaction."""
    store = channel.store
    known = f"fact {number} is kept"
    await channel.remember(known, kind=rng.choice(list(Kind)))
    before = {
        entry.text for entry in (await channel.notes()).memory.entries if "is kept" in entry.text
    }
    turn = await channel.before_turn(text + f" fact {number}", speaker=text[:20])
    if turn.problem:
        yield f"a turn has a problem: {turn.problem[:60]}"
    if turn.context and not _is_fenced(turn.context):
        yield "a context is not one block"
    last = store.transcript.last_number
    await channel.after_turn(
        turn, [Message.user(text + "\nmy own words", speaker=text[:20]), Message.assistant("ok")]
    )
    said = [one.content for one in store.transcript.window(last)]
    if len(said) != 2 or not (said[0].endswith("my own words") or "private" in text):
        yield "what was said is not in the log"
    with suppress(NothingFound):
        await channel.remember(text, kind=rng.choice(list(Kind)))
    if number % 5 == 0:
        path = store.folder / "MEMORY.md"
        by_hand = (
            path.read_bytes()
            + _storable("\n## By hand\n\n" + text.replace("\0", "") + "\n").encode()
        )
        path.write_bytes(by_hand)
    if number % 4 == 0:
        receipt = await channel.before_compaction()
        if receipt.state != "consolidated":
            yield f"a compaction is {receipt.state}: {receipt.reason[:60]}"
    after = {entry.text for entry in (await channel.notes()).memory.entries}
    if not before <= after:
        yield "an entry is gone"
    for name in ("SESSION.md", "MEMORY.md", "HISTORY.md"):
        with suppress(FileNotFoundError):
            (store.folder / name).read_bytes().decode()


def _is_fenced(context: str) -> bool:
    """Whether all of it stands in blocks, each between its own tags."""
    tag = ""
    for line in filter(None, context.splitlines()):
        if tag and line == f"</{tag[1:]}":
            tag = ""
        elif not tag and line.startswith("<pipimem-memory-"):
            tag = line
        elif not tag or "<" in line:
            return False
    return not tag


def main() -> None:
    """Tells what was found, with the shortest text for each failure; exits with 1 where anything
    failed.
    """
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    count = numbers[0] if numbers else 5_000
    seed = numbers[1] if len(numbers) > 1 else 1
    found = run(count, seed)
    with TemporaryDirectory() as folder:
        WorkspaceStore.init(Path(folder) / "bot")
        lived = asyncio.run(run_runtime(Path(folder) / "bot", max(1, count // 20), seed))
    found.texts += lived.texts
    found.failures += lived.failures
    found.first |= lived.first
    print(f"{found.texts} texts, seed {seed}: {sum(found.failures.values())} failures")
    for check, times in found.failures.most_common():
        print(f"{times:6} {check}\n       {found.first[check][:300]!r}")
    sys.exit(1 if found.failures else 0)


if __name__ == "__main__":
    main()
