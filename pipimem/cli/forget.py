"""`pipimem forget`: a text or an entry removed from everything a channel keeps, and the proof of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen
from pipimem.cli.printing import Failed, confirmed, counted, note, one_line, record, say, shown
from pipimem.clock import Clock
from pipimem.errors import NothingFound
from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.recall.items import Source
from pipimem.runtime.reading import Reading
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.forgetting.needles import named
from pipimem.store.forgetting.traces import Trace, traces
from pipimem.store.workspace import PEOPLES

# So many of what recall finds are offered for picking.
_MOST = 12
_ALL = ("all", "全部", "都")
# Beyond this a list of messages is not read any more; entries are shown all, for they go whole.
_LISTED = 10
_ENDS = "Undo, diff and restore end here: what was changed before a forgetting cannot be taken back after it."
_NOWHERE = (
    "Nothing that would be shown holds it. Older versions and the journal are searched as well: only if they hold it do undo, "
    "diff and restore end here."
)
_BEYOND = (
    "not ours, and not looked at: backups and snapshots of this disk, version control, copies of sync clients, and "
    "what models' providers were sent"
)


@click.command("forget")
@channel
@click.argument("what", metavar="[TEXT|ID]", required=False)
@click.option(
    "--query",
    metavar="QUERY",
    help="Choose among what recall finds for this; with --yes all of it goes.",
)
@click.option(
    "--verify", metavar="TEXT", help="Forget nothing; prove that TEXT is nowhere any more."
)
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
    wanted: str | Sequence[str] = (
        _picked(chosen, store, query or "", yes=yes) if what is None else what
    )
    found = forgettable(store, wanted, keep_transcript=keep_transcript)
    for line in lines_of(found):
        note(line)
    if not yes:
        confirmed(_asked(found), "nothing was forgotten")
    receipt = store.forget(
        wanted, keep_transcript=keep_transcript, now=Clock().now(), actor="person"
    )
    store.close()
    if as_json:
        record({"channel": channel, **receipt.counts, "places": receipt.places})
    elif not receipt.is_empty:
        say(told(receipt.counts))
        for place, count in receipt.places.items():
            say(f"  {place}: {count}")
    if receipt.is_empty:
        words = one_line(wanted if isinstance(wanted, str) else ", ".join(wanted), 60)
        spared = (
            forgettable(store, wanted, keep_transcript=False).messages if keep_transcript else ()
        )
        if spared:
            held = f"{counted(len(spared), 'message')} of log.jsonl"
            raise Failed(
                f"only {held} in {channel} hold {words!r}; --keep-transcript leaves the log as it is"
            )
        raise Failed(
            f"nothing in {channel} holds {words!r}; it will not be learnt from older talk either"
        )
    note(_BEYOND)


def _verify(store: ChannelStore, text: str, as_json: bool) -> None:
    """Every byte of ours; people's own files of the workspace are told, but are not ours to clean."""
    if not text.strip():
        raise Failed("nothing to look for: the text is empty")
    root = store.workspace.root
    left = list(traces((store.folder, root / ".pipimem"), text))
    shared = list(traces([root / name for name in PEOPLES], text))
    if as_json:
        places = [asdict(trace) for trace in left]
        record(
            {
                "channel": store.channel_id,
                "ok": not left,
                "places": places,
                "peoples": _told(shared, root),
            }
        )
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


def _told(found: Iterable[Trace], root: Path) -> list[str]:
    places = [(trace.path.relative_to(root), trace.line) for trace in found]
    return [f"{path}, line {line}" if line else str(path) for path, line in places]


def _picked(chosen: Chosen, store: ChannelStore, query: str, *, yes: bool) -> list[str]:
    """The ids of what a person picks of what recall finds for a query; with `yes`, of all of it.

    Raises `NothingFound` where nothing is found, `Failed` where nothing is picked.
    """
    reading = Reading(store, Vocabulary(store.workspace), chosen.settings().recall)
    reading.notes()
    candidates = reading.recalled(query, Clock().now(), automatic=False).candidates[:_MOST]
    # The workspace's own file is people's.
    found = [one.item for one in candidates if one.item.source is not Source.WORKSPACE]
    if not found:
        raise NothingFound(f"Recall finds nothing for {query!r}. Give the text itself, or an id.")
    for number, one in enumerate(found, start=1):
        note(f"{number}. {one.id}  {one_line(one.text, 200)}")
    numbers = range(1, len(found) + 1) if yes else _numbers(len(found))
    return [found[number - 1].id for number in numbers]


def _numbers(most: int) -> list[int]:
    try:
        answer = click.prompt(
            "Which? (numbers, or all)", err=True, default="", show_default=False
        ).strip()
    except click.Abort:
        answer = ""
    if answer.casefold() in _ALL:
        return list(range(1, most + 1))
    numbers = [int(number) for number in re.findall(r"\d+", answer)]
    if not numbers or not all(1 <= number <= most for number in numbers):
        raise Failed("nothing was forgotten: no number of the list was given")
    return sorted(set(numbers))


@dataclass(frozen=True, slots=True)
class Forgettable:
    """The entries that hold the text, by file, and the messages."""

    entries: tuple[Entry, ...]
    messages: tuple[Message, ...]

    def __bool__(self) -> bool:
        return bool(self.entries or self.messages)


def forgettable(
    store: ChannelStore, what: str | Sequence[str], *, keep_transcript: bool
) -> Forgettable:
    """What holds the text `what`, or the text of the entry with that id (`memory:abcd2345` or `abcd2345`)."""
    notes = store.notes()
    needles, _ = named(notes, what)
    archived = Note.read(File.ARCHIVE, store.archive_text(), store.key).entries
    every = (*(entry for file in NOTES.values() for entry in notes.note(file).entries), *archived)
    messages = () if keep_transcript else store.transcript.messages()
    return Forgettable(
        tuple(entry for entry in every if needles.are_in(entry.text)),
        tuple(
            m
            for m in messages
            if m.content and (m.id in needles.messages or needles.are_in(m.content))
        ),
    )


def lines_of(found: Forgettable) -> list[str]:
    """What would go, for eyes: entries whole, since they go whole."""
    if not found:
        return [_NOWHERE]
    lines = ["This would go:"]
    for entry in found.entries:
        text = shown(entry.text).replace("\n", "\n    ")
        lines.append(f"- {entry.file} · {entry.section}: {text}")
    lines += [
        f"- log.jsonl, {one.id}: {one_line(one.content, 100)}" for one in found.messages[:_LISTED]
    ]
    more = len(found.messages) - _LISTED
    if more > 0:
        lines.append(f"- and {counted(more, 'more message')}")
    return [*lines, _ENDS]


def _asked(found: Forgettable) -> str:
    """The question; of much it says how much, for the list is longer than a screen."""
    entries, messages = len(found.entries), len(found.messages)
    if entries + messages <= _LISTED:
        return "Forget this for good?"
    told = f"{entries:,} {'entry' if entries == 1 else 'entries'}"
    return f"Forget {told} and {counted(messages, 'message')} for good?"


def told(counts: dict[str, int]) -> str:
    """The counts of a forgetting as a sentence."""
    return "forgotten: " + ", ".join(
        f"{count} in {place}" for place, count in counts.items() if count
    )
