"""Past texts that hold what is forgotten, found by their lines, and what goes of them.

Thousands of texts share most of their lines, so a line is looked at once, and a text is parsed only
where a line of it holds a target that no text before had between the same neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pipimem.store.forget.targets import ForgetTargets, LineEdit
from pipimem.text.folding import folded, folded_as_shown

_Ids = Sequence[int]
# Where the first words of a target are, what follows is looked at.
_FIRST_WORDS = 3


def edits_of_texts(
    bodies: Mapping[int, str], texts: Iterable[tuple[str, _Ids]], targets: ForgetTargets
) -> dict[str, list[LineEdit]]:
    """Return what goes of the texts that hold a target, by etag.

    `bodies` are all lines by id, `texts` are etags with ids of lines.
    """
    search, edits = _Search(bodies, targets), _Edits(bodies, targets)
    found = ((etag, edits.of(ids, search)) for etag, ids in texts if search.is_in(ids))
    return {etag: of_text for etag, of_text in found if of_text}


def count_texts(
    bodies: Mapping[int, str], texts: Iterable[tuple[str, _Ids]], targets: ForgetTargets
) -> int:
    """Return how many texts hold a target."""
    search = _Search(bodies, targets)
    return sum(search.is_in(ids) for _, ids in texts)


@dataclass(slots=True)
class _Search:
    """The lines that hold a target, and those in which one may begin and go on in the next."""

    bodies: Mapping[int, str]
    targets: ForgetTargets
    held: set[int] = field(init=False)
    _begun: set[int] = field(init=False)
    # How many lines a target may run over, with blank lines between.
    _reach: int = field(init=False)
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        targets, bodies = self.targets, self.bodies
        of_words = [text for text in (*targets.texts, *targets.lines) if " " in text]
        self._reach = 1 + 2 * max((text.count(" ") for text in of_words), default=0)
        self.held = {number for number, line in bodies.items() if targets.are_in_block(line)}
        others = bodies.keys() - self.held if of_words else set[int]()
        begins = _beginnings(of_words)
        self._begun = {number for number in others if begins(bodies[number])}

    def is_in(self, ids: _Ids) -> bool:
        """Return whether a text holds a target."""
        if not self.held.isdisjoint(ids):
            return True
        if self._begun.isdisjoint(ids):
            return False
        begun = (at for at, number in enumerate(ids) if number in self._begun)
        return any(self._begins_in(tuple(ids[at : at + self._reach])) for at in begun)

    def _begins_in(self, ids: tuple[int, ...]) -> bool:
        """Return whether a target begins in some lines; over two entries it is in neither."""
        found = self._known.get(ids)
        if found is None:
            text = "".join(self.bodies.get(number, "") for number in ids)
            found = self._known[ids] = bool(self.targets.held_in(text))
        return found


def _beginnings(targets: Iterable[str]) -> Callable[[str], bool]:
    """Return a test of whether a target may begin in a line: with its first words at least."""
    ends, inside = list[str](), list[str]()
    for target in targets:
        words = target.split(" ", _FIRST_WORDS)[:_FIRST_WORDS]
        heads = [" ".join(words[:count]) for count in range(1, len(words) + 1)]
        ends += heads
        inside.append(heads[-1])

    def may_begin_in(line: str) -> bool:
        forms = (folded(line), folded_as_shown(line))
        return any(
            form.endswith(tuple(ends)) or any(head in form for head in inside) for form in forms
        )

    return may_begin_in


@dataclass(slots=True)
class _Edits:
    """What went of texts so far: the same lines between the same neighbours go again."""

    bodies: Mapping[int, str]
    targets: ForgetTargets
    # By the first id of the lines that went: these, their neighbours, and what took their place.
    _known: dict[int, list[tuple[tuple[int, ...], list[str]]]] = field(default_factory=dict)

    def of(self, ids: _Ids, search: _Search) -> list[LineEdit]:
        """Return what goes of a text that holds a target."""
        edits = list(self._repeated(ids))
        left = list(ids)
        for edit in reversed(edits):
            del left[edit.start : edit.end]
        if edits and not search.is_in(left):
            return edits
        text = "".join(self.bodies.get(number, "") for number in ids)
        edits = [block.edit for block in self.targets.held_in(text)]
        for edit in edits:
            around = _with_neighbours(ids, edit.start, edit.end)
            known = self._known.setdefault(ids[edit.start], [])
            known.append((around, edit.kept))
        return edits

    def _repeated(self, ids: _Ids) -> Iterator[LineEdit]:
        """Yield edits of lines that went from another text, in order."""
        end = 0
        for at in sorted(at for first in self._known for at in _positions(ids, first)):
            for around, kept in self._known[ids[at]] if at >= end else ():
                last = at + len(around) - 2
                if _with_neighbours(ids, at, last) == around:
                    yield LineEdit(at, last, kept)
                    end = last
                    break


def _positions(ids: _Ids, number: int) -> Iterator[int]:
    """Yield where a line is in a text."""
    at = -1
    with suppress(ValueError):
        while True:
            at = ids.index(number, at + 1)
            yield at


def _with_neighbours(ids: _Ids, start: int, end: int) -> tuple[int, ...]:
    """Return the ids of lines, with those before and after, 0 where there is none."""
    before = ids[start - 1] if start else 0
    after = ids[end] if end < len(ids) else 0
    return before, *ids[start:end], after
