"""What decisions change, for eyes and for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pipimem.cli.printing import one_line
from pipimem.notes.notes import Refusal
from pipimem.runtime.thinking import Done

_TEXT = 200


def done_json(done: Iterable[Done]) -> dict[str, object]:
    """The changes, what was refused and what was left out, of one job's decisions."""
    done = tuple(done)
    return {
        "changes": [asdict(change) for one in done for change in one.outcome.changes],
        "refused": [_refused(refusal) for one in done for refusal in one.outcome.refused],
        "notes": [note for one in done for note in one.decision.notes],
        "tokens": sum(one.decision.tokens.run for one in done if one.decision.tokens),
    }


def done_rows(done: Iterable[Done]) -> Iterator[tuple[str, ...]]:
    """File, what happens in which section, the text before and the text after; file by file."""
    done = tuple(done)
    changes = [change for one in done for change in one.outcome.changes]
    for change in sorted(changes, key=lambda change: change.file):
        what = " · ".join(part for part in (change.verb, change.section, change.reason) if part)
        after = "" if change.verb == "confirmed" else change.after
        yield str(change.file), what, one_line(change.before, _TEXT), one_line(after, _TEXT)
    for one in done:
        for refusal in one.outcome.refused:
            yield (
                "",
                f"refused · {refusal.reason}",
                "",
                one_line(getattr(refusal.operation, "text", ""), _TEXT),
            )
        for note in one.decision.notes:
            yield "", "left out", "", one_line(note, _TEXT)


def _refused(refusal: Refusal) -> dict[str, str]:
    text = getattr(refusal.operation, "text", "") or getattr(refusal.operation, "title", "")
    return {"operation": type(refusal.operation).__name__, "text": text, "reason": refusal.reason}
