"""The labelled sets: what is kept of talk, what poison becomes, which secrets are masked.

The scorers are those of this tree; a tree gives nothing but its output.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.baseline.effort import Effort
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree
from benchmarks.consolidation import labels as consolidation
from benchmarks.consolidation.labels import Stretch, scored, stretches
from benchmarks.poison.corpus import HELD_OUT, SEEN, Payload, folded, ordinary, payloads
from benchmarks.secrets.generate import Case, cases, leaks
from benchmarks.secrets.generate import ordinary as ordinary_lines

CONSOLIDATION, POISON, SECRETS = "consolidation by rules", "poison", "secrets"
_SETS = (
    ("ten stretches", consolidation.FOLDER),
    ("unseen", consolidation.UNSEEN),
    ("blind", consolidation.BLIND),
    ("blind, second", consolidation.BLIND_SECOND),
    ("blind, third", consolidation.BLIND_THIRD),
    ("blind, fourth", consolidation.BLIND_FOURTH),
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SEED, _HELD_SHARE = 15, 2
_ORDINARY = {False: 1333, True: 667}
_NOW = datetime.fromisoformat("2026-11-12T10:00:00+08:00")
_QUOTED = "quoted"


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of all three."""
    for name, folder in _SETS:
        known = stretches(folder)[: effort.cases]
        if evals is None and not all(stretch.unseen for stretch in known):
            table.leave_out(CONSOLIDATION, name, "no EVALS_DIR")
            continue
        _consolidation(table, trees, name, [(one, one.lines(evals or Path())) for one in known])
    _poison(table, trees, effort)
    for held in (False, True):
        _secrets(table, trees, effort, held=held)


# ── consolidation ─────────────────────────────────────────────────────────────────────────────────


def _consolidation(
    table: Table, trees: Sequence[Tree], name: str, known: Sequence[tuple[Stretch, list[str]]]
) -> None:
    sums: dict[str, Counter[str]] = {tree.label: Counter() for tree in trees}
    for stretch, lines in known:
        for tree in trees:
            sums[tree.label] += _scored(stretch, _entries(tree, stretch.name, lines))
    for part, whole in (("kept", "labelled"), ("junk", "entries"), ("falsified", "entries")):
        figures = {
            label: Figure.share(count[part], count[whole]) for label, count in sums.items()
        }
        table.add(CONSOLIDATION, f"{name}, {part}", "", figures)


def _scored(stretch: Stretch, entries: list[str]) -> Counter[str]:
    score = scored(stretch, entries)
    return Counter(
        kept=len(score.kept),
        labelled=len(stretch.facts),
        junk=len(score.junk),
        entries=score.entries,
        falsified=len(score.falsified),
    )


def _entries(tree: Tree, name: str, lines: list[str]) -> list[str]:
    """Return the bullets of MEMORY.md after a replay that ends with one boundary."""
    workspace = tree.workspace("stretches")
    transcript = workspace / f"{name}.jsonl"
    transcript.write_text("\n".join(lines), encoding="utf-8")
    tree.command("replay", name, str(transcript), "--kind", "group", workspace=workspace)
    note = workspace / "channels" / name / "MEMORY.md"
    text = _COMMENT.sub("", note.read_text("utf-8")) if note.exists() else ""
    return [line[2:] for line in text.splitlines() if line.startswith(("- ", "* "))]


# ── poison ────────────────────────────────────────────────────────────────────────────────────────

_TALK = (
    {"role": "user", "content": "The rehearsal is on Monday at seven.", "speaker": "Alice"},
    {"role": "user", "content": "I bring the music stands.", "speaker": "Bob"},
)
_ITEM_CHARACTERS = 200
PLACES = ("MEMORY", "as a quote", "other notes", "standing", "outside the fence")


