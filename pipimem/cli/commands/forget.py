"""`pipimem forget`: a text or an entry removed from everything a channel keeps, and the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from msgspec import structs

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, counted, note, one_line, record, say, shown
from pipimem.cli.prompts import agreed, confirmed, numbers
from pipimem.clock import Clock
from pipimem.errors import NothingFound
from pipimem.runtime.bot_process import take_in_arrivals
from pipimem.runtime.forget_preview import Forgettable
from pipimem.runtime.forgetting import (
    By,
    ById,
    ForgetCounts,
    ForgetPreview,
    Trace,
    Typed,
    What,
    remains_in,
)
from pipimem.runtime.notes import ChannelNotes
from pipimem.runtime.opened_parts import WorkspaceStore, run_alone

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
    "Nothing that would be shown holds it. Past texts and changes are searched as well: "
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
    take_in_arrivals(chosen.store(), Clock().now())
    with chosen.changing(ChannelNotes, channel) as notes:
        named: _Named
        if query is not None:
            ids = _picked(chosen, channel, query, yes=yes)
            named = partial(_by_ids, ids)
        elif speaker is not None:
            named = partial(By, speaker, "")
        elif message is not None:
            named = partial(ById, f"log:{message.removeprefix('log:')}")
        else:
            named = partial(Typed, what or "")
        # Of what was picked by hand nothing else may go.
        how = _How(yes, inside_words, keep_transcript, with_learnt=query is None)
        counts, why_nothing = _forget(notes, channel, named, how)
    if as_json:
        record({"channel": channel, **counts, "places": counts.places})
    else:
        _show(counts, counts.places)
    if why_nothing:
        raise Failed(why_nothing)
    note(_BEYOND)


# What is to be forgotten, inside words or not.
_Named = Callable[[bool], What]


def _by_ids(ids: Iterable[str], inside_words: bool) -> list[ById | str]:
    return [ById(name, inside_words) for name in ids]


@dataclass(frozen=True, slots=True)
class _How:
    """What was chosen on the command line beside what is to be forgotten."""

    yes: bool
    inside_words: bool
    keep_transcript: bool
    with_learnt: bool


def _forget(
    notes: ChannelNotes, channel: str, named: _Named, how: _How
) -> tuple[ForgetCounts, str]:
    """Show what would go, ask, and forget it; returns what went, or why nothing did.

    Raises `Failed` where nobody agrees.
    """

    def preview(keep_transcript: bool) -> ForgetPreview:
        return run_alone(
            notes.preview_forget(
                named(how.inside_words),
                keep_transcript=keep_transcript,
                with_learnt=how.with_learnt,
            )
        )

    going = preview(how.keep_transcript)
    note("\n".join(preview_lines(going)))
    inside_words = _asked_inside(going.exact, going.inside, yes=how.yes) or how.inside_words
    counts = run_alone(
        notes.forget(
            named(inside_words),
            keep_transcript=how.keep_transcript,
            with_learnt=how.with_learnt,
        )
    )
    if counts.places:
        return counts, ""
    spared = len(preview(False).exact.messages) if how.keep_transcript else 0
    return counts, _why_nothing(channel, going, spared)


def _show(counts: Mapping[str, int], places: Mapping[str, int]) -> None:
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


def _why_nothing(channel: str, going: ForgetPreview, spared: int) -> str:
    """Why nothing was forgotten; `spared` messages hold it, and the log was to stay."""
    text = one_line(", ".join(going.targets), 60)
    if going.inside:
        return f"{channel} holds {text!r} only inside other words; --inside-words takes these, too"
    if spared:
        only = f"only {counted(spared, 'message')} of log.jsonl in {channel} hold {text!r}"
        return f"{only}; --keep-transcript leaves the log as it is"
    return f"nothing in {channel} holds {text!r}; nothing was changed"


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
    from pipimem.cli.recalls import Source, opened_recall  # recall, which others need not load

    recall = opened_recall(chosen).recall(channel)
    recalled = run_alone(recall.recall(query, automatic=False))
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


def preview_lines(preview: ForgetPreview) -> list[str]:
    """What would go, line by line, and after it what holds the text only inside another word."""
    found, inside = preview.exact, preview.inside
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


def counts_line(counts: Mapping[str, int]) -> str:
    """The counts of a forgetting as a sentence."""
    places = [f"{count} in {place}" for place, count in counts.items() if count]
    return f"forgotten: {', '.join(places)}"
