"""Which observers the settings ask for."""

from __future__ import annotations

import logging
import sys

from pipimem.observer import Observers
from pipimem.settings import ObservabilitySettings

_API = "opentelemetry.trace"

_log = logging.getLogger("pipimem")


def observers_of(settings: ObservabilitySettings) -> Observers:
    """OpenTelemetry where the settings ask for it, or the process uses it; else none.

    Where its API is asked for and missing, there is one warning.
    """
    wanted = settings.opentelemetry
    if wanted == "never" or (wanted == "auto" and _API not in sys.modules):
        return Observers()
    try:
        # 90 ms where nothing has loaded it.
        from pipimem.runtime.observability.opentelemetry_spans import OpenTelemetryObserver
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        _log.warning(
            "no spans: [observability] opentelemetry asks for them, and `pip install "
            "opentelemetry-api` brings what is missing"
        )
        return Observers()
    return Observers(
        OpenTelemetryObserver(content=settings.content, channel_ids=settings.channel_ids)
    )
