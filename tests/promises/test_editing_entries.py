"""Editing one entry changes that entry alone: no other is fused with it, swallowed or deleted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises import front_door as door
from tests.promises.front_door import File, Pipimem, PipimemError

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

CHANNEL = "room"
NOTE = """# Memory

What people agreed on.
It goes on here.

## Facts

- The port is 8080
- The host is bonn
  - with a backup in essen

  and a paragraph of its own
* another bullet <!-- of May -->

1. first
2) second

```
- no entry
```

## Rules

| day | who |
|---|---|
| Monday | Ann |

> quoted

- the last one
  ```
  code
  ```

## Nothing else

The end."""
DRAFTS = (
    "Caroline has known her friends for 4 years",
    "two lines\nof one entry",
    "with a list:\n- one\n- two",
    "",
    "   \n\n",
    "## A heading typed into an entry",
    "Title\n=====",
    "words\n\n# heading",
    "- one\n- two",
    "- one",
    "1. one",
    "one\n\ntwo",
    "---",
    "- - -",
    "```\nnever closed",
    "words\n~~~",
    "<!-- never closed",
    "words <!-- never closed",
    "<!-- nothing but a comment -->",
    "<pre>",
    "<div>\nwords",
    "| a | b |\n|---|---|",
    "> a quote",
    "\tindented",
    "words\r\n- with another line end",
    "-->",
    "```",
)
# What random drafts are made of.
PARTS = (
    *("words", "- ", "* ", "1. ", "# ", "## ", "> ", "\n", "\n", "\n\n", "  ", "    ", "\t", "---"),
    *("===", "```", "~~~", "<!--", "-->", "<pre>", "</pre>", "<div>", "|", "|---|", "`", "\\"),
    *("\r\n", "\0", "\ufeff", "\u2028", "中文", "[ ] ", "[x] ", "- [ ] ", "(a)", "*b*"),
)


def random_drafts(count: int) -> Iterator[str]:
    """Yield drafts of a few parts each, the same ones every time."""
    parts = random.Random(31)
    for _ in range(count):
        yield "".join(parts.choices(PARTS, k=parts.randint(1, 9)))


async def blocks_of(channel: Any) -> tuple[Any, ...]:
    return (await door.view_file(channel, File.MEMORY)).blocks


def known(block: Any) -> tuple[Any, ...]:
    """Return what is shown of a block, with who said it, when, and how it came."""
    entry = block.entry
    about = (entry.id, entry.speaker, entry.since, entry.trust, entry.sources) if entry else ()
    return (block.kind, block.section, block.level, block.source.rstrip("\n"), *about)


def entry_numbers(blocks: tuple[Any, ...]) -> list[int]:
    return [number for number, block in enumerate(blocks) if block.entry is not None]


async def test_a_draft_changes_one_entry_or_nothing(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """The other entries stay with all that is known of them; the short form samples the pairs."""
    drafts = [*DRAFTS, *random_drafts(400 if is_long else 20)]
    saved = refused = 0
    async with Pipimem(workspace, "offline") as pipimem:
        channel = await pipimem.channel(CHANNEL, kind="group")
        path = door.folder_of(workspace, CHANNEL) / "MEMORY.md"
        path.write_text(NOTE, encoding="utf-8")
        for text, speaker in (("the door is blue", "Ann"), ("we ship on Tuesdays", "Bo")):
            await door.remember(channel, text, speaker=speaker)
        original = path.read_bytes()
        blocks = await blocks_of(channel)
        assert {"Ann", "Bo"} <= {blocks[number].entry.speaker for number in entry_numbers(blocks)}
        for turn, draft in enumerate(drafts):
            numbers = entry_numbers(blocks)
            step = 1 if is_long else 3
            if turn >= len(DRAFTS):
                step = len(numbers)
            for number in numbers[turn % step :: step]:
                count_trials()
                try:
                    await door.save_entry(channel, File.MEMORY, blocks[number], draft)
                except PipimemError:
                    refused += 1
                    assert path.read_bytes() == original, draft
                    continue
                saved += 1
                now = await blocks_of(channel)
                assert len(now) == len(blocks), draft
                assert now[number].kind == "entry", draft
                assert now[number].section == blocks[number].section, draft
                for before, after in zip(blocks, now, strict=True):
                    if before is not blocks[number]:
                        assert known(after) == known(before), draft
                if path.read_bytes() != original:
                    await door.undo(channel)
                assert path.read_bytes() == original, draft
                blocks = await blocks_of(channel)
    assert min(saved, refused) > len(DRAFTS)


async def test_an_empty_draft_says_how_an_entry_is_removed(workspace: Path) -> None:
    """Removing is a deed of its own, and an undo brings the entry back."""
    async with Pipimem(workspace, "offline") as pipimem:
        channel = await pipimem.channel(CHANNEL)
        path = door.folder_of(workspace, CHANNEL) / "MEMORY.md"
        path.write_text(NOTE, encoding="utf-8")
        for number in entry_numbers(await blocks_of(channel)):
            blocks = await blocks_of(channel)
            with pytest.raises(PipimemError, match="Take out"):
                await door.save_entry(channel, File.MEMORY, blocks[number], "")
            await door.take_out_shown(channel, File.MEMORY, blocks[number])
            rest = [known(block) for block in blocks if block is not blocks[number]]
            assert [known(block) for block in await blocks_of(channel)] == rest
            await door.undo(channel)
            assert path.read_text(encoding="utf-8") == NOTE


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
async def test_a_pin_changes_no_other_byte(workspace: Path, eol: str) -> None:
    """Each entry can be pinned; taking the pin away gives the bytes back, line ends included."""
    opened = "- the port is 8080 <!-- of May,\n  from Ann --> for all\n- it ends with blanks  \n"
    note = NOTE.replace("- The port is 8080\n", opened)
    original = note.replace("\n", eol).encode()
    async with Pipimem(workspace, "offline") as pipimem:
        channel = await pipimem.channel(CHANNEL)
        path = door.folder_of(workspace, CHANNEL) / "MEMORY.md"
        path.write_bytes(original)
        for number in entry_numbers(await blocks_of(channel)):
            blocks = await blocks_of(channel)
            await door.pin(channel, File.MEMORY, blocks[number], pinned=True)
            after = await blocks_of(channel)
            assert after[number].is_pinned
            assert [known(block) for block in after if block is not after[number]] == [
                known(block) for block in blocks if block is not blocks[number]
            ]
            await door.pin(channel, File.MEMORY, after[number], pinned=False)
            assert path.read_bytes() == original
