"""What hosts wait for and what the runtime does beside is told to observers, without words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pipimem import Operation
from pipimem.runtime.channel import upkeep_of

from tests.runtime.observability.talk import (
    CHANNEL,
    PRIVATE,
    SAID,
    SECRET,
    model_on_loopback,
    remembering,
    talk,
)

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]


@dataclass
class Recorder:
    """Keeps the operations that ended."""

    wants_content: bool = False
    ended: list[Operation] = field(default_factory=list)

    def begin(self, operation: Operation) -> object:
        return None

    def end(self, operation: Operation, begun: object) -> None:
        self.ended.append(operation)

    def of(self, kind: str) -> list[Operation]:
        return [operation for operation in self.ended if operation.kind == kind]


async def test_every_operation_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns, recalls, the gate, commits, jobs and calls of models, with what came of them."""
    recorder = Recorder()
    async with model_on_loopback(monkeypatch), remembering(tmp_path, recorder) as (_, channel):
        await talk(channel)
        usage = [*upkeep_of(channel).store.workspace.usages()]
        recorder = Recorder(ended=[*recorder.ended])  # without the closing
    assert {operation.channel for operation in recorder.ended} == {CHANNEL}
    assert [each.outcome for each in recorder.of("turn")] == ["ok"] * 4
    assert len(recorder.of("recall")) == 4
    assert len(recorder.of("store_turn")) == 3
    assert recorder.of("search")[0].records > 0
    assert recorder.of("forget")[0].records > 0
    assert [each.outcome for each in recorder.of("compaction")] == ["consolidated"]
    assert {"consolidate", "remember"} <= {each.task for each in recorder.of("commit")}
    jobs = {each.task: each.outcome for each in recorder.of("job")}
    assert jobs["consolidate"] == "ok"
    # The ledger, the call, the commit and the job are found by one id.
    calls = recorder.of("model")
    assert [(each.correlation, each.tokens_in, each.outcome) for each in calls] == [
        (line.correlation, line.tokens_in, line.outcome) for line in usage
    ]
    commits = {each.correlation for each in recorder.of("commit") if each.task == "consolidate"}
    assert commits == {line.correlation for line in usage if line.task == "consolidate"}
    assert recorder.of("job")[0].correlation in commits


async def test_operations_hold_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default only names, counts and times: nothing of what was said or is remembered."""
    recorder = Recorder()
    async with model_on_loopback(monkeypatch), remembering(tmp_path, recorder) as (_, channel):
        await talk(channel)
    told = repr(
        [
            [getattr(each, name) for name in Operation.__slots__ if name != "channel"]
            for each in recorder.ended
        ]
    )
    assert len(told) > 1_000
    assert [word for word in (SECRET, PRIVATE, SAID, "Dana") if word in told] == []


async def test_content_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for content gets question and entries as they may be stored."""
    recorder = Recorder(wants_content=True)
    async with model_on_loopback(monkeypatch), remembering(tmp_path, recorder) as (_, channel):
        await talk(channel)
        await channel.before_turn("An unrecorded pineapple", record=False)
    told = repr([(each.text, each.texts) for each in recorder.ended])
    first = recorder.of("recall")[0]
    assert f"The {SAID} release is on Friday" in first.text
    assert any(SAID in text for each in recorder.ended for text in each.texts)
    assert [word for word in (SECRET, PRIVATE, "pineapple") if word in told] == []


async def test_a_call_that_fails_is_told_as_the_ledger_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key: each attempt is `denied`, and the gate `deferred`."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    recorder = Recorder()
    async with remembering(tmp_path, recorder) as (_, channel):
        await channel.talk.append([])
        turn = await channel.before_turn("hello there")
        from pipimem import Message

        await channel.after_turn(turn, [Message.user("the release is on Friday")])
        await channel.before_compaction()
    assert {each.outcome for each in recorder.of("model")} == {"denied"}
    assert {each.error for each in recorder.of("model")} == {"KeyRefused"}
    assert {each.outcome for each in recorder.of("compaction")} == {"deferred"}
