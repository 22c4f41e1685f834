"""Log lines as JSON, one object a line, with the correlation id of what they were written for."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType

from pipimem.errors import SettingsError
from pipimem.observer import Operation, correlation
from pipimem.text.secrets import redacted

# What hosts use; the rest is the command line's.
__all__ = ["JsonLogFormatter", "OperationLog"]

VARIABLE = "PIPIMEM_LOG"
_FORMATS = ("text", "json")
_SPANS = "pipimem.runtime.observability.opentelemetry_spans"
_OPERATIONS = "pipimem.operations"
# The attribute of a record that holds an operation's fields.
_FIELDS = "pipimem_fields"

# Of each turn there are several: only who looks for something wants to read them.
_OFTEN = ("turn", "store_turn", "recall", "search")
# What somebody should look at.
_BAD = ("silent", "error", "blocked", "failed", "timeout", "denied", "refused")


class JsonLogFormatter(logging.Formatter):
    """`logging.Formatter` that gives one JSON object: time, level, logger, message, what else.

    `correlation` is the id under which the usage ledger and the changes know the same work;
    `trace_id` and `span_id` are there within a span of OpenTelemetry. Secrets are masked. Of an
    exception only the class and the places are kept: its words may quote a message.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, object] = {
            "time": _time(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(_message(record)),
        }
        given = getattr(record, _FIELDS, {})
        line |= {"correlation": correlation()} | _trace_ids() | given
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["places"] = _places(record.exc_info[2])
        known = {name: value for name, value in line.items() if value not in ("", None)}
        return json.dumps(known, ensure_ascii=False, default=str)


class OperationLog:
    """`Observer` that logs each operation that ended, by names and figures alone.

    Turns, recalls and searches at DEBUG, all else at INFO; what went wrong at WARNING. With
    `channel_ids` a line names the channel.
    """

    wants_content = False

    def __init__(self, *, channel_ids: bool = False) -> None:
        self._channel_ids = channel_ids
        self._log = logging.getLogger(_OPERATIONS)

    def begin(self, operation: Operation) -> None:
        """Nothing is logged before the end."""

    def end(self, operation: Operation, begun: object) -> None:  # noqa: ARG002 - the protocol's
        """Log it."""
        level = logging.DEBUG if operation.kind in _OFTEN else logging.INFO
        if operation.outcome in _BAD:
            level = logging.WARNING
        if not self._log.isEnabledFor(level):
            return
        what = " ".join(filter(None, (operation.kind, operation.task)))
        message = f"{what}: {operation.outcome} in {operation.seconds:.3f} s"
        self._log.log(level, "%s", message, extra={_FIELDS: self._fields(operation)})

    def _fields(self, operation: Operation) -> dict[str, object]:
        fields: dict[str, object] = {
            "operation": operation.kind,
            "task": operation.task,
            "model": operation.model,
            "outcome": operation.outcome,
            "error": operation.error,
            "seconds": round(operation.seconds, 6),
            "correlation": operation.correlation,
            "channel": operation.channel if self._channel_ids else "",
        }
        if operation.kind == "model":
            return fields | {
                "tokens_in": operation.tokens_in,
                "tokens_out": operation.tokens_out,
                "cost": operation.cost,
            }
        return fields | {"records": operation.records}


def wants_json(setting: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether lines are JSON: by PIPIMEM_LOG, else by the setting. Raises `SettingsError`."""
    chosen = environment.get(VARIABLE, "").strip().lower() or setting
    if chosen not in _FORMATS:
        raise SettingsError(f"{VARIABLE} must be text or json, not {chosen!r}")
    return chosen == "json"


def log_as_json() -> None:
    """Write all log lines of this process to standard error as JSON; once more changes nothing.

    For processes of ours: a host configures its own logging, with `JsonLogFormatter` if it likes.
    """
    if logs_are_json():
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLogFormatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger("pipimem").setLevel(logging.INFO)


def logs_are_json() -> bool:
    """Whether `log_as_json` was called."""
    handlers = logging.getLogger().handlers
    return any(isinstance(handler.formatter, JsonLogFormatter) for handler in handlers)


def log_sentence(level: str, text: str) -> None:
    """Log a sentence of the command line, at a level by its name."""
    logging.getLogger("pipimem.cli").log(logging.getLevelName(level), "%s", text)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # of a library: its arguments do not fit its text
        return str(record.msg)


def _time(created: float) -> str:
    return datetime.fromtimestamp(created).astimezone().isoformat(timespec="milliseconds")


def _trace_ids() -> dict[str, object]:
    """The ids of the span that is current, where spans are made at all."""
    spans = sys.modules.get(_SPANS)
    return {} if spans is None else dict(spans.trace_ids())


def _places(trace: TracebackType | None) -> list[str]:
    """Where an exception came from, the innermost place last."""
    return [
        f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)
    ]
