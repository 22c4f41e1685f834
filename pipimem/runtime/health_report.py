"""Findings of `doctor` for a workspace: settings, budget, texts people wrote, channels."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from pipimem.errors import DamagedState, DatabaseUnavailable, PipimemError, SettingsError, worded
from pipimem.llm import usage_state
from pipimem.llm.usage_state import (
    WARN_AT,
    Budget,
    UsageState,
    has_cost_limit,
    has_token_limit,
    midnight,
)
from pipimem.memory.conflicts import conflicts
from pipimem.notes.entry import Entry
from pipimem.notes.notes import Notes
from pipimem.recall.synonyms import LONGEST_PHRASE, MOST_IN_A_GROUP, passed_over
from pipimem.runtime.embeddings import missing_library, recommended_embedder
from pipimem.settings import BudgetSettings, Settings, settings_from
from pipimem.sidecar.prompts import Prompts
from pipimem.store.health.channels import channel_findings
from pipimem.store.health.finding import Finding, grouped, worth_knowing, wrong
from pipimem.store.health.kept_secrets import logged_bytes, secrets_in_logs
from pipimem.store.health.own_state import database_findings, removal_findings
from pipimem.store.health.system import (
    background_findings,
    own_access_findings,
    system_findings,
    writable_findings,
)
from pipimem.store.health.texts import text_findings
from pipimem.store.workspace import USER_FILES, WORDS, WorkspaceStore
from pipimem.text.secrets import NO_LIST

__all__ = [
    "WARN_AT",
    "Budget",
    "Finding",
    "Today",
    "bytes_of_logs",
    "findings",
    "grouped",
    "logged_secrets",
    "missing_embedder",
    "recommended_embedder",
    "today",
]

# Their key is PROVIDER_API_KEY. Others need none (ollama) or several variables (bedrock,
# vertex_ai).
_KEYED = frozenset(
    (
        "openai",
        "anthropic",
        "gemini",
        "deepseek",
        "dashscope",
        "moonshot",
        "zai",
        "mistral",
        "groq",
        "openrouter",
        "azure",
        "xai",
    )
)
_PREFIXES = {
    "gpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude-": "anthropic",
}


class Today(Struct, frozen=True):
    """Today's usage: budgets of the workspace and of channels that used any.

    `resting` says by model why it is left alone.
    """

    workspace: Budget
    channels: tuple[Budget, ...]
    resting: Mapping[str, str]
    under_way: int
    unpriced: int

    def lines(self) -> list[str]:
        """The account for eyes: the workspace, and whatever an operator should know."""
        lines = [f"today {_line(self.workspace)}"]
        lines += [_line(budget) for budget in self.channels if budget.share >= WARN_AT]
        return lines + self.notices()

    def notices(self) -> list[str]:
        """What an operator should know besides the budgets."""
        lines = list(self.resting.values())
        if self.unpriced:
            calls = f"{self.unpriced} call{'s' if self.unpriced > 1 else ''}"
            lines.append(f"{calls} today without a known price: held by the token budgets alone")
        return lines


def _line(budget: Budget) -> str:
    if budget.share >= 1:
        return f"{budget.formatted()} (used up: the offline rules take over until midnight)"
    above = ", above 80 %" if budget.share >= WARN_AT else ""
    return f"{budget.formatted()} ({budget.share:.0%}{above})"


def today(store: WorkspaceStore, settings: BudgetSettings, now: datetime) -> Today:
    """The account as every process on the workspace counts it; requests under way included."""
    usages = store.usages(midnight(now))
    account, held = (
        UsageState.from_ledger(settings, now, usages),
        tuple(store.usage_store.held().values()),
    )
    names = sorted({*account.channels, *(hold.channel for hold in held)})
    whole, _ = account.budgets("", held)
    return Today(
        workspace=whole,
        channels=tuple(account.budgets(name, held)[1] for name in names),
        resting={
            circuit: usage_state.formatted(circuit, standing, now)
            for circuit, standing in sorted(account.circuits.items())
            if standing.tripped
        },
        under_way=len(held),
        unpriced=sum(usage.unpriced for usage in usages),
    )


def findings(root: Path, model: str, now: datetime) -> Iterator[Finding]:
    """What there is to say about a workspace; an empty `model` is the one of its settings.

    Secrets in logs come by `logged_secrets`, which takes long where there is much talk.
    """
    workspace, settings = WorkspaceStore.open(root), Settings()
    try:
        settings = settings_from(workspace.human_text("pipimem.toml"))
    except PipimemError as error:
        yield wrong("pipimem.toml", str(error))
    else:
        recommended = recommended_embedder(settings.embedder.name)
        if recommended:
            yield worth_knowing("recall", recommended)
        name = model or settings.model.name
        key = _model(name)
        yield key
        missing = missing_embedder(settings)
        if missing:
            yield wrong("pipimem.toml, [embedder]", missing)
        keyless = {name} if key.wrong else set()
        yield from _today(workspace, settings, now, name, keyless)
    try:
        yield from background_findings(workspace)
    except PipimemError as error:
        yield wrong(workspace.state.path, str(error))
    yield from database_findings(workspace)
    yield from system_findings(workspace.root)
    yield from own_access_findings(workspace.root)
    yield from removal_findings(workspace)
    for name in USER_FILES:
        yield from text_findings(workspace.root / name, workspace.root, settings)
        yield from writable_findings(workspace.root / name, workspace.root)
    yield from _words(workspace)
    yield from _prompts(workspace)
    yield from _channels(workspace, now, settings)


def _today(
    workspace: WorkspaceStore, settings: Settings, now: datetime, name: str, keyless: set[str]
) -> Iterator[Finding]:
    """What resting models, budgets and, in a fleet, the other hosts say."""
    try:
        found = today(workspace, settings.budget, now)
    except DatabaseUnavailable as error:
        yield wrong("pipimem.toml, [fleet]", str(error))
        return
    except DamagedState:  # a finding of its own
        return
    yield from _resting(found, {name, *settings.model.fallbacks}, keyless)
    yield from _budget(settings, found)
    if workspace.fleet is not None:
        from pipimem.runtime.fleet.overview import fleet_findings  # of a fleet alone

        yield from fleet_findings(workspace.fleet)


def logged_secrets(root: Path, moved: Callable[[int], None]) -> Iterator[Finding]:
    """Secrets in transcripts, past texts and titles; `moved` is told the bytes looked through."""
    workspace, own = WorkspaceStore.open(root), NO_LIST
    with suppress(PipimemError):  # settings that cannot be read are a finding of their own
        own = settings_from(workspace.human_text("pipimem.toml")).secrets
    yield from secrets_in_logs(workspace, moved, own)


def bytes_of_logs(root: Path) -> int:
    """How many bytes `logged_secrets` will look through."""
    return logged_bytes(WorkspaceStore.open(root))


def _channels(workspace: WorkspaceStore, now: datetime, settings: Settings) -> Iterator[Finding]:
    top = workspace.channels_folder
    try:
        folders = sorted(top.iterdir()) if os.path.lexists(top) else []
    except OSError as error:
        yield wrong(top, f"{worded(error)}: put a folder there that we may use, or move this away")
        return
    for folder in folders:
        try:
            yield from channel_findings(workspace, folder, now, settings, _contradicting)
        except OSError as error:
            yield wrong(folder, worded(error))


def _contradicting(notes: Notes) -> Iterator[tuple[Entry, Entry]]:
    return ((found.older, found.newer) for found in conflicts(notes))


def _words(workspace: WorkspaceStore) -> Iterator[Finding]:
    """What of words.txt is no word, and no group of synonyms."""
    try:
        too_long, too_many = passed_over(workspace.human_text(WORDS))
    except PipimemError:  # told with the text
        return
    where = workspace.root / WORDS
    if too_long:
        what = f"passed over, longer than {LONGEST_PHRASE} characters: {too_long}"
        yield worth_knowing(where, f"{what}; one word or name a line, commas between synonyms")
    if too_many:
        what = f"passed over, beyond the first {MOST_IN_A_GROUP} of a line: {too_many}"
        yield worth_knowing(where, f"{what}; write one group of synonyms a line")


def _prompts(workspace: WorkspaceStore) -> Iterator[Finding]:
    """Prompts of the workspace that are not used, and those that cannot be read."""
    folder = workspace.root / "prompts"
    prompts = Prompts(folder)
    for name in prompts.NAMES:
        try:
            problem = prompts.why_unused(name)
        except SettingsError as error:
            problem = str(error)
        if problem:
            yield wrong(folder / f"{name}.md", problem)


def _model(name: str) -> Finding:
    """Whether the API key of the model is set; a name without a known provider is an error."""
    provider = name.partition("/")[0] if "/" in name else _provider_of_plain(name)
    variable = f"{provider.upper()}_API_KEY"
    if name == "offline":
        return worth_knowing("model", "offline: the offline rules, no key and no network needed")
    if provider in _KEYED:
        if os.environ.get(variable):
            return worth_knowing("model", f"{name}: {variable} is set")
        return wrong("model", f"{name}: {variable} is not set; set it, or choose the model offline")
    if "/" in name:
        return worth_knowing("model", f"{name}: cannot tell which key it needs")
    return wrong(
        "model", f"{name!r} names no provider; write provider/model (openai/gpt-5-mini), or offline"
    )


def missing_embedder(settings: Settings) -> str:
    """Which library the embedder of the settings lacks; empty without one."""
    return missing_library(settings.embedder.name) if settings.embedder.name else ""


def _resting(found: Today, asked: Collection[str], known: Collection[str]) -> Iterator[Finding]:
    """Models whose circuit is open, but those of which it is `known` already why."""
    for circuit, line in found.resting.items():
        if circuit not in known:
            yield Finding(circuit in asked, "model", line)


def _budget(settings: Settings, found: Today) -> Iterator[Finding]:
    """Budgets above 80 %, limits that cannot hold a model."""
    for budget in (found.workspace, *found.channels):
        if budget.share >= WARN_AT and budget.spent.tokens:
            yield worth_knowing(
                "pipimem.toml, [budget]",
                f"{budget.share:.0%} of today's budget of {budget.formatted()}",
            )
    if found.unpriced:
        what = (
            f"{found.unpriced} calls today have no known price: "
            "a budget in dollars does not hold them, tokens do"
        )
        yield worth_knowing("pipimem.toml, [budget]", what)
    if has_cost_limit(settings.budget) and not has_token_limit(settings.budget):
        what = (
            "a limit in dollars alone: a model without a known price is not asked at all; "
            "set tokens_per_day"
        )
        yield worth_knowing("pipimem.toml, [budget]", what)


def _provider_of_plain(name: str) -> str:
    return next((provider for prefix, provider in _PREFIXES.items() if name.startswith(prefix)), "")
