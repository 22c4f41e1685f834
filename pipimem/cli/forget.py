"""`pipimem forget`: a text or an entry removed from everything a channel keeps, and the proof of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipimem.cli.confirming import confirmed
from pipimem.cli.failing import Failed
from pipimem.cli.forgettable import Forgettable, forgettable
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.picking import picked
from pipimem.cli.printing import counted, note, one_line, record, say, shown
from pipimem.clock import Clock
from pipimem.store.channel import ChannelStore
from pipimem.store.forgetting.traces import traces
from pipimem.store.workspace import PEOPLES

# Beyond this a list of messages is not read any more; entries are shown all, for they go whole.
_LISTED = 10
_ENDS = "Undo, diff and restore end here: what was changed before a forgetting cannot be taken back after it."
_BEYOND = (
    "not ours, and not looked at: backups and snapshots of this disk, version control, copies of sync clients, and "
    "what models' providers were sent"
)


@click.command("forget")
@channel
@click.argument("what", metavar="[TEXT|ID]", required=False)
@click.option("--query", metavar="QUERY", help="Choose among what recall finds for this; with --yes all of it goes.")
@click.option("--verify", metavar="TEXT", help="Forget nothing; prove that TEXT is nowhere any more.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep-transcript", is_flag=True, help="Leave log.jsonl as it is.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    what: str | None,
    query: str | None,
    verify: str | None,
    yes: bool,
    keep_transcript: bool,
    as_json: bool,
) -> None:
    """Remove a text or an entry for good.

    All that CHANNEL keeps is searched. Undo, diff and restore of what came before end with it. An ID is as `recall`, `remember` and `log --json` give it.

    An entry that holds TEXT goes whole. It is not learnt again from what was said before; told anew, it is.
    """
    given = [one for one in (what, query, verify) if one is not None]
    if len(given) != 1:
        raise click.UsageError("give one of: TEXT or ID, --query QUERY, --verify TEXT")
    store = ChannelStore.open(chosen.store(), channel, create=False)
    if verify is not None:
        _verify(store, verify, as_json)
        return
    wanted: str | Sequence[str] = picked(chosen, store, query or "", yes=yes) if what is None else what
    found = forgettable(store, wanted, keep_transcript=keep_transcript)
    for line in lines_of(found):
        note(line)
    if not yes and not confirmed(_asked(found), "nothing was forgotten"):
        raise Failed("nothing was forgotten")
    receipt = store.forget(wanted, keep_transcript=keep_transcript, now=Clock().now(), actor="person")
    store.close()
    if as_json:
        record({"channel": channel, **receipt.counts, "places": receipt.places})
    elif not receipt.is_empty:
        say(told(receipt.counts))
        for place, count in receipt.places.items():
            say(f"  {place}: {count}")
    if receipt.is_empty:
        words = one_line(wanted if isinstance(wanted, str) else ", ".join(wanted), 60)
        raise Failed(f"nothing in {channel} holds {words!r}; it will not be learnt from older talk either")
    note(_BEYOND)


def _verify(store: ChannelStore, text: str, as_json: bool) -> None:
    """Every byte of ours; people's own files of the workspace are told, but are not ours to clean."""
    if not text.strip():
        raise Failed("nothing to look for: the text is empty")
    root = store.workspace.root
    left = [(trace.path, trace.line) for trace in traces((store.folder, root / ".pipimem"), text)]
    shared = [(trace.path, trace.line) for name in PEOPLES for trace in traces((root / name,), text)]
    if as_json:
        told = [{"path": str(path), "line": line} for path, line in left]
        record({"channel": store.channel_id, "ok": not left, "places": told, "peoples": _told(shared, root)})
    else:
        for place in _told(left, root):
            say(place)
    for place in _told(shared, root):
        note(f"{place} holds it; the file is people's: take it out by hand")
    note(_BEYOND)
    if left:
        raise Failed(f"the text still stands in {len(left)} place{'s' if len(left) > 1 else ''}")
    if not as_json:
        say(f"nothing is left of it in {store.folder} and {root / '.pipimem'}")


def _told(places: Sequence[tuple[Path, int]], root: Path) -> list[str]:
    return [f"{path.relative_to(root)}, line {line}" if line else str(path.relative_to(root)) for path, line in places]


def lines_of(found: Forgettable) -> list[str]:
    """What would go, for eyes: entries whole, since they go whole."""
    if not found:
        return ["The files as they stand do not hold it; older versions and the journal may.", _ENDS]
    lines = [f"- {entry.file} · {entry.section}: {_indented(entry.text)}" for entry in found.entries]
    messages = [f"- log.jsonl, {one.id}: {one_line(one.content, 100)}" for one in found.messages]
    more = len(messages) - _LISTED
    return [
        "This would go:",
        *lines,
        *messages[:_LISTED],
        *([f"- and {counted(more, 'more message')}"] if more > 0 else []),
        _ENDS,
    ]


def _asked(found: Forgettable) -> str:
    """The question; of much it says how much, for the list is longer than a screen."""
    entries, messages = len(found.entries), len(found.messages)
    if entries + messages <= _LISTED:
        return "Forget this for good?"
    told = f"{entries:,} {'entry' if entries == 1 else 'entries'}"
    return f"Forget {told} and {counted(messages, 'message')} for good?"


def _indented(text: str) -> str:
    return shown(text).replace("\n", "\n    ")


def told(counts: dict[str, int]) -> str:
    """The counts of a forgetting as a sentence."""
    return "forgotten: " + ", ".join(f"{count} in {place}" for place, count in counts.items() if count)
