"""A real Prometheus watches a replay: every panel of the dashboard moves, every alert is evaluated.

It is Debian's package `prometheus`, which brings promtool; where they are not on the path, all of
this is skipped, and says so.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.journeys.test_over_http import respond
from tests.release.conftest import ROOT
from tests.runtime.observability.test_metric_names import EXPRESSIONS, RULES, rules
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

_MISSING = [name for name in ("prometheus", "promtool") if not shutil.which(name)]
pytestmark = pytest.mark.skipif(
    bool(_MISSING),
    reason=f"no {' and no '.join(_MISSING)} here: dashboard and alerts were not tried live",
)

_MODEL = "openai/gpt-5-mini"  # litellm knows its price
_SETTINGS = f'[model]\nname = "{_MODEL}"\n[maintenance]\nidle_seconds = 1\n'
_SCRAPED = 1.0  # seconds
# What Grafana puts in the place of its variables; a rate needs four scrapes.
_VARIABLES = {"$__rate_interval": "10s", "$instance": ".*"}
# Series that are there only while a job fails.
_OF_FAILURES = {"Failing A", "Failing B"}
_LABEL_VALUES = re.compile(r"label_values\((\w+), (\w+)\)")
_ALERTS = {rule["alert"] for rule in rules()}
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Its HTTP interface."""

    url: str

    def get(self, path: str, **asked: str | float) -> Any:
        """The data of an answer; fails with what Prometheus says of a query that it cannot read."""
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {asked}: {error.read().decode()}") from error

    def values(self, query: str, begun: float, ended: float) -> list[list[float]]:
        """The values of each series that a query gives between two times."""
        for variable, value in _VARIABLES.items():
            query = query.replace(variable, value)
        found = self.get("query_range", query=query, start=begun, end=ended, step=_SCRAPED)
        return [[float(value) for _, value in series["values"]] for series in found["result"]]

    def alerts(self) -> dict[str, tuple[str, str]]:
        """The state of each alert, and whether it could be evaluated."""
        groups = self.get("rules")["groups"]
        return {
            rule["name"]: (rule["state"], rule["health"] + rule.get("lastError", ""))
            for group in groups
            for rule in group["rules"]
        }

    def is_ready(self) -> bool:
        """Whether it answers queries."""
        try:
            urllib.request.urlopen(f"{self.url}/-/ready", timeout=_PATIENCE).close()
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Seen:
    """A replay that has ended, and the Prometheus that saw it, which goes on."""

    prometheus: Prometheus
    begun: float
    ended: float
    exit_code: int
    at_work: list[float]
    exposed: str


