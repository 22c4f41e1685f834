"""The dashboard is one of Grafana's, by the types that Grafana publishes for dashboards."""

from __future__ import annotations

import json
from collections.abc import Iterator

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.release.conftest import ROOT

_DASHBOARD = ROOT / "integrations" / "grafana" / "pipimem.json"
# Grafana writes it beside the query of a variable; its types do not have it.
_UNTYPED = {"definition"}


def test_every_field_of_it_is_one_of_grafanas() -> None:
    """Read into the types of dashboards and panels and written again, it is what it was.

    A field that they do not have would be dropped.
    """
    plugins.register_default_plugins()
    told = json.loads(_DASHBOARD.read_text("utf-8"))
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(told)))
    assert list(_lost(told, read, "")) == []
    assert list(_lost({"panels": [{"typ": "stat"}]}, read, "")) != []


def _lost(told: object, read: object, place: str) -> Iterator[str]:
    """What was told and was not read as it was told."""
    if isinstance(told, dict) and isinstance(read, dict):
        for name in told.keys() - _UNTYPED:
            yield from _lost(told[name], read.get(name), f"{place}/{name}")
    elif isinstance(told, list) and isinstance(read, list) and len(told) == len(read):
        for number, (one, other) in enumerate(zip(told, read, strict=True)):
            yield from _lost(one, other, f"{place}/{number}")
    elif told != read:
        yield f"{place}: {told!r} is {read!r}"
