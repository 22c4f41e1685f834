"""The settings of a workspace: the keys of `pipimem.toml` with their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from math import inf
from typing import Any, Literal, NewType, get_args, get_origin, get_type_hints

from pipimem.errors import SettingsError

# A number from 0 up, or TOML's `inf` for none.
Limit = NewType("Limit", float)

# What a field takes, and how that is said.
_ACCEPTED: Mapping[object, tuple[Any, str]] = {
    Limit: (int | float, "a number, or inf for no limit"),
    float: (int | float, "a number"),
    int: (int, "a whole number"),
    bool: (bool, "true or false"),
    str: (str, "a string"),
}

# A commit on a slow disk takes a second, and each renewal may be late.
_SHORTEST_LEASE = 1.0

# Keys of earlier versions: the key of today, and its value by the former one.
_FORMER_KEYS: Mapping[str, tuple[str, Mapping[object, str]]] = {
    "[groups] two_voices": (
        "rules",
        {
            "nobody": "anyone",
            "newcomers": "two",
            "everyone": "two",
            False: "anyone",
            True: "two",
        },
    ),
}
# Settings of earlier versions, and what to write instead.
_REPLACED: Mapping[str, str] = {
    "[recall] repeat": (
        "is replaced by keeps_context: every turn now shows what its message needs, as repeat = "
        "true did. Take the line out; write keeps_context = true if your bot keeps what memory "
        "shows in the model's context until it compacts."
    ),
}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model for memory tasks, its fallbacks, and timeouts by task (seconds)."""

    name: str = "offline"
    fallbacks: tuple[str, ...] = ()
    refresh_timeout: float = 30.0
    consolidate_gate_timeout: float = 60.0
    consolidate_timeout: float = 120.0
    tidy_timeout: float = 120.0
    fold_timeout: float = 120.0
    rerank_timeout: float = 3.0
    concurrency: int = 4


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How much a turn is shown, and whether the host keeps it in the model's context.

    With `keeps_context` nothing is shown twice before a compaction. `rerank` lets a model pick
    among what was found: `auto` only where the local order is unsure.
    """

    inject: int = 8
    candidates: int = 12
    max_chars: int = 5000
    max_tokens: int = 1800
    keeps_context: bool = False
    rerank: Literal["auto", "always", "never"] = "auto"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The embedder for recall by meaning, and how long a turn waits for it (seconds).

    `name` is empty for none, `local` for the one of `pipimem[embeddings]`, or a litellm embedding
    model.
    """

    name: str = ""
    timeout: float = 0.3


@dataclass(frozen=True, slots=True)
class SnapshotSettings:
    """How much the first turn of a session is shown, and how much comes with every turn.

    `standing_tokens` are for what comes with every turn: the standing part, and in front of what a
    message needs the speaker's wishes and health. Wishes and health are never cut; the rest gives
    way. The first turn has `max_tokens` for the channel, the standing part included, and
    `workspace_tokens` for the memory that all channels share.
    """

    max_chars: int = 3000
    max_tokens: int = 1400
    standing_tokens: int = 700
    workspace_tokens: int = 500


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """Whether a compaction may go on when the model failed (`defer`) or must wait (`block`)."""

    policy: Literal["defer", "block"] = "defer"


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Whether idle jobs run in the process, after how long a quiet, how many at a time."""

    enabled: bool = True
    idle_seconds: float = 60.0
    concurrency: int = 2


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Limits of one local day in tokens and US dollars, for all and for a channel."""

    tokens_per_day: Limit = Limit(5_000_000)
    cost_per_day: Limit = Limit(10.0)
    channel_tokens_per_day: Limit = Limit(2_000_000)
    channel_cost_per_day: Limit = Limit(5.0)


@dataclass(frozen=True, slots=True)
class ObservabilitySettings:
    """What operators see of operations: spans through OpenTelemetry, and log lines.

    `opentelemetry` is `auto` where the process has loaded opentelemetry-api by itself, as one with
    an SDK has; `always` loads it. With `content` spans hold questions and what was recalled; with
    `channel_ids` spans, metrics and log lines of operations name the channel.
    """

    opentelemetry: Literal["auto", "always", "never"] = "auto"
    content: bool = False
    channel_ids: bool = False
    logs: Literal["text", "json"] = "text"


@dataclass(frozen=True, slots=True)
class PrivateSettings:
    """What stands in the place of what people mark as private, and what counts as marked.

    `keep_lines` keeps the number of lines. A tag that is never closed hides the rest of its message
    (`hide`) or nothing (`keep`); tags in code are code (`literal`) or tags (`count`).
    """

    marker: Literal["[PRIVATE]", "[REDACTED]", ""] = "[PRIVATE]"
    keep_lines: bool = False
    unclosed: Literal["hide", "keep"] = "hide"
    in_code: Literal["literal", "count"] = "literal"


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """What is masked beside the known kinds of secrets: phone numbers, own words and patterns.

    `words` are found in any case, as whole words; `patterns` are regular expressions of Python.
    Raises `SettingsError` for a pattern that is none.
    """

    phone_numbers: bool = False
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            try:
                is_empty = re.compile(pattern).match("") is not None
            except re.error as error:
                what = f"[secrets] patterns: {pattern!r} is no regular expression: {error}"
                raise SettingsError(what) from error
            if is_empty:
                what = f"[secrets] patterns: {pattern!r} matches an empty text, so it masks nothing"
                raise SettingsError(f"{what} or too much; write what must stand there")