def _eventually(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(_SCRAPED / 5)


def _slowly(request: ChatRequest) -> Reply:
    """As a model does: a replay takes its time, and is seen by more than one scrape."""
    return replace(respond(request), delay=0.5)


@contextmanager
def _running(*words: str | Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the block."""
    with subprocess.Popen(
        words, env=os.environ | environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _with_metrics(*words: str | Path, api: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command of pipimem with `--metrics`, and where they are."""
    command = [sys.executable, "-m", "pipimem", *words, "--metrics", "127.0.0.1:0"]
    with _running(*command, OPENAI_API_BASE=api, OPENAI_API_KEY="x") as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        found = re.match(r"metrics at http://([^/]+)/metrics", told)
        assert found, told
        yield process, found[1]


@contextmanager
def _prometheus(folder: Path, targets: list[str]) -> Iterator[Prometheus]:
    """One with our rules, that scrapes so."""
    every = f"{_SCRAPED:.0f}s"
    settings = {
        "global": {
            "scrape_interval": every,
            "scrape_timeout": every,
            "evaluation_interval": every,
        },
        "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "pipimem", "static_configs": [{"targets": targets}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(settings))  # JSON is YAML
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address={address}",
        "--log.level=error",
    ]
    with _running(*words):
        prometheus = Prometheus(f"http://{address}")
        _eventually(prometheus.is_ready)
        yield prometheus


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """The example's 150 messages replayed beside `watch`, both scraped; a model answers both."""
    folder = tmp_path_factory.mktemp("live")
    bot, room = folder / "bot", ROOT / "examples" / "release-room.jsonl"
    subprocess.run([sys.executable, "-m", "pipimem", "init", bot], check=True, capture_output=True)
    (bot / "pipimem.toml").write_text(_SETTINGS)
    words = ["replay", "room", room, "--kind", "group", "--compact-every", "10", "--maintain"]
    with ExitStack() as stack:
        api = f"{stack.enter_context(OpenAIServer(_slowly)).url}/v1"
        begun = time.time()
        _, watch = stack.enter_context(_with_metrics("--workspace", bot, "watch", api=api))
        process, replayed = stack.enter_context(_with_metrics("--workspace", bot, *words, api=api))
        prometheus = stack.enter_context(_prometheus(folder, [watch, replayed]))
        with urllib.request.urlopen(f"http://{replayed}/metrics") as answer:
            exposed = answer.read().decode()
        at_work = _messages_while(process, prometheus)
        yield Seen(prometheus, begun, time.time(), process.returncode, at_work, exposed)


def _messages_while(process: subprocess.Popen[str], prometheus: Prometheus) -> list[float]:
    """What the dashboard says of messages, again and again until a process has ended."""
    found = []
    while process.poll() is None:
        time.sleep(_SCRAPED)
        series = prometheus.get("query", query="max(pipimem_messages)")["result"]
        found += [float(one["value"][1]) for one in series]
    return found


def test_a_replay_is_seen_while_it_goes_on(seen: Seen) -> None:
    """Its messages grow from one look to the next, up to all of them."""
    assert seen.exit_code == 0
    assert seen.at_work == sorted(seen.at_work)
    assert len(set(seen.at_work)) >= 3
    assert seen.at_work[-1] == 150


@pytest.mark.parametrize("panel", sorted(EXPRESSIONS.keys() - _ALERTS - {"instance"}))
def test_a_panel_of_the_dashboard_shows_the_replay(panel: str, seen: Seen) -> None:
    """Each query is read, and but for those of failures each has numbers."""
    found = seen.prometheus.values(EXPRESSIONS[panel], seen.begun, seen.ended)
    numbers = [value for series in found for value in series if not math.isnan(value)]
    assert bool(numbers) is (panel not in _OF_FAILURES)


@pytest.mark.parametrize(
    ("panel", "least"),
    [("Turns A", 1), ("Compactions A", 5), ("Calls A", 0.5), ("Tokens A", 1000), ("Cost A", 0.1)],
)
def test_what_moves_has_more_than_noughts(panel: str, least: float, seen: Seen) -> None:
    """The replay's turns, gates and calls of the model are what the panel draws."""
    found = seen.prometheus.values(EXPRESSIONS[panel], seen.begun, seen.ended)
    assert max(value for series in found for value in series) >= least


def test_the_dashboard_offers_both_processes(seen: Seen) -> None:
    """Its variable has the watch and the replay to choose from."""
    asked = _LABEL_VALUES.fullmatch(EXPRESSIONS["instance"])
    assert asked
    series = {"match[]": asked[1], "start": seen.begun}
    found = seen.prometheus.get(f"label/{asked[2]}/values", **series)
    assert len(found) == 2


def test_every_alert_is_evaluated(seen: Seen) -> None:
    """None has an error, and of a replay that went well only its end is told."""
    _eventually(lambda: seen.prometheus.alerts()["PipimemDown"][0] == "pending")
    told = seen.prometheus.alerts()
    assert told.keys() == _ALERTS
    assert {health for _, health in told.values()} == {"ok"}
    assert {name for name, (state, _) in told.items() if state != "inactive"} == {"PipimemDown"}


@pytest.mark.parametrize("alert", sorted(_ALERTS))
def test_what_an_alert_looks_at_is_there(alert: str, seen: Seen) -> None:
    """But for the series of failures: a name that nobody exports would never alert."""
    names = set(re.findall(r"\b(?:pipimem_\w+|up\b)", EXPRESSIONS[alert]))
    there = set(seen.prometheus.get("label/__name__/values", start=seen.begun))
    assert names
    assert names - there <= {"pipimem_channel_jobs_failing", "pipimem_background_problems"}


@each("what", ["check", "test"])
def test_promtool_finds_nothing_wrong_with_the_alerts(what: str) -> None:
    """They are read, and their own test cases pass."""
    file = RULES if what == "check" else RULES.with_suffix(".test.yml")
    done = subprocess.run(
        ["promtool", what, "rules", file.name],
        cwd=RULES.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_nothing_wrong_with_the_metrics(seen: Seen) -> None:
    """Names, units, types and help are as Prometheus wants them."""
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=seen.exposed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
