"""`pipimem doctor`: whether a workspace is in good health, and the mending that loses nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime

import click

from pipimem.cli.accounts import today
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.printing import Failed, fields, note, record, say, table, worded
from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.recall.synonyms import LONGEST_PHRASE, MOST_IN_A_GROUP, passed_over
from pipimem.sidecar.purse import WARN_AT, counts_money, counts_tokens
from pipimem.store.checkup.access import own_access_findings
from pipimem.store.checkup.background import background_findings
from pipimem.store.checkup.channels import channel_findings
from pipimem.store.checkup.finding import Finding, worth_knowing, wrong
from pipimem.store.checkup.system import system_findings
from pipimem.store.checkup.texts import text_findings
from pipimem.store.workspace import PEOPLES, WORDS, WorkspaceStore

# Their key is PROVIDER_API_KEY. Others need none (ollama) or several variables (bedrock, vertex_ai).
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


@click.command("doctor")
@click.option(
    "--fix",
    is_flag=True,
    help="Mend what can be mended without losing anything, and say what was done.",
)
@as_json
@chosen
def command(chosen: Chosen, fix: bool, as_json: bool) -> None:
    """Look for what is wrong.

    Settings, files that cannot be read, entries, secrets in files, damage, modes, what was set aside, the disk, the
    model's key, today's budget.

    Changes nothing without --fix. Ends with 1 where something needs a hand.
    """
    now = Clock().now()
    found = list(_findings(chosen, now))
    mended = list(_mended(found, now)) if fix else []
    if mended:
        found = list(_findings(chosen, now))
    failures = sum(one.wrong for one in found)
    if as_json:
        told = [
            {**fields(one, "wrong", "where", "what"), "fixable": one.mend is not None}
            for one in found
        ]
        fixed = [{"where": where, "done": done} for where, done in mended]
        record(
            {"workspace": chosen.workspace, "ok": not failures, "findings": told, "fixed": fixed}
        )
    else:
        for where, done in mended:
            say(f"fixed: {where}: {done}")
        table(
            ("", "where", "what"),
            [("wrong" if one.wrong else "note", one.where, one.what) for one in found],
        )
        if any(one.mend for one in found) and not fix:
            note("`pipimem doctor --fix` mends some of this")
        if not failures:
            say("All is well.")
    if failures:
        raise Failed(f"{failures} thing{'s need' if failures > 1 else ' needs'} a hand")


def _mended(found: Iterable[Finding], now: datetime) -> Iterator[tuple[str, str]]:
    for one in found:
        if one.mend is not None:
            try:
                yield one.where, one.mend(now)
            except (PipimemError, OSError) as error:
                note(f"not fixed: {one.where}: {worded(error)}")


def _findings(chosen: Chosen, now: datetime) -> Iterator[Finding]:
    """Everything there is to say about a workspace."""
    workspace = chosen.store()
    yield from _model(chosen)
    yield from _account(chosen, workspace, now)
    try:
        yield from background_findings(workspace)
    except PipimemError as error:
        yield wrong(workspace.root / ".pipimem" / "problems", str(error))
    yield from system_findings(workspace.root)
    yield from own_access_findings(workspace.root)
    for name in PEOPLES:
        yield from text_findings(workspace.root / name, workspace.root)
    yield from _words(workspace)
    yield from _channels(workspace, now)


def _channels(workspace: WorkspaceStore, now: datetime) -> Iterator[Finding]:
    top = workspace.channels_folder
    try:
        folders = sorted(top.iterdir()) if os.path.lexists(top) else []
    except OSError as error:
        yield wrong(top, f"{worded(error)}: put a folder there that we may use, or move this away")
        return
    for folder in folders:
        try:
            yield from channel_findings(workspace, folder, now)
        except OSError as error:
            yield wrong(folder, worded(error))


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


def _model(chosen: Chosen) -> Iterator[Finding]:
    try:
        name = chosen.model or chosen.settings().model.name
    except PipimemError as error:
        yield wrong("pipimem.toml", str(error))
        return
    provider = name.partition("/")[0] if "/" in name else _provider_of_plain(name)
    variable = f"{provider.upper()}_API_KEY"
    if name == "offline":
        yield worth_knowing("model", "offline: the embedded rules, no key and no network needed")
    elif provider not in _KEYED:
        yield _unknown_model(name)
    elif os.environ.get(variable):
        yield worth_knowing("model", f"{name}: {variable} is set")
    else:
        yield wrong("model", f"{name}: {variable} is not set; set it, or choose the model offline")


def _account(chosen: Chosen, workspace: WorkspaceStore, now: datetime) -> Iterator[Finding]:
    """Budgets that are nearly gone, models that are left alone, and budgets that cannot hold a model."""
    try:
        settings = chosen.settings()
    except PipimemError:  # told with the model
        return
    found = today(workspace, settings.budget, now)
    for budget in (found.workspace, *found.channels):
        if budget.share >= WARN_AT and budget.spent.tokens:
            yield worth_knowing(
                "pipimem.toml, [budget]", f"{budget.share:.0%} of today's budget of {budget.told()}"
            )
    asked = {chosen.model or settings.model.name, *settings.model.fallbacks}
    for circuit, line in found.resting.items():
        yield Finding(circuit in asked, "model", line)
    if found.unpriced:
        what = f"{found.unpriced} calls today have no known price: a budget in dollars does not hold them, tokens do"
        yield worth_knowing("pipimem.toml, [budget]", what)
    if counts_money(settings.budget) and not counts_tokens(settings.budget):
        what = "a limit in dollars alone: a model without a known price is not asked at all; set tokens_per_day"
        yield worth_knowing("pipimem.toml, [budget]", what)
    if found.damaged:
        what = f"{found.damaged} damaged lines of this month are passed over: sums and budgets lack them"
        yield worth_knowing(str(workspace.root / ".pipimem"), what)


def _unknown_model(name: str) -> Finding:
    """A name with a provider may be one we do not list; one without is most often a slip of the finger."""
    if "/" in name:
        return worth_knowing("model", f"{name}: cannot tell which key it needs")
    return wrong(
        "model", f"{name!r} names no provider; write provider/model (openai/gpt-5-mini), or offline"
    )


def _provider_of_plain(name: str) -> str:
    return next((provider for prefix, provider in _PREFIXES.items() if name.startswith(prefix)), "")
