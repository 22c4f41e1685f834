"""`pipimem forget`: a text or an entry removed from everything a channel keeps, and the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from msgspec import structs

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, counted, note, one_line, record, say, shown
from pipimem.cli.prompts import agreed, confirmed, numbers
from pipimem.clock import Clock
from pipimem.errors import NothingFound
from pipimem.runtime.channel_access import ChannelAccess, WorkspaceStore
from pipimem.runtime.forgetting import (
    By,
    ById,
    Forgettable,
    Text,
    Trace,
    carry_out,
    forget_targets,
    forgettable,
    remains_in,
)

# So many of what recall finds are offered for picking.
_MOST = 12
# Beyond this a list is not read any more without being told how long it is.
_FEW = 10
# Entries are shown all, for they go whole.
_LISTED = 100
_ENDS = (
    "Undo, diff and restore end here, and the log begins anew: what was changed before a "
    "forgetting cannot be taken back after it."
)
_NOWHERE = (
    "Nothing that would be shown holds it. Older versions and the journal are searched as well: "
    "only if they hold it do undo, diff and restore end here."
)
_BEYOND = (
    "not ours, and not looked at: backups and snapshots of this disk, version control, copies of "
    "sync clients, and what models' providers were sent"
)


@click.command("forget")
@channel
@click.argument("what", metavar="[TEXT|ID]", required=False)
@click.option("--speaker", metavar="NAME", help="All that this person said, and what rests on it.")
@click.option("--message", metavar="ID", help="One message, and what rests on it alone.")
@click.option(
    "--query",
    metavar="QUERY",
    help="Choose among what recall finds for this; with --yes all of it goes.",
)
@click.option(
    "--verify", metavar="TEXT", help="Forget nothing; prove that TEXT is nowhere any more."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--inside-words",
    is_flag=True,
    help="Also where TEXT is a part of a longer word, as Tom is of tomorrow.",
)
@click.option("--keep-transcript", is_flag=True, help="Leave log.jsonl as it is.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    what: str | None,
    speaker: str | None,
    message: str | None,
    query: str | None,
    verify: str | None,
    yes: bool,
    inside_words: bool,
    keep_transcript: bool,
    as_json: bool,
) -> None:
    """Remove a text or an entry for good.

    All that CHANNEL keeps is searched. Undo, diff and restore of what came before end with it. An
    ID is as `recall`, `remember` and `log --json` give it.

    An entry that holds TEXT goes whole. What holds it only inside another word is listed apart and
    asked for by itself; Chinese is found anywhere. It is not learnt again from what was said
    before; told anew, it is.
    """
    if [what, query, verify, speaker, message].count(None) != 4:
        ways = "TEXT or ID, --speaker NAME, --message ID, --query QUERY, --verify TEXT"
        raise click.UsageError(f"give one of: {ways}")
    if verify is not None:
        _verify(chosen.store(), channel, verify, as_json, inside_words=inside_words)
        return
    here = ChannelAccess.opened_or_arrived(chosen.store(), channel)
    wanted: str | Sequence[str]
    if query is not None:
        wanted = _picked(chosen, channel, query, yes=yes)
    else:
        named: Text | By | ById = Text(what or "", inside_words)
        if speaker is not None:
            named = By(speaker)
        elif message is not None:
            named = ById(f"log:{message.removeprefix('log:')}")
        wanted = forget_targets(here.store, named)
    # Of what was picked by hand nothing else may go.
    how = _How(yes, as_json, inside_words, keep_transcript, with_learnt=query is None)
    _forget(here, wanted, how)


@dataclass(frozen=True, slots=True)
class _How:
    """What was chosen on the command line beside what is to be forgotten."""

    yes: bool
    as_json: bool
    inside_words: bool
    keep_transcript: bool
    with_learnt: bool


def _forget(here: ChannelAccess, wanted: str | Sequence[str], how: _How) -> None:
    """Show what would go, ask, forget it, and tell what went.

    Raises `Failed` where nobody agrees, or nothing holds it.
    """
    found, inside = forgettable(
        here.store, wanted, keep_transcript=how.keep_transcript, inside_words=how.inside_words
    )
    note("\n".join(preview_lines(found, inside)))
    inside_words = _asked_inside(found, inside, yes=how.yes) or how.inside_words
    receipt = carry_out(
        here.store,
        wanted,
        Clock().now(),
        keep_transcript=how.keep_transcript,
        inside_words=inside_words,
        with_learnt=how.with_learnt,
    )
    here.store.close()
    if how.as_json:
        record({"channel": here.id, **receipt.counts, "places": receipt.places})
    else:
        _show(receipt.counts, receipt.places)
    if not receipt.places:
        raise Failed(_why_nothing(here, wanted, inside, keep_transcript=how.keep_transcript))
    note(_BEYOND)


def _show(counts: dict[str, int], places: dict[str, int]) -> None:
    if places:
        say(counts_line(counts))
    for place, count in places.items():
        say(f"  {place}: {count}")


def _asked_inside(found: Forgettable, inside: Forgettable, *, yes: bool) -> bool:
    """Ask whether what was listed may go, and whether what holds it inside another word goes, too.

    With `yes` nobody is asked, and that stays.

    Raises `Failed` for a no to the first question, and where nobody can answer it.
    """
    if yes:
        return False
    if found or not inside:
        confirmed(_question(found), "nothing was forgotten")
    return bool(inside) and agreed("Forget what holds it inside another word, too?") is True


def _why_nothing(
    here: ChannelAccess,
    wanted: str | Sequence[str],
    inside: Forgettable,
    *,
    keep_transcript: bool,
) -> str:
    text = one_line(wanted if isinstance(wanted, str) else ", ".join(wanted), 60)
    name = here.id
    if inside:
        return f"{name} holds {text!r} only inside other words; --inside-words takes these, too"
    spared = forgettable(here.store, wanted)[0].messages if keep_transcript else ()
    if spared:
        only = f"only {counted(len(spared), 'message')} of log.jsonl in {name} hold {text!r}"
        return f"{only}; --keep-transcript leaves the log as it is"
    return f"nothing in {name} holds {text!r}; nothing was changed"


def _verify(
    store: WorkspaceStore, channel: str, text: str, as_json: bool, *, inside_words: bool
) -> None:
    """Search every byte of ours, write nothing, and say where the text still stands.

    People's own files of the workspace are named, but are not ours to clean. Raises `Failed` where
    one of ours holds it.
    """
    if not text.strip():
        raise Failed("nothing to look for: the text is empty")
    root = store.root
    ours, user_files = remains_in(store, channel, text, inside_words=inside_words)
    if as_json:
        places = list(map(structs.asdict, ours))
        about = {"channel": channel, "ok": not ours, "places": places}
        record({**about, "peoples": _places(user_files, root)})
    else:
        for place in _places(ours, root):
            say(place)
    for place in _places(user_files, root):
        note(f"{place} holds it; the file is people's: take it out by hand")
    note(_BEYOND)
    if ours:
        raise Failed(f"the text still stands in {counted(len(ours), 'place')}")
    if not as_json:
        say(f"nothing is left of it in {store.folder_of(channel)} and {root / '.pipimem'}")


def _places(found: Iterable[Trace], root: Path) -> list[str]:
    """Files below a workspace, each with its line where that is known."""
    places = []
    for trace in found:
        line = f", line {trace.line}" if trace.line else ""
        places.append(f"{trace.path.relative_to(root)}{line}")
    return places


def _picked(chosen: Chosen, channel: str, query: str, *, yes: bool) -> list[str]:
    """The ids of what a person picks of what recall finds for a query; with `yes`, of all of it.

    Raises `NothingFound` where nothing is found, `Failed` where nothing is picked.
    """
    from pipimem.cli.recalls import ChannelRecalls, Source  # recall, which others need not load

    recalled = ChannelRecalls(chosen).recalled(channel, query, automatic=False)
    candidates = recalled.candidates[:_MOST]
    items = [one.item for one in candidates]
    # The workspace's own file is people's.
    found = [one for one in items if one.source is not Source.WORKSPACE]
    if not found:
        raise NothingFound(f"Recall finds nothing for {query!r}. Give the text itself, or an id.")
    for number, one in enumerate(found, start=1):
        note(f"{number}. {one.id}  {one_line(one.text, 200)}")
    if yes:
        return [one.id for one in found]
    return [found[number - 1].id for number in numbers(len(found))]


def preview_lines(found: Forgettable, inside: Forgettable) -> list[str]:
    """What would go, line by line, and after it what holds the text only inside another word."""
    lines: list[str] = []
    if found:
        lines += ["This would go:", *_listed(found), _ENDS]
    if inside:
        lines += ["Only inside another word it stands here:", *_listed(inside)]
    return lines or [_NOWHERE]


def _listed(found: Forgettable) -> Iterator[str]:
    for entry in found.entries:
        text = shown(entry.text).replace("\n", "\n    ")
        yield f"- {entry.file} · {entry.section}: {text}"
    for one in found.messages[:_LISTED]:
        yield f"- log.jsonl, {one.id}: {one_line(one.content, 100)}"
    more = len(found.messages) - _LISTED
    if more > 0:
        yield f"- and {counted(more, 'more message')}"
    for name, count in sorted(Counter(one.speaker for one in found.named).items()):
        yield f"- log.jsonl: the name {shown(name)} from {counted(count, 'message')}"


def _question(found: Forgettable) -> str:
    """The question; of much it says how much, for the list is longer than a screen."""
    entries, messages = len(found.entries), len(found.messages)
    if entries + messages <= _FEW:
        return "Forget this for good?"
    much = f"{counted(entries, 'entry', 'entries')} and {counted(messages, 'message')}"
    return f"Forget {much} for good?"


def counts_line(counts: dict[str, int]) -> str:
    """The counts of a forgetting as a sentence."""
    places = [f"{count} in {place}" for place, count in counts.items() if count]
    return f"forgotten: {', '.join(places)}"
