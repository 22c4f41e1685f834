"""Which messages of a person read like an attack only together, or belong to one beside them.

Messages that end no sentence are judged together, the fewest that show the attack. From a message
that reads like one its neighbours are taken as far as one goes on with the other's sentence: what
else its speaker says around it is learnt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pipimem.notes.message import Message
from pipimem.text.characters import has_han
from pipimem.text.injection import injection_kind
from pipimem.text.open_sentences import goes_on, is_ended

# An attack may be cut into so many messages of one person.
_MOST_PIECES = 4


def split_attacks(
    own: Sequence[Message],
    suspect: Mapping[str, str],
    kind_of: Callable[[str], str] = injection_kind,
) -> dict[str, str]:
    """The kind of attack by id, of messages that are not `suspect` by themselves.

    `kind_of` says which kind a text is, empty for none.
    """
    found: dict[str, str] = {}
    for said in _by_speaker(own):
        kinds = {at: suspect[one.id] for at, one in enumerate(said) if one.id in suspect}
        kinds = _with_joined(said, kinds, kind_of)
        kinds |= dict(_continued(said, kinds))
        found |= {said[at].id: kind for at, kind in kinds.items()}
    return found


def _by_speaker(own: Sequence[Message]) -> Iterable[list[Message]]:
    found: dict[str, list[Message]] = defaultdict(list)
    for message in own:
        found[message.speaker].append(message)
    return found.values()


def _with_joined(
    said: Sequence[Message], suspect: Mapping[int, str], kind_of: Callable[[str], str]
) -> dict[int, str]:
    """The kinds of attack by place, with the messages that show one only together."""
    kinds = dict(suspect)
    for last in range(1, len(said)):
        pieces = _pieces_up_to(said, last, kinds)
        kind = kind_of(_joined(pieces)) if len(pieces) > 1 else ""
        if kind:
            first = last + 1 - len(_fewest(pieces, kind_of))
            kinds |= dict.fromkeys(range(first, last + 1), kind)
    return kinds


def _pieces_up_to(
    said: Sequence[Message], last: int, suspect: Mapping[int, str]
) -> Sequence[Message]:
    """A message with those before it that end no sentence, up to one that is an attack itself."""
    first = last
    while last - first < _MOST_PIECES - 1 and first > 0 and last not in suspect:
        if first - 1 in suspect or is_ended(said[first - 1].content):
            break
        first -= 1
    return said[first : last + 1]


def _fewest(pieces: Sequence[Message], kind_of: Callable[[str], str]) -> Sequence[Message]:
    """The last pieces, as few as still show the attack."""
    for first in range(len(pieces) - 2, -1, -1):
        if kind_of(_joined(pieces[first:])):
            return pieces[first:]
    return pieces


def _joined(pieces: Sequence[Message]) -> str:
    is_chinese = any(has_han(message.content) for message in pieces)
    return ("" if is_chinese else " ").join(message.content for message in pieces)


def _continued(said: Sequence[Message], attacks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """The places of messages whose sentence an attack goes on with, or that go on with it."""
    for at, kind in attacks.items():
        for step in (-1, 1):
            for place in _joined_on(said, at, step):
                if place not in attacks:
                    yield place, kind


def _joined_on(said: Sequence[Message], at: int, step: int) -> Iterator[int]:
    """The places from a message in one direction, as long as the sentence goes on."""
    for place in range(at + step, at + step * _MOST_PIECES, step):
        if not 0 <= place < len(said):
            return
        first, second = sorted((place - step, place))
        if not goes_on(said[first].content, said[second].content):
            return
        yield place
