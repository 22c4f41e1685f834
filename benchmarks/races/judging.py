"""A deletion that came back: its story, and whether the texts alone could have told it from an
older buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipimem.notes.kinds import File
from pipimem.notes.operations import Author
from pipimem.store.channel import ChannelStore

from benchmarks.races.hands import Save


@dataclass(frozen=True, slots=True)
class Look:
    """One record that changed MEMORY.md: the texts around it, and the save that it took in, if
    any.
    """

    sequence: int
    author: str
    before: str
    after: str
    save: int | None


def looks(channel: ChannelStore, past: Sequence[Save]) -> Iterator[Look]:
    """What the runtime saw of the saves, in its order, told by its changes alone."""
    saves = {save.text: number for number, save in enumerate(past)}
    for record in channel.changes():
        change = record.files.get(File.MEMORY)
        if change is None:
            continue
        found = change.displaces if record.author is Author.EDITOR else change.after
        save = saves.get(channel.text_of(found) or "")
        before, after = channel.text_of(change.before), channel.text_of(change.after)
        yield Look(record.sequence, str(record.author), before or "", after or "", save)


def is_ambiguous(line: str, past: Sequence[Save], seen: Sequence[Look]) -> bool:
    """Whether two intentions lead to the very text in which the runtime first met the deletion of a
    line.

    One is the hand's: it read the line and deleted it. The other begins with an older text, by the
    changes' account, that the line had not come to yet: its writer never read the line. Both end
    with the same bytes where those have no line that came after that text: nothing shows that its
    writer had read on. Only the first look counts, and only if it is the one that kept the line.
    """
    number = next((number for number, save in enumerate(past) if save.deleted == line), None)
    first = next(
        (
            look
            for look in seen
            if number is not None and look.save is not None and look.save >= number
        ),
        None,
    )
    if number is None or first is None or first.save is None:
        return False
    came = _bullets(first.before)
    text = past[first.save].text
    if line not in came or line in _bullets(text) or line not in _bullets(first.after):
        return False
    older = seen[: seen.index(first)]
    texts = {each for look in older for each in (look.before, look.after)}
    texts |= {past[look.save].text for look in older if look.save is not None}
    return any(
        line not in _bullets(each) and not _bullets(text) & (came - _bullets(each))
        for each in texts
    )


def story(line: str, past: Sequence[Save], seen: Sequence[Look]) -> str:
    """Saves and looks around the deletion of a line, and every one that the line came or went
    with.
    """
    rows: list[str] = []
    number = next((number for number, save in enumerate(past) if save.deleted == line), 0)
    at = 0
    for look in seen:
        if look.save is not None:
            rows += [
                _told(each, past[each], line)
                for each in range(at, look.save + 1)
                if abs(each - number) < _NEAR
            ]
            at = max(at, look.save + 1)
        before, after = _bullets(look.before), _bullets(look.after)
        touches = (line in before) != (line in after)
        if touches or (look.save is not None and abs(look.save - number) < _NEAR):
            mark = " <== this line" if touches else ""
            rows.append(
                f"  record {look.sequence} ({look.author}), save {look.save}: "
                f"{len(before - after)} lines out, "
                f"{len(after - before)} in, {'has' if line in after else 'lacks'} it{mark}"
            )
    return "\n".join([f"{line.strip()}: deleted by save {number}", *rows, ""])


_NEAR = 12


def _told(number: int, save: Save, line: str) -> str:
    began = "a text just read" if save.is_read else "its own last text"
    return (
        f"save {number} from {began} ({'has' if line in _bullets(save.base) else 'lacks'} it): "
        f"typed {save.typed[2:14] or 'nothing'}, deleted {save.deleted[2:14] or 'nothing'}"
    )


def _bullets(text: str) -> frozenset[str]:
    return frozenset(line for line in text.splitlines(keepends=True) if line.startswith("- "))
