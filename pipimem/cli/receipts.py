"""A compaction's receipt, as commands tell it."""

from __future__ import annotations

from pipimem.cli.printing import counted
from pipimem.runtime.turns import Receipt


def receipt_json(receipt: Receipt) -> dict[str, object]:
    """The receipt for scripts."""
    return {
        "may_compact": receipt.may_compact,
        "state": receipt.state,
        "covered": receipt.covered,
        "cursor": receipt.cursor,
        "reason": receipt.reason,
        "steps": list(receipt.steps),
    }


def receipt_lines(receipt: Receipt) -> list[str]:
    """The receipt for eyes."""
    lines = [
        f"{receipt.state}: {counted(receipt.covered, 'message')} covered, consolidated up to message {receipt.cursor}"
    ]
    lines += [f"  {step}" for step in receipt.steps]
    return [*lines, f"  reason: {receipt.reason}"] if receipt.reason else lines
