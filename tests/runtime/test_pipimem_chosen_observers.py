"""Spans are made where the process uses OpenTelemetry, or the settings ask for them."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from pipimem.runtime.pipimem import observers_of
from pipimem.settings import ObservabilitySettings


def test_without_opentelemetry_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` loads nothing by itself, `never` uses nothing that is there."""
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    assert not observers_of(ObservabilitySettings())
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", sys)
    assert not observers_of(ObservabilitySettings("never"))


def test_what_is_asked_for_and_missing_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The runtime goes on without spans, and the warning says what to install."""
    module = "pipimem.runtime.observability.opentelemetry_spans"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with caplog.at_level(logging.WARNING, "pipimem"):
        assert not observers_of(ObservabilitySettings("always"))
    assert [record.getMessage() for record in caplog.records] == [
        "no spans: [observability] opentelemetry asks for them, and `pip install "
        "opentelemetry-api` brings what is missing"
    ]


def test_the_runtime_loads_no_opentelemetry() -> None:
    """What is off costs no import."""
    code = "import sys, pipimem.runtime.pipimem; print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
