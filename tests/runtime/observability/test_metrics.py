"""The metrics of a process: what was done and what waits, and no word of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pipimem.runtime.observability.metric_names import METRICS
from pipimem.runtime.observability.metrics import Metrics
from pipimem.settings import ObservabilitySettings

from tests.runtime.observability.talk import (
    CHANNEL,
    SECRET,
    UNSPEAKABLE,
    model_on_loopback,
    remembering,
    talk,
)

pytestmark = pytest.mark.anyio


def samples(text: str) -> dict[str, float]:
    """The value of each line that is no comment."""
    lines = [line.rpartition(" ") for line in text.splitlines() if line and line[0] != "#"]
    return {name: float(value) for name, _, value in lines}


async def test_a_talk_in_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the operations, the ledger and the files say."""
    async with (
        model_on_loopback(monkeypatch) as server,
        remembering(tmp_path) as (pipimem, channel),
    ):
        metrics = Metrics(pipimem)
        await talk(channel)
        found = samples(await metrics.text())
        billed = server.billed
    assert found['pipimem_operations_total{operation="turn",outcome="ok"}'] == 4
    assert found['pipimem_operations_total{operation="compaction",outcome="consolidated"}'] == 1
    assert found['pipimem_jobs_total{task="consolidate",outcome="ok"}'] == 1
    assert found['pipimem_model_tokens_total{model="openai/test",type="input"}'] == billed.prompt
    calls = 'pipimem_model_calls_total{model="openai/test",task="consolidate",outcome="ok"}'
    assert found[calls] == billed.calls == 2
    assert found["pipimem_messages"] == 5
    assert found["pipimem_backlog_messages"] == 0
    assert found["pipimem_ready"] == 1
    assert found["pipimem_maintenance_leader"] == 0


async def test_no_label_says_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No secret, no private stretch, no word of memory, no name and no channel."""
    async with model_on_loopback(monkeypatch), remembering(tmp_path) as (pipimem, channel):
        metrics = Metrics(pipimem)
        await talk(channel)
        text = await metrics.text()
    assert len(text) > 5_000
    assert [word for word in UNSPEAKABLE if word in text] == []


async def test_channels_are_named_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget and the backlog of each."""
    asked = ObservabilitySettings("never", channel_ids=True)
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, observability=asked) as (pipimem, channel),
    ):
        metrics = Metrics(pipimem)
        await talk(channel)
        text = await metrics.text()
    assert f'pipimem_channel_budget_used_ratio{{channel="{CHANNEL}"}} 0.00' in text
    assert SECRET not in text


async def test_every_line_is_of_a_metric_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the table does not name, no dashboard may ask for."""
    async with model_on_loopback(monkeypatch), remembering(tmp_path) as (pipimem, channel):
        metrics = Metrics(pipimem)
        await talk(channel)
        text = await metrics.text()
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    assert kinds == {each.name: each.kind for each in METRICS if each.name in kinds}
    assert len(kinds) > 25
    for line in text.splitlines():
        if not line.startswith("#"):
            name = re.match(r"\w+", line)
            assert name
            assert re.sub(r"_(bucket|sum|count)$", "", name[0]) in kinds


async def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """The rest is there, and `pipimem_ready` says that something is wrong."""
    async with remembering(tmp_path) as (pipimem, _):
        metrics = Metrics(pipimem)
        root = pipimem.store.root
        root.rename(tmp_path / "elsewhere")
        found = samples(await metrics.text())
        (tmp_path / "elsewhere").rename(root)
    assert found["pipimem_ready"] == 0
    assert found["process_cpu_seconds_total"] > 0
    assert "pipimem_disk_free_bytes" not in found


def test_names_are_those_that_prometheus_advises() -> None:
    """Counters end in `_total`, no label is `job` or `instance`, each says what it is."""
    for metric in METRICS:
        assert metric.name.startswith(("pipimem_", "process_"))
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert not {"job", "instance", "le"} & set(metric.labels)
        assert metric.help.endswith(".")
    assert len({metric.name for metric in METRICS}) == len(METRICS) > 30