@dataclass(frozen=True, slots=True)
class FleetSettings:
    """The database in which several hosts agree who writes; empty on one host.

    `database` is an address of PostgreSQL; a host that dies holds a channel for up to
    `lease_seconds`.
    """

    database: str = field(default="", repr=False)
    lease_seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.lease_seconds < _SHORTEST_LEASE:
            raise SettingsError(f"[fleet] lease_seconds must be {_SHORTEST_LEASE:g} or more")


@dataclass(frozen=True, slots=True)
class DingTalkSettings:
    """Who may change what others said, in a group of the DingTalk bot.

    `admins` are staff ids or union ids; they need nobody's word. `confirmed_by` says who must agree
    to what concerns others: another member of the group (`member`), an admin, or nobody but who
    asks (`self`).
    """

    admins: tuple[str, ...] = ()
    confirmed_by: Literal["member", "admin", "self"] = "member"


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """`rules`: who in a group sets a rule for others: any member, or two who agree.

    With `two` a rule that one member alone says is a quote until another agrees.
    """

    rules: Literal["anyone", "two"] = "anyone"


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
    private: PrivateSettings = field(default_factory=PrivateSettings)
    secrets: SecretSettings = field(default_factory=SecretSettings)
    groups: GroupSettings = field(default_factory=GroupSettings)
    observability: ObservabilitySettings = field(default_factory=ObservabilitySettings)
    fleet: FleetSettings = field(default_factory=FleetSettings)
    dingtalk: DingTalkSettings = field(default_factory=DingTalkSettings)


def settings_from(toml: str) -> Settings:
    """Settings from the text of `pipimem.toml`; `SettingsError` names the key and a fix."""
    import tomllib  # 10 ms that a workspace without settings never needs

    try:
        table = tomllib.loads(toml.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"pipimem.toml is not valid TOML: {error}. Correct the workspace's file."
        ) from error
    sections = {f.name: f for f in fields(Settings)}
    _refuse_unknown(table, sections, "pipimem.toml", "section")
    hints = get_type_hints(Settings)
    given = {name: _section(hints[name], name, value) for name, value in table.items()}
    return replace(Settings(), **given)


def _section(kind: type, name: str, table: object) -> Any:  # noqa: ANN401 - one of the sections
    if not isinstance(table, dict):
        raise SettingsError(f"pipimem.toml: [{name}] must be a table, as in\n[{name}]\nkey = value")
    table = dict(_present_key(f"[{name}] {key}", key, value) for key, value in table.items())
    _refuse_unknown(table, {f.name: f for f in fields(kind)}, f"[{name}]", "key")
    hints = get_type_hints(kind)
    given = {key: _value(hints[key], f"[{name}] {key}", value) for key, value in table.items()}
    return kind(**given)


def _present_key(where: str, key: str, value: object) -> tuple[str, object]:
    """The key and value that mean today what a key of an earlier version meant."""
    present, values = _FORMER_KEYS.get(where, (key, {}))
    if isinstance(value, str | bool) and value in values:
        return present, values[value]
    if values:
        raise SettingsError(f"{where} is replaced by {present}: write anyone or two there.")
    return key, value


def _value(hint: object, where: str, value: object) -> object:
    """The value if the field accepts it. Raises `SettingsError`."""
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
    return _plain_value(hint, where, value)


def _plain_value(hint: object, where: str, value: object) -> object:
    """The text, flag or number if it is what the field takes."""
    kind, words = _ACCEPTED[hint]
    if not isinstance(value, kind) or (isinstance(value, bool) and hint is not bool):
        raise SettingsError(f"{where} must be {words}, not {value!r}")
    if not isinstance(value, int | float) or hint is bool:
        return value
    if hint is Limit and value == inf:
        return value
    if not 0 <= value < inf:
        raise SettingsError(f"{where} must be a number from 0 up, not {value!r}")
    return value if hint is int else float(value)


def _refuse_unknown(
    table: Mapping[str, object], known: Mapping[str, object], where: str, what: str
) -> None:
    for name in table:
        if name not in known:
            if f"{where} {name}" in _REPLACED:
                raise SettingsError(f"{where} {name} {_REPLACED[f'{where} {name}']}")
            home = _home_of(name)
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            hint = f"; it belongs under [{home}]" if home else hint
            raise SettingsError(f"{where}: unknown {what} {name!r}{hint}")


def _home_of(key: str) -> str:
    """The section that has this key, for keys that stand under a wrong heading."""
    hints = get_type_hints(Settings)
    return next((name for name, kind in hints.items() if key in {f.name for f in fields(kind)}), "")
