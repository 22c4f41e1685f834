"""The settings of a workspace: what `pipimem.toml` may say, and what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NewType, get_args, get_origin, get_type_hints

from pipimem.errors import SettingsError

# A number from 0 up, or TOML's `inf` for none.
Limit = NewType("Limit", float)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model thinks for the memory, what stands in for it, and how long each task may take (seconds)."""

    name: str = "offline"
    fallbacks: tuple[str, ...] = ()
    refresh_timeout: float = 30.0
    consolidate_gate_timeout: float = 20.0
    consolidate_timeout: float = 120.0
    tidy_timeout: float = 120.0
    fold_timeout: float = 120.0
    rerank_timeout: float = 3.0
    concurrency: int = 4


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How much a turn is shown; `repeat` shows again what this session has already seen.

    `rerank` lets a model pick among what was found: `auto` only where the local order is unsure.
    """

    inject: int = 5
    candidates: int = 12
    max_chars: int = 5000
    max_tokens: int = 1800
    repeat: bool = False
    rerank: Literal["auto", "always", "never"] = "auto"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What turns texts into vectors, so that recall also finds other words for the same; how long a turn waits (seconds).

    `name` is empty for none, `local` for the one of `pipimem[embeddings]`, or a litellm embedding model.
    """

    name: str = ""
    timeout: float = 0.3


@dataclass(frozen=True, slots=True)
class SnapshotSettings:
    """How much the first turn of a session is shown."""

    max_chars: int = 3000
    max_tokens: int = 1400


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """Whether a compaction may go on when the model failed (`defer`) or must wait (`block`)."""

    policy: Literal["defer", "block"] = "defer"


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Whether idle jobs run inside the process, how long a channel must be quiet before, how many at a time."""

    enabled: bool = True
    idle_seconds: float = 60.0
    concurrency: int = 2


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What models may use in one local day, in tokens and US dollars, in all and for one channel; `inf`: no limit."""

    tokens_per_day: Limit = Limit(5_000_000)
    cost_per_day: Limit = Limit(10.0)
    channel_tokens_per_day: Limit = Limit(2_000_000)
    channel_cost_per_day: Limit = Limit(5.0)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a workspace may set; a setting is a question its operator can answer."""

    model: ModelSettings = field(default_factory=ModelSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    snapshot: SnapshotSettings = field(default_factory=SnapshotSettings)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)


def settings_from(toml: str) -> Settings:
    """The settings a `pipimem.toml` makes; `SettingsError` names the key, what it takes, and the nearest known one."""
    import tomllib  # 10 ms that a workspace without settings never needs

    try:
        table = tomllib.loads(toml.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"pipimem.toml is not valid TOML: {error}") from error
    sections = {f.name: f for f in fields(Settings)}
    _refuse_unknown(table, sections, "pipimem.toml", "section")
    hints = get_type_hints(Settings)
    return replace(
        Settings(), **{name: _section(hints[name], name, value) for name, value in table.items()}
    )


def _section(kind: type, name: str, table: object) -> Any:  # noqa: ANN401 - one of the sections
    if not isinstance(table, dict):
        raise SettingsError(f"pipimem.toml: [{name}] must be a table, as in\n[{name}]\nkey = value")
    _refuse_unknown(table, {f.name: f for f in fields(kind)}, f"[{name}]", "key")
    hints = get_type_hints(kind)
    return kind(
        **{key: _value(hints[key], f"[{name}] {key}", value) for key, value in table.items()}
    )


def _value(hint: object, where: str, value: object) -> object:
    """The value if it is what the field takes; a whole number will do for a number of seconds."""
    if get_origin(hint) is Literal:
        if value in get_args(hint):
            return value
        raise SettingsError(
            f"{where} must be one of {', '.join(map(repr, get_args(hint)))}, not {value!r}"
        )
    if get_origin(hint) is tuple:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise SettingsError(f"{where} must be a list of strings, not {value!r}")
    if hint is Limit and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if value == float("inf") else _positive(float(value), where)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _positive(float(value), where)
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return _positive(value, where)
    if (hint is bool and isinstance(value, bool)) or (hint is str and isinstance(value, str)):
        return value
    wanted = {
        Limit: "a number, or inf for no limit",
        float: "a number",
        int: "a whole number",
        bool: "true or false",
        str: "a string",
    }
    raise SettingsError(f"{where} must be {wanted.get(hint, hint)}, not {value!r}")  # type: ignore[call-overload]


def _positive(value: float, where: str) -> float:
    if value < 0 or value != value or value == float("inf"):
        raise SettingsError(f"{where} must be a number from 0 up, not {value!r}")
    return value


def _refuse_unknown(
    table: Mapping[str, object], known: Mapping[str, object], where: str, what: str
) -> None:
    for name in table:
        if name not in known:
            import difflib  # 6 ms, only to word an error

            home = _home_of(name)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            hint = f"; it belongs under [{home}]" if home else hint
            raise SettingsError(f"{where}: unknown {what} {name!r}{hint}")


def _home_of(key: str) -> str:
    """The section that has this key: TOML puts a key under the last heading above it, whatever its writer meant."""
    hints = get_type_hints(Settings)
    return next((name for name, kind in hints.items() if key in {f.name for f in fields(kind)}), "")
