"""`--metrics HOST:PORT`: metrics and health of a command that stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pipimem.cli.output import note
from pipimem.serving.metrics_endpoint import Address, serve_workspace_metrics

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class MetricsOptions:
    """Where metrics are served, empty for nowhere; only `is_public` others may read them."""

    address: str = ""
    is_public: bool = False

    @asynccontextmanager
    async def served(self, pipimem: Pipimem, *problems: Callable[[], str]) -> AsyncIterator[None]:
        """Serve them while this lasts; each of `problems` says why the command is not ready.

        Raises `SettingsError` for what is no address, `UsageError` for one that others reach, and
        `OSError` for one that is taken.
        """
        if not self.address:
            yield
            return
        address = Address.parsed(self.address)
        if not (address.is_loopback or self.is_public):
            raise click.UsageError(
                f"other machines would reach {address.shown}, and nothing asks them who they are; "
                "add --metrics-public, or choose 127.0.0.1"
            )
        async with serve_workspace_metrics(pipimem, address, *problems) as taken:
            note(f"metrics at http://{taken.shown}/metrics, with /healthz and /readyz")
            yield


def metrics_options(function: _F) -> _F:
    """`--metrics` and `--metrics-public`, given to the command as `metrics`."""

    @click.option(
        "--metrics",
        "metrics_address",
        metavar="HOST:PORT",
        default="",
        envvar="PIPIMEM_METRICS",
        help="Serve Prometheus metrics, /healthz and /readyz there; a port alone is on loopback.",
    )
    @click.option(
        "--metrics-public",
        is_flag=True,
        help="With --metrics: other machines may reach it; nothing asks them who they are.",
    )
    @wraps(function)
    def with_metrics(
        *args: object, metrics_address: str, metrics_public: bool, **options: object
    ) -> object:
        metrics = MetricsOptions(metrics_address, metrics_public)
        return function(*args, metrics=metrics, **options)

    return with_metrics  # type: ignore[return-value]  # click calls it by the options' names
