"""What can be wrong with a workspace, looked for without writing anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipimem.cli.accounts import today
from pipimem.cli.failing import worded
from pipimem.cli.opening import Chosen
from pipimem.cli.printing import counted
from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.notes.files import File
from pipimem.notes.operations import Author
from pipimem.sidecar.purse import WARN_AT, counts_money, counts_tokens
from pipimem.store import identity
from pipimem.store.channel import ChannelStore
from pipimem.store.files import TEMPORARY, read_text
from pipimem.store.mounts import network_type
from pipimem.store.names import folder_name, is_plain
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.secrets import secrets

# Below this the next rotation of a log or a few versions may not fit.
_LEAST_FREE = 100 * 1024 * 1024
_PEOPLES = ("SOUL.md", "AGENTS.md", "MEMORY.md", "words.txt", "recall.must")
# By the first part of a model's name. Others need no key (ollama) or several variables (bedrock, vertex_ai).
_KEYS: Mapping[str, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "dashscope": "DASHSCOPE_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "zai": "ZAI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "azure": "AZURE_API_KEY",
    "xai": "XAI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: `wrong` needs a hand, others are worth knowing. `where` is a file, line or setting."""

    wrong: bool
    where: str
    what: str


def wrong(where: str, what: str) -> Finding:
    """Something that needs a hand."""
    return Finding(True, where, what)


def worth_knowing(where: str, what: str) -> Finding:
    """Something that is as it may be."""
    return Finding(False, where, what)


def findings(chosen: Chosen) -> Iterator[Finding]:
    """Everything there is to say about a workspace."""
    workspace = chosen.store()
    yield from _model(chosen, os.environ)
    yield from _account(chosen, workspace)
    yield from _disk(workspace.root)
    for name in _PEOPLES:
        yield from _text(workspace.root / name, workspace.root)
    top = workspace.root / "channels"
    for folder in sorted(top.iterdir()) if top.is_dir() else ():
        if folder.is_dir():
            yield from _channel(workspace, folder)


def _model(chosen: Chosen, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        name = chosen.model or chosen.settings().model.name
    except PipimemError as error:
        yield wrong("pipimem.toml", str(error))
        return
    variable = _KEYS.get(name.partition("/")[0]) if "/" in name else _key_of_plain(name)
    if name == "offline":
        yield worth_knowing("model", "offline: the embedded rules, no key and no network needed")
    elif variable is None:
        yield _unknown_model(name)
    elif environ.get(variable):
        yield worth_knowing("model", f"{name}: {variable} is set")
    else:
        yield wrong("model", f"{name}: {variable} is not set; set it, or choose the model offline")


def _account(chosen: Chosen, workspace: WorkspaceStore) -> Iterator[Finding]:
    """Budgets that are nearly gone, models that are left alone, and budgets that cannot hold a model."""
    try:
        settings = chosen.settings()
    except PipimemError:  # told with the model
        return
    found = today(workspace, settings.budget, Clock().now())
    for budget in (found.workspace, *found.channels):
        if budget.share >= WARN_AT and budget.spent.tokens:
            yield worth_knowing("pipimem.toml, [budget]", f"{budget.share:.0%} of today's budget of {budget.told()}")
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
    return wrong("model", f"{name!r} names no provider; write provider/model (openai/gpt-5-mini), or offline")


def _key_of_plain(name: str) -> str | None:
    prefixes = {"gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude-": "anthropic"}
    return next((_KEYS[provider] for prefix, provider in prefixes.items() if name.startswith(prefix)), None)


def _disk(root: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(root).free
    if free < _LEAST_FREE:
        yield wrong(str(root), f"only {free // 1024 // 1024} MiB are free on this disk; make some room")
    if os.name != "posix":
        return
    if network := network_type(root):
        what = f"lies on a network file system ({network}): an editor at work is not seen there, and locks and "
        yield worth_knowing(str(root), what + "watching may not reach other machines; let one machine write")
    if not os.access(root, os.W_OK | os.X_OK):
        yield wrong(str(root), "cannot be written to; check the owner and the mode of the folder")
    top = root / "channels"
    if root.stat().st_mode & 0o077 and top.is_dir() and top.stat().st_mode & 0o077:
        yield worth_knowing(str(top), f"other users may look into it; chmod 700 '{top}' keeps them out")


def _channel(workspace: WorkspaceStore, folder: Path) -> Iterator[Finding]:
    try:
        known = identity.load(folder / ".pipimem" / "channel.json")
        if known is None and not is_plain(folder.name):
            yield wrong(str(folder), "is no channel: it has no .pipimem/channel.json and no plain name")
            return
        name = known.id if known else folder.name
        if folder_name(name) != folder.name:
            what = f"belongs to the channel {name!r}; rename the folder to {folder_name(name)}"
            yield wrong(str(folder), what)
            return
        store = ChannelStore.open(workspace, name, create=False)
    except (PipimemError, OSError) as error:
        yield wrong(str(folder), _told(error))
        return
    for file in File:
        yield from _text(folder / file, workspace.root)
    yield from _records(store)
    yield from _leftovers(folder)


def _text(path: Path, root: Path) -> Iterator[Finding]:
    """Whether a file can be read, and where a secret stands in it; the secret itself is never told."""
    try:
        text = read_text(path, root)
    except (PipimemError, OSError) as error:
        yield wrong(str(path), _told(error))
        return
    for found in secrets(text or ""):
        line = (text or "").count("\n", 0, found.start) + 1
        what = f"a secret stands here ({found.kind}); it is masked when injected, but take it out of the file"
        yield wrong(f"{path}, line {line}", what)


def _records(store: ChannelStore) -> Iterator[Finding]:
    try:
        for record in store.journal_records():
            if record.author is Author.EDITOR:
                for note in record.notes:
                    yield worth_knowing(str(store.folder), f"{record.time}: {note}")
        damaged = store.transcript.damaged()
        if store.ledger.cursor > store.transcript.last_number:
            what = "the transcript ends before what was consolidated; a part of log.jsonl is missing"
            yield wrong(str(store.transcript.path), what)
    except (PipimemError, OSError) as error:
        yield wrong(str(store.folder / ".pipimem"), _told(error))
        return
    for hole in store.ledger.holes:
        said = f"messages {hole.first}–{hole.last} were set aside ({hole.reason})"
        what = f"{said}; `pipimem consolidate --holes '{store.channel_id}'` tries them again"
        yield wrong(str(store.folder), what)
    if damaged:
        what = f"{counted(damaged, 'line')} that {'is' if damaged == 1 else 'are'} no message; passed over"
        yield wrong(str(store.transcript.path), what)


def _leftovers(folder: Path) -> Iterator[Finding]:
    left = [*folder.glob(f".*{TEMPORARY}"), *folder.glob(f".pipimem/**/.*{TEMPORARY}")]
    if left:
        what = f"{len(left)} unfinished files of a process that ended; the next writing clears them"
        yield worth_knowing(str(folder), what)
    if (folder / ".pipimem" / "forget.json").exists():
        yield wrong(str(folder), "a forgetting was cut off; any writing, such as `pipimem consolidate`, finishes it")


def _told(error: Exception) -> str:
    return worded(error) if isinstance(error, OSError) else str(error)