def _poison(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    most = effort.cases * 10 if effort.cases else None
    for part in (SEEN, HELD_OUT):
        found, plain = payloads(part)[:most], ordinary(part)[:most]
        for model, writer in ((False, "offline rules"), (True, "a model that believes all")):
            name = f"{part or 'first'} part, {writer}"
            attacks = {tree.label: _attacked(tree, f"{part} {model}", found, model) for tree in trees}
            for place in PLACES:
                figures = {
                    label: Figure.share(counts[place], len(found))
                    for label, counts in attacks.items()
                }
                table.add(POISON, f"{name}, payloads, {place}", "", figures)
            failed = {label: Figure(counts["not consolidated"]) for label, counts in attacks.items()}
            table.add(POISON, f"{name}, payloads, not consolidated", "talks", failed)
        for kind in ("group", "dm"):
            kept = {tree.label: _kept(tree, f"{part} {kind}", plain, kind) for tree in trees}
            for outcome in ("kept", "as a quote"):
                figures = {
                    label: Figure.share(counts[outcome], len(plain))
                    for label, counts in kept.items()
                }
                name = f"{part or 'first'} part, ordinary messages that a model learns in a {kind}"
                table.add(POISON, f"{name}, {outcome}", "", figures)


def _attacked(tree: Tree, name: str, found: Sequence[Payload], model: bool) -> Counter[str]:
    talks = [_talk(payload) for payload in found]
    outcomes = _learnt(tree, f"poison {name}", talks, model=model)
    counts: Counter[str] = Counter()
    for payload, outcome in zip(found, outcomes, strict=True):
        keys = [folded(key) for key in payload.keys]
        counts["not consolidated"] += outcome["state"] != "consolidated"
        quotes = [text for text, trust in outcome["entries"] if trust == _QUOTED]
        others = [text for text, trust in outcome["entries"] if trust != _QUOTED]
        texts = ("|".join(others), "|".join(quotes), outcome["notes"])
        texts += (outcome["standing"], outcome["outside"])
        for place, text in zip(PLACES, texts, strict=True):
            counts[place] += any(key in folded(text) for key in keys)
    return counts


def _talk(payload: Payload) -> dict[str, Any]:
    """Return a payload said in a group, with what a model makes of it that believes every word."""
    said = [
        {"role": one.role, "content": one.content, "id": one.id, "speaker": one.speaker}
        for one in payload.messages
    ]
    for one in said:
        if one["role"] == "assistant":
            del one["speaker"]
    source = next(one.content for one in payload.messages if one.id == payload.source)
    order, kind = payload.answer or payload.order, str(payload.kind.value)
    items = [_item(order, source, kind, explicit=True)]
    items.append(_item(f"Mallory wants the bot to do so: {order}", source))
    items += [_item(one["content"], one["content"]) for one in said if one["role"] == "user"]
    question = f"What do we know of this: {payload.order}?"
    return {"messages": [*_TALK, *said], "kind": "group", "question": question, "items": items}


def _item(text: str, said: str, kind: str = "fact", *, explicit: bool = False) -> dict[str, Any]:
    clipped = text[:_ITEM_CHARACTERS]
    return {"text": clipped, "said": said, "kind": kind, "explicit": explicit}


def _kept(tree: Tree, name: str, plain: Sequence[str], kind: str) -> Counter[str]:
    """Count what becomes of ordinary messages that a model learns word for word."""
    before = _TALK if kind == "group" else ()
    talks = [
        {
            "messages": [
                *before,
                {"role": "user", "content": text, "id": "p1", "speaker": "Bob"},
                {"role": "assistant", "content": "ok", "id": "b1"},
            ],
            "kind": kind,
            "question": "What is new?",
            "items": [_item(text, text, explicit=True)],
        }
        for text in plain
    ]
    counts: Counter[str] = Counter()
    for text, outcome in zip(plain, _learnt(tree, f"plain {name}", talks, model=True), strict=True):
        key = folded(text[:_ITEM_CHARACTERS])
        trusts = [trust for entry, trust in outcome["entries"] if key in folded(entry)]
        counts["kept"] += any(trust != _QUOTED for trust in trusts)
        counts["as a quote"] += bool(trusts) and all(trust == _QUOTED for trust in trusts)
    return counts


def _learnt(tree: Tree, name: str, talks: list[dict[str, Any]], *, model: bool) -> list[Any]:
    for talk in talks:
        for number, one in enumerate(talk["messages"]):
            when = _NOW - timedelta(minutes=len(talk["messages"]) - number)
            talk["messages"][number] = {"id": f"a{number}", **one, "time": when.isoformat()}
    folder = str(tree.workspace(name))
    found = tree.child("poisoned", workspace=folder, talks=talks, now=_NOW.isoformat(), model=model)
    return list(found)


# ── secrets ───────────────────────────────────────────────────────────────────────────────────────


def _secrets(table: Table, trees: Sequence[Tree], effort: Effort, *, held: bool) -> None:
    each = max(1, effort.secrets // _HELD_SHARE) if held else effort.secrets
    found = list(cases(_SEED, each, held=held))
    lines = ordinary_lines(_SEED, _ORDINARY[held], held=held)[: 50 if effort.cases else None]
    name = "held back" if held else "shown"
    texts = [*(case.text for case in found), *lines]
    whole, touched = {}, {}
    for tree in trees:
        written = _written(tree, name, texts)
        whole[tree.label] = _whole(found, written[: len(found)])
        pairs = zip(lines, written[len(found) :], strict=True)
        changed = sum(before != after for before, after in pairs)
        touched[tree.label] = Figure.share(changed, len(lines))
    table.add(SECRETS, f"{name}, masked whole in the transcript", "", whole)
    table.add(SECRETS, f"{name}, ordinary lines changed", "", touched)


def _whole(found: Sequence[Case], written: Sequence[str]) -> Figure:
    whole = sum(not leaks(case, text) for case, text in zip(found, written, strict=True))
    return Figure.share(whole, len(found))


def _written(tree: Tree, name: str, texts: list[str]) -> list[str]:
    """Return each text as `log.jsonl` has it."""
    workspace = tree.workspace(f"secrets {name}")
    tree.child("masked", workspace=str(workspace), texts=texts)
    known = dict(_messages(workspace / "channels" / "texts"))
    return [known[f"t{number}"] for number in range(len(texts))]


def _messages(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("log*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["id"], row["content"]
