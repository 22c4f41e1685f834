"""What consolidation sends a model, in tokens of cl100k, with answers that were written before.

usage: python -m benchmarks.prompt_tokens ANSWERS TRANSCRIPT.jsonl [--compact-every 70]

ANSWERS is a folder with in/NNNN.txt and out/NNNN.txt: requests and answers of an earlier replay of
the same transcript, compacted as often. Ids of entries in the answers are read by the texts that
stood beside them. "Nearest shown" asks of each fact learnt whether the entry most like it, of those
at all like it, is shown with the window: only what is shown can be replaced.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from litellm import encode
from pipimem import Pipimem, Settings
from pipimem.notes.entry import Entry
from pipimem.runtime.channel import Channel
from pipimem.runtime.replay import EventTime, recorded, replay
from pipimem.settings import MaintenanceSettings
from pipimem.sidecar.answer_schemas import answer_schema, parse_answer
from pipimem.sidecar.prompts import Prompts, placeholder_values
from pipimem.sidecar.short_ids import ShortIds
from pipimem.sidecar.tasks import Answer, Call, Consolidate, Task, task_name
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.words.similarity import alike, bigrams

from benchmarks.machine import heading

_ENTRY = re.compile(r"^\[(\w{4,8})\] (?:\([^)]*\) )?(.+)$", re.MULTILINE)
# Below this two texts are about different things.
_LIKE = 0.35


def tokens(text: str) -> int:
    """The tokens of a text by cl100k."""
    return len(encode(model="gpt-4", text=text))


@dataclass
class Recorded:
    """An assistant that gives the recorded answers in their order, and counts what it was sent."""

    folder: Path
    channel: Channel | None = None
    messages: int = 0
    prompt: int = 0
    schema: int = 0
    alike: int = 0
    shown: int = 0
    rows: list[str] = field(default_factory=list)
    name: str = "recorded"
    paid: bool = False

    async def answer(self, task: Task, call: Call) -> Answer:
        """The next recorded answer, with the ids that this replay's entries have."""
        assert isinstance(task, Consolidate), f"a recorded replay has no answer to {task}"
        number = f"{len(self.rows) + 1:04}.txt"
        said = json.loads((self.folder / "out" / number).read_text("utf-8"))
        earlier = dict(_ENTRY.findall((self.folder / "in" / number).read_text("utf-8")))
        shown = {entry.text: entry.id for entry in task.memory}
        names = {name: shown[text] for name, text in earlier.items() if text in shown}
        for item in said["learned"]:
            item["replaces"] = [names[name] for name in item["replaces"] if name in names]
        said["over"] = [
            {**each, "id": names[each["id"]]} for each in said["over"] if each["id"] in names
        ]
        await self._count(task, call, [item["text"] for item in said["learned"]])
        return parse_answer(json.dumps(said), task)

    async def _count(self, task: Consolidate, call: Call, learned: list[str]) -> None:
        assert self.channel is not None
        asked = ShortIds.of(task).shortened(task)
        values = placeholder_values(asked, call.channel)
        system, user = Prompts().rendered(task_name(task), values)
        prompt = tokens(system) + tokens(user)
        schema = tokens(json.dumps(answer_schema(asked).schema))
        memory = [entry for entry in (await self.channel.notes()).memory.entries if entry.bullet]
        shown = {entry.text for entry in task.memory}
        nearest = [entry for text in learned for entry in _nearest(text, memory)]
        self.alike += len(nearest)
        self.shown += sum(entry.text in shown for entry in nearest)
        self.messages += len(task.window)
        self.prompt += prompt
        self.schema += schema
        parts = " | ".join(str(tokens(values[name])) for name in ("memory", "told", "session"))
        row = f"| {len(task.window)} | {tokens(system)} | {parts} | {tokens(values['window'])} |"
        self.rows.append(f"{row} {prompt} | {schema} | {len(shown)} of {len(memory)} |")


def _nearest(text: str, memory: list[Entry]) -> list[Entry]:
    grams = bigrams(text)
    ranked = sorted(memory, key=lambda entry: -alike(grams, bigrams(entry.text)))
    return [entry for entry in ranked[:1] if alike(grams, bigrams(entry.text)) >= _LIKE]


async def measured(assistant: Recorded, transcript: Path, every: int) -> None:
    """Replay the transcript into an empty workspace."""
    when = EventTime()
    settings = replace(Settings(), maintenance=MaintenanceSettings(enabled=False))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        WorkspaceStore.init(root)
        async with Pipimem(
            root, assistant=assistant, settings=settings, clock=when.clock()
        ) as pipimem:
            assistant.channel = await pipimem.channel("room", kind="group")
            report = await replay(
                assistant.channel, recorded(transcript), when, compact_every=every
            )
    assert not report.reasons, report.reasons


def main() -> None:
    """Replay one transcript with its recorded answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("transcript", type=Path)
    parser.add_argument("--compact-every", type=int, default=70)
    asked = parser.parse_args()
    print(heading("Tokens of consolidation's prompts", "litellm"))
    assistant = Recorded(asked.answers)
    anyio.run(measured, assistant, asked.transcript, asked.compact_every)
    print(
        "| messages | instructions | memory | told | sheet | window | prompt | schema | entries |"
    )
    print("|---|---|---|---|---|---|---|---|---|", *assistant.rows, sep="\n")
    prompt = assistant.prompt / assistant.messages
    whole = (assistant.prompt + assistant.schema) / assistant.messages
    print(f"a message: {prompt:.1f}, with the schema {whole:.1f}")
    print(f"nearest shown: {assistant.shown} of {assistant.alike}")


if __name__ == "__main__":
    main()
