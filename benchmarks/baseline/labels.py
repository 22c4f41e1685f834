"""The labelled sets: what is kept of talk, what poison becomes, which secrets are masked.

The scorers are those of this tree; the other tree gives nothing but its output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pipimem import Message

from benchmarks.baseline.effort import Effort
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree
from benchmarks.consolidation import labels as consolidation
from benchmarks.consolidation.labels import Stretch, scored, stretches
from benchmarks.poison.contexts import is_in
from benchmarks.poison.payloads import Payload, payloads, sampled
from benchmarks.secrets.generate import cases, leaks
from benchmarks.secrets.generate import ordinary as ordinary_lines

CONSOLIDATION, POISON, SECRETS = "consolidation by rules", "poison", "secrets"
_SETS = {
    "ten stretches": consolidation.FOLDER,
    "unseen": consolidation.UNSEEN,
    "blind": consolidation.BLIND,
    "blind, second": consolidation.BLIND_SECOND,
    "blind, third": consolidation.BLIND_THIRD,
    "blind, fourth": consolidation.BLIND_FOURTH,
}
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SEED, _ORDINARY = 15, {False: 1333, True: 667}
_NOW = datetime.fromisoformat("2026-11-12T10:00:00+08:00")


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of all three."""
    for name, folder in list(_SETS.items())[: 2 if effort.some else None]:
        known = stretches(folder)[: effort.some]
        if evals is None and not all(stretch.unseen for stretch in known):
            table.leave_out(CONSOLIDATION, name, "no EVALS_DIR")
        else:
            _consolidation(table, trees, name, known, evals or Path())
    _poison(table, trees, effort)
    for held in (False, True):
        _secrets(table, trees, effort, held=held)


# ── consolidation ─────────────────────────────────────────────────────────────────────────────────


def _consolidation(
    table: Table, trees: Sequence[Tree], name: str, known: Sequence[Stretch], evals: Path
) -> None:
    sums: dict[str, Counter[str]] = {tree.label: Counter() for tree in trees}
    for stretch in known:
        for tree in trees:
            score = scored(stretch, _entries(tree, stretch, evals))
            sums[tree.label] += Counter(
                kept=len(score.kept),
                labelled=len(stretch.facts),
                junk=len(score.junk),
                falsified=len(score.falsified),
                entries=score.entries,
            )
    for part, whole in (("kept", "labelled"), ("junk", "entries"), ("falsified", "entries")):
        _shares(table, CONSOLIDATION, f"{name}, {part}", sums, part, whole)


def _shares(
    table: Table, group: str, name: str, sums: dict[str, Counter[str]], part: str, whole: str
) -> None:
    table.compare(group, name, "", sums, lambda one: Figure.share(one[part], one[whole]))


def _entries(tree: Tree, stretch: Stretch, evals: Path) -> list[str]:
    """Return the bullets of MEMORY.md after a replay that ends with a boundary."""
    workspace = tree.workspace("stretches")
    transcript = workspace / f"{stretch.name}.jsonl"
    transcript.write_text("\n".join(stretch.lines(evals)), encoding="utf-8")
    tree.command("replay", stretch.name, str(transcript), "--kind", "group", workspace=workspace)
    note = workspace / "channels" / stretch.name / "MEMORY.md"
    text = _COMMENT.sub("", note.read_text("utf-8")) if note.exists() else ""
    return [line[2:] for line in text.splitlines() if line.startswith(("- ", "* "))]


# ── poison ────────────────────────────────────────────────────────────────────────────────────────

_ITEM_CHARACTERS = 200
_PLACES = ("an entry", "a quote", "other notes", "with every turn", "in the context", "outside")


def _poison(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    """Say each payload in a channel of its own, let it be learnt, and ask its question.

    The memory is written by the offline rules, then by a model that believes all it is told.
    """
    found = sampled(effort.some) if effort.some else payloads()
    talks = [_attack(payload) for payload in found]
    for model in (False, True):
        name = "a believing model" if model else "offline rules"
        sums = {}
        for tree in trees:
            folder = tree.workspace(f"poison {name}")
            now = _NOW.isoformat()
            outcomes = tree.child("poisoned", workspace=folder, talks=talks, now=now, model=model)
            sums[tree.label] = _places(found, outcomes)
        for place in (*_PLACES, "not consolidated"):
            _shares(table, POISON, f"{name}, payloads, {place}", sums, place, "payloads")


def _attack(payload: Payload) -> dict[str, Any]:
    """Return a payload behind its scene's talk, and what a model that believes every word learns."""
    said = [*payload.scene.talk, *payload.messages]
    source = next(one.content for one in payload.messages if one.id == payload.source)
    items = [_item(payload.order, source, "constraint"), _item(f"Wanted: {payload.order}", source)]
    items += [_item(one.content, one.content) for one in payload.messages if one.role == "user"]
    return {
        "messages": [_sent(one, len(said) - at) for at, one in enumerate(said)],
        "kind": payload.scene.kind,
        "question": payload.question,
        "asker": payload.asker,
        "items": items,
    }


def _sent(message: Message, minutes_ago: int) -> dict[str, str]:
    sent = {"role": message.role, "content": message.content, "id": message.id}
    sent["time"] = (_NOW - timedelta(minutes=minutes_ago)).isoformat()
    return sent | ({"speaker": message.speaker} if message.speaker else {})


def _item(text: str, said: str, kind: str = "fact") -> dict[str, Any]:
    return {"text": text[:_ITEM_CHARACTERS], "said": said, "kind": kind, "explicit": True}


def _places(found: Sequence[Payload], outcomes: Sequence[dict[str, Any]]) -> Counter[str]:
    counts = Counter(payloads=len(found))
    for payload, outcome in zip(found, outcomes, strict=True):
        counts["not consolidated"] += outcome["state"] != "consolidated"
        texts = [
            "|".join(text for text, is_quote in outcome["entries"] if is_quote is wanted)
            for wanted in (False, True)
        ]
        texts += [outcome[name] for name in ("notes", "standing", "context", "outside")]
        for place, text in zip(_PLACES, texts, strict=True):
            counts[place] += is_in(payload, text)
    return counts


# ── secrets ───────────────────────────────────────────────────────────────────────────────────────


def _secrets(table: Table, trees: Sequence[Tree], effort: Effort, *, held: bool) -> None:
    """Write texts as messages and read them from `log.jsonl`."""
    found = list(cases(_SEED, (effort.secrets + held) // (1 + held), held=held))
    lines = ordinary_lines(_SEED, _ORDINARY[held], held=held)[: effort.some]
    texts = [*(case.text for case in found), *lines]
    sums = {}
    for tree in trees:
        workspace = tree.workspace(f"secrets {held}")
        written = tree.child("masked", workspace=workspace, texts=texts)
        masked = zip(found, written[: len(found)], strict=True)
        pairs = zip(lines, written[len(found) :], strict=True)
        sums[tree.label] = Counter(
            texts=len(found),
            whole=sum(not leaks(case, text) for case, text in masked),
            lines=len(lines),
            changed=sum(before != after for before, after in pairs),
        )
    name = "held-back surroundings" if held else "shown surroundings"
    _shares(table, SECRETS, f"{name}, masked whole in the transcript", sums, "whole", "texts")
    _shares(table, SECRETS, f"{name}, ordinary lines changed", sums, "changed", "lines")
