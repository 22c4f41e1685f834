"""`python -m benchmarks.poison.team_rules --evals DIR`: what second voices cost the rules of real teams.

`DIR` holds the evaluation's `transcripts/`. Each labelled stretch of talk is learnt by the offline
rules, with each value of `two_voices`, and once more as if the last member to speak up had come when
the others had talked for three weeks. Counted are the constraints of MEMORY.md, those that are
quotes, and those shown in a session's first turn, with a turn about nothing, and in a turn that
comes under the rule without naming it (`situations.tsv`: the set, the stretch, words of the rule, a
message).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pipimem import Channel, Message, Pipimem, Settings
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Trust
from pipimem.runtime.replay import EventTime, recorded
from pipimem.settings import GroupSettings, MaintenanceSettings
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.quotes import words_said

from benchmarks.consolidation.labels import (
    BLIND,
    BLIND_SECOND,
    BLIND_THIRD,
    FOLDER,
    UNSEEN,
    Stretch,
    stretches,
)
from benchmarks.machine import heading

_SETTINGS = replace(Settings(), maintenance=MaintenanceSettings(enabled=False))
_FOLDERS = (FOLDER, UNSEEN, BLIND, BLIND_SECOND, BLIND_THIRD)
# So much of a rule is looked for in what a turn is shown.
_KNOWN_BY = 40
# The setting, and whether the last of a stretch to speak up comes when the others know each other.
_ROWS: tuple[tuple[Literal["nobody", "newcomers", "everyone"], bool], ...] = (
    ("nobody", False),
    ("newcomers", False),
    ("newcomers", True),
    ("everyone", False),
)
COUNTS = ("rules", "quotes", "first turn", "every turn", "situations", "kept", "shown")
Situations = dict[tuple[str, str], list[tuple[str, str]]]


def main() -> None:
    """Prints a row for each."""
    evals, situations = Path(sys.argv[sys.argv.index("--evals") + 1]), _situations()
    print(heading("rules of teams"), "\n")
    print("| two voices |", " | ".join(COUNTS), "|\n|---|" + "---|" * len(COUNTS))
    for who, comes_late in _ROWS:
        settings = replace(_SETTINGS, groups=GroupSettings(two_voices=who))
        counted = Counter[str]()
        for folder in _FOLDERS:
            for stretch in stretches(folder):
                about = situations.get((folder.name, stretch.name), [])
                late = comes_late
                counted += asyncio.run(_counted(stretch, evals, settings, about, late=late))
        print(
            f"| {who}{', one comes late' if comes_late else ''} |",
            " | ".join(str(counted[name]) for name in COUNTS),
            "|",
        )


def _situations() -> Situations:
    found: Situations = defaultdict(list)
    text = Path(__file__).with_name("situations.tsv").read_text("utf-8")
    for line in text.splitlines():
        part, stretch, words, message = line.split("\t")
        found[part, stretch].append((words, message))
    return found


async def _counted(
    stretch: Stretch,
    evals: Path,
    settings: Settings,
    about: list[tuple[str, str]],
    *,
    late: bool,
) -> Counter[str]:
    """What becomes of the rules of one stretch."""
    with tempfile.TemporaryDirectory() as folder:
        root, transcript = Path(folder) / "bot", Path(folder) / "talk.jsonl"
        WorkspaceStore.init(root)
        transcript.write_text("\n".join(stretch.lines(evals)), encoding="utf-8")
        when, messages = EventTime(), recorded(transcript)
        for message in messages:
            when.seen(message.time)
        async with Pipimem(root, "offline", settings=settings, clock=when.clock()) as pipimem:
            channel = await pipimem.channel("stretch", kind="group")
            await channel.take_in([*_earlier(messages), *messages] if late else messages)
            await channel.compacted(await channel.before_compaction())
            return await _shown(channel, about)


def _earlier(messages: Sequence[Message]) -> list[Message]:
    """What all but the last to speak up said in the three weeks before."""
    people = dict.fromkeys(one.speaker for one in messages if one.role == "user" and one.speaker)
    began = next((one.time for one in messages if one.time), None)
    *others, _ = people or ("",)
    if began is None:
        return []
    days = [began - timedelta(days=days) for days in (22, 18, 11, 4)]
    return [
        Message.user("Good morning.", id=f"e{place}{name}", speaker=name, time=day)
        for place, day in enumerate(days)
        for name in others
    ]


async def _shown(channel: Channel, about: list[tuple[str, str]]) -> Counter[str]:
    entries = await channel.entries()
    rules = [one for one in entries if one.kind == Kind.CONSTRAINT]
    words = [words_said(one.text)[:_KNOWN_BY] for one in rules]
    found = Counter(rules=len(rules), quotes=sum(one.trust == Trust.QUOTED for one in rules))
    _, shown = await _turn(channel, "Good morning!")
    found["first turn"] = sum(one in shown for one in words)
    standing, _ = await _turn(channel, "Good morning again!")
    found["every turn"] = sum(one in standing for one in words)
    for rule, message in about:
        _, shown = await _turn(channel, message)
        found["situations"] += 1
        found["kept"] += any(rule in one.text for one in entries)
        found["shown"] += rule in shown
    return found


async def _turn(channel: Channel, message: str) -> tuple[str, str]:
    """What of a turn comes whatever is said, and all that is shown."""
    turn = await channel.before_turn(message, speaker="Zed")
    await channel.after_turn(turn, [])
    return turn.standing, turn.standing + turn.context


if __name__ == "__main__":
    main()
