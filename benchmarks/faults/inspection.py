"""What a fresh process must find after a fault, and after the next commit it makes itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipimem import Message, resources
from pipimem.errors import PipimemError
from pipimem.notes.files import NOTE_FILES, File
from pipimem.notes.notes import Notes
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import TEMPORARY
from pipimem.store.forget.verify import traces
from pipimem.store.health.channels import channel_findings
from pipimem.store.workspace import WorkspaceStore

from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.journeys import NOW, Journey, adding, opened
from benchmarks.faults.tree import Tree

Texts = tuple[str, ...]
"""The texts of the notes, in the order of `NOTE_FILES`."""
Line = tuple[File, str]
_NEXT = "the next fact of all"


@dataclass(frozen=True, slots=True)
class Expected:
    """The states a journey passes through when nothing goes wrong: number of the newest record,
    texts of the notes.
    """

    states: tuple[tuple[int, Texts], ...]

    @property
    def standing(self) -> Counter[Line]:
        """The lines that are there in every state, by file, and how often at least."""
        counts = [Counter(_lines(texts)) for _, texts in self.states]
        least = counts[0]
        for count in counts[1:]:
            least &= count
        return least

    @property
    def known(self) -> Counter[Line]:
        """The lines of any state, and how often they stand in one at most."""
        most: Counter[Line] = Counter()
        for _, texts in self.states:
            most |= Counter(_lines(texts))
        return most


@dataclass(frozen=True, slots=True)
class Faulted:
    """A journey that met a fault: how it ended and what it had acknowledged by then."""

    journey: Journey
    expected: Expected
    ended: Ended
    # Whether each file must be of one and the same state; not where an error was overcome and the
    # way went on.
    is_exact: bool = True


def expected_of(journey: Journey, tree: Tree, root: Path) -> Expected:
    """Lets the journey happen without a fault, and takes down its states."""
    tree.laid(root)
    before = in_child(lambda say: _say_state(root, journey, say))
    clean = in_child(lambda say: journey.run(root, say))
    assert clean.how == "done", clean
    after = in_child(lambda say: _say_past(root, journey, say))
    states = [
        (int(str(number)), tuple(map(str, texts)))
        for number, *texts in (*before.of("state"), *after.of("state"))
    ]
    return Expected(tuple(dict.fromkeys(state for state in states if state[0] >= states[0][0])))


def problems(root: Path, faulted: Faulted) -> list[str]:
    """What is wrong in this workspace, found by a process of its own; nothing is right."""

    def work(say: Say) -> None:
        for wrong in _all_wrong(root, faulted):
            say("wrong", wrong)

    found = in_child(work)
    wrong = [str(line[0]) for line in found.of("wrong")]
    if found.how == "raised":
        wrong.append(f"the next start raised {found.of('raised')[0][-1]}")
    elif found.how != "done":
        wrong.append(f"the next start ended {found.how}")
    return wrong


def misbehaved(ended: Ended) -> Iterator[str]:
    """What a journey must not do while a fault happens: raise what is not ours, say no way out,
    hang.
    """
    if ended.how in ("hung", "crashed"):
        yield f"it {ended.how}"
    for names, text, trace in ended.of("raised"):
        assert isinstance(names, list)
        if not {PipimemError.__name__, "ClickException", "Exit"} & set(names):
            yield f"it raised {names[0]}: {trace}"
        elif PipimemError.__name__ in names and not _says_what_to_do(str(text)):
            yield f"it does not say what to do: {text}"
    for line in ended.of("wrong"):
        yield str(line[0])


_WAYS_OUT = ("Free ", "Mount ", "Check ", "Raise ", "Move ", "Put ", "Try ", "Remove ", "Save ",
"Name ", "Create ",
             "see `", "Make ", "Rename ", "try again", "There are")  # fmt: skip


def _says_what_to_do(text: str) -> bool:
    return any(way in text for way in _WAYS_OUT)


# ── in the fresh process ──────────────────────────────────────────────────────────────────────────


def _say_state(root: Path, journey: Journey, say: Say) -> None:
    if not (root / "channels").is_dir():
        say("state", 0, *("" for _ in NOTE_FILES))
        return
    notes = opened(root, journey.channel, create=False).notes()
    say("state", notes.ledger.sequence, *_texts(notes))


def _say_past(root: Path, journey: Journey, say: Say) -> None:
    past = opened(root, journey.channel, create=False).past()
    for sequence in range(past.records[0].sequence - 1, past.records[-1].sequence + 1):
        texts = [past.text_after(file, sequence) for file in NOTE_FILES]
        if None not in texts:
            say("state", sequence, *texts)


def _all_wrong(root: Path, faulted: Faulted) -> Iterator[str]:
    """Reads first, then writes, then reads what came of it."""
    said = faulted.ended
    yield from _template(
        root, written_anew=not said.of("template"), begun_before=faulted.journey.channel == "team"
    )
    name = faulted.journey.channel
    is_there = name in {info.id for info in WorkspaceStore.open(root).channels()}
    if not is_there and (said.of("made") or said.of("message")):
        yield f"the channel {name} is gone"
    if is_there:
        yield from _reading(opened(root, name, create=False), faulted)
    store = opened(root, name)
    has_begun = (store.folder / ".pipimem" / "forget.json").exists()
    store.commit(adding(_NEXT), NOW)
    store.append([Message.user("the next message", id="next")])
    store.close()
    if has_begun:
        yield from _left_of(root, "elephant")
    yield from _afterwards(root, faulted)


def _template(root: Path, *, written_anew: bool, begun_before: bool) -> Iterator[str]:
    if written_anew and not begun_before:
        WorkspaceStore.init(root)
    for path, content in resources.template():
        if (root / path).read_bytes() != content:
            yield f"{path} of the workspace is another"


def _reading(store: ChannelStore, faulted: Faulted) -> Iterator[str]:
    notes, said = store.notes(), faulted.ended
    sequence, texts = notes.ledger.sequence, _texts(notes)
    least = max((int(str(line[0])) for line in said.of("sequence")), default=0)
    if sequence < least:
        yield f"record {least} was acknowledged, and {sequence} is the newest"
    is_one = any(texts == state and number >= least for number, state in faulted.expected.states)
    if not is_one and not faulted.journey.apart and faulted.is_exact:
        yield f"neither before nor after, at {sequence}: {texts}"
    yield from _lines_right(faulted.expected, texts, ())
    numbers = [message.number for message in store.transcript.messages()]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the numbers of the messages are {numbers}"


def _lines_right(expected: Expected, texts: Texts, more: tuple[Line, ...]) -> Iterator[str]:
    lines = Counter(_lines(texts))
    if missing := expected.standing - lines:
        yield f"lines that always stood are gone: {dict(missing)}"
    known = expected.known
    if unknown := set(lines) - set(known) - set(more):
        yield f"lines nobody wrote: {sorted(unknown)}"
    doubled = [line for line, count in lines.items() if count > max(known[line], 1)]
    if doubled:
        yield f"lines that stand twice: {doubled}"


def _afterwards(root: Path, faulted: Faulted) -> Iterator[str]:
    """After the next commit: all is in its place, and nothing is left over."""
    journey, said = faulted.journey, faulted.ended
    store = opened(root, journey.channel, create=False)
    notes = store.notes()
    disk = tuple(_text(store.folder / file) for file in NOTE_FILES)
    if disk != _texts(notes):
        yield "the files are not what is read"
    yield from _lines_right(faulted.expected, disk, ((File.MEMORY, f"- {_NEXT}"),))
    memory = disk[NOTE_FILES.index(File.MEMORY)]
    entries = [*(str(line[0]) for line in said.of("entry")), _NEXT]
    yield from (
        f"{memory.count(f'- {text}')} times {text!r}"
        for text in entries
        if memory.count(f"- {text}") != 1
    )
    yield from (f"{line[0]!r} is back" for line in said.of("gone") if f"- {line[0]}" in memory)
    yield from _messages(store, faulted.ended)
    for line in said.of("forgotten"):
        yield from _left_of(root, str(line[0]))
    left = [
        path
        for path in root.rglob("*")
        if path.name.endswith(TEMPORARY) or path.name == "forget.json"
    ]
    if left:
        yield f"left over: {left}"
    yield from _own_state(store, notes)
    yield from (
        f"the doctor: {found.what}"
        for found in channel_findings(store.workspace, store.folder, NOW)
        if found.wrong
    )


def _messages(store: ChannelStore, said: Ended) -> Iterator[str]:
    messages = list(store.transcript.messages())
    counts = Counter(message.id for message in messages)
    yield from (
        f"message {name} stands {count} times" for name, count in counts.items() if count > 1
    )
    contents = {message.id: message.content for message in messages}
    for name, content in [*said.of("message"), ("next", "the next message")]:
        if contents.get(str(name)) != content:
            yield f"message {name} was acknowledged, and is {contents.get(str(name))!r}"
    if [message.number for message in messages] != list(range(1, len(messages) + 1)):
        yield "the numbers of the messages have gaps"


def _own_state(store: ChannelStore, notes: Notes) -> Iterator[str]:
    sequences = [record.sequence for record in store.journal_records()]
    # A forgetting begins it anew, with the number it has come to.
    if sequences != list(range(sequences[0], sequences[0] + len(sequences))):
        yield f"the journal has {sequences}"
    (store.folder / ".pipimem" / "ledger.json").unlink()
    if opened(store.workspace.root, store.channel_id, create=False).ledger != notes.ledger:
        yield "the ledger of the journal is another than the one at the checkpoint"


def _left_of(root: Path, words: str) -> Iterator[str]:
    yield from (
        f"{words!r} is left in {trace.path}"
        for trace in traces([root / "channels", root / ".pipimem"], words)
    )


def _texts(notes: Notes) -> Texts:
    return tuple(notes.note(file).text for file in NOTE_FILES)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _lines(texts: Texts) -> list[Line]:
    """What stands in the files; headings come with what stands below them."""
    return [
        (file, line)
        for file, text in zip(NOTE_FILES, texts, strict=True)
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
