"""Dashboard and alerts ask for what is exported, by labels and values that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import yaml
from pipimem.memory import gates
from pipimem.observer import OperationKind
from pipimem.runtime.observability.metric_names import METRICS
from pipimem.runtime.observability.metrics import OperationMetrics

from tests.cases import each

ROOT = Path(__file__).parents[3]
RULES = ROOT / "integrations" / "prometheus" / "pipimem.rules.yml"
DASHBOARD = ROOT / "integrations" / "grafana" / "pipimem.json"
_NAME = re.compile(r"\b(?:pipimem|process)_\w+")
_SELECTOR = re.compile(r"\b((?:pipimem|process)_\w+)\{([^}]*)\}")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
_BY = re.compile(r"\bby \(([^)]*)\)")
_OF_PROMETHEUS = {"instance", "job", "le"}
_OUTCOMES_OF_CALLS = {"ok", "refused", "timeout", "error", "denied", "unfit", "cancelled"}


def rules() -> list[dict[str, Any]]:
    """The alerts of the rules file."""
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression, by the alert or the panel that has it."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if "definition" in variable:
            yield variable["name"], variable["definition"]


EXPRESSIONS = dict(expressions())


def metric_of(name: str) -> str:
    """The metric that a series is of: a histogram has three."""
    histograms = {metric.name for metric in METRICS if metric.kind == "histogram"}
    found = re.sub(r"_(bucket|sum|count)$", "", name)
    return found if found in histograms else name


@each("where", EXPRESSIONS)
def test_an_expression_names_what_is_exported(where: str) -> None:
    """Each metric, and each label of it that is asked for or summed up by."""
    labels = {metric.name: {*metric.labels} | _OF_PROMETHEUS for metric in METRICS}
    expression = EXPRESSIONS[where]
    asked = {metric_of(name) for name in _NAME.findall(expression)} - {"pipimem_info, instance"}
    assert asked - set(labels) == set()
    for name, inside in _SELECTOR.findall(expression):
        used = {label for label, _, _ in _MATCHER.findall(inside)}
        assert used - labels[metric_of(name)] == set(), name
    grouped = {label.strip() for group in _BY.findall(expression) for label in group.split(",")}
    assert all(grouped <= labels[name] for name in asked)


@each("where", EXPRESSIONS)
def test_an_expression_names_outcomes_that_there_are(where: str) -> None:
    """A word that no operation ends with would never be found."""
    counted = dict(OperationMetrics().families())
    ended = {labels for samples in counted.values() for labels in samples if len(labels) == 2}
    for name, inside in _SELECTOR.findall(EXPRESSIONS[where]):
        wanted = {label: value for label, _, value in _MATCHER.findall(inside)}
        kind, outcomes = wanted.get("operation"), wanted.get("outcome", "")
        if kind:
            assert kind in get_args(OperationKind)
        for outcome in filter(None, outcomes.split("|")):
            if name == "pipimem_operations_total":
                assert (kind, outcome) in ended
            else:
                assert outcome in _OUTCOMES_OF_CALLS


def test_each_idle_job_is_counted_from_the_beginning() -> None:
    """Prometheus sees no increase in a series that begins with its first count."""
    samples = {metric.name: found for metric, found in OperationMetrics().families()}
    counted = {task for task, _ in samples["pipimem_jobs_total"]}
    source = Path(gates.__file__).read_text("utf-8")
    assert counted == set(re.findall(r'^        "(\w+)": may_', source, re.MULTILINE))


def test_an_alert_says_how_bad_it_is_and_what_it_saw() -> None:
    """Whoever is woken reads one sentence."""
    assert len(rules()) == len({rule["alert"] for rule in rules()}) >= 14
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "warn", "info")
        assert rule["annotations"]["summary"]


@each("page", ["operating.md", "zh-CN/operating.md"])
def test_the_guide_says_what_to_do_about_each_alert(page: str) -> None:
    """A row for each, and none for what is not there."""
    text = (ROOT / "docs" / "guide" / page).read_text("utf-8")
    assert set(re.findall(r"^\| `(Pipimem\w+)` \|", text, re.MULTILINE)) == {
        rule["alert"] for rule in rules()
    }


def test_the_alerts_have_a_test_of_their_own() -> None:
    """`promtool test rules` looks at each: quiet where all is well, and all of them where not."""
    cases = yaml.safe_load(RULES.with_suffix(".test.yml").read_text("utf-8"))["tests"]
    quiet, loud = cases
    assert {case["alertname"] for case in quiet["alert_rule_test"]} == {
        rule["alert"] for rule in rules()
    }
    assert loud["promql_expr_test"][0]["exp_samples"][0]["value"] == len(rules())


def test_panels_do_not_overlap() -> None:
    """A dashboard is laid out on 24 columns."""
    taken: set[tuple[int, int]] = set()
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not taken & cells, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels) > 20
