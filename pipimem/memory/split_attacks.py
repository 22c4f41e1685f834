"""Which messages of a person read like an attack only together, or belong to one beside them.

Messages that end no sentence are judged together, the fewest that show the attack. From a message
that reads like one its neighbours are taken as far as one goes on with the other's sentence: what
else its speaker says around it is learnt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from pipimem import resources
from pipimem.notes.message import Message
from pipimem.text.characters import HAN, has_han
from pipimem.text.injection import injection_kind
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified
from pipimem.text.words.segmentation import Segmenter

_ENDS = ("。", ".", "!", "！", "?", "？", "…", "~", "～")
_GOES_ON = (",", "，", ":", "：", ";", "；", "、", "-", "–", "—", "(", "（", "“", "「", "《")
_CLOSING = "\"'”’)）」』》]】 "
_LAST_WORD = Pattern(r"(?:^|\s)([\w'’]+)$")
_FIRST_WORD = Pattern(r"^([\w'’]+)")
_LAST_HAN = Pattern(rf"[{HAN}]{{1,6}}$")
_FIRST_HAN = Pattern(rf"^[{HAN}]{{1,6}}")


def is_ended(text: str) -> bool:
    """Whether a text ends as sentences do."""
    return text.rstrip(_CLOSING).endswith(_ENDS)


def goes_on(before: str, after: str) -> bool:
    """Whether the sentence at the end of one message is the one at the beginning of the next."""
    before, after = before.rstrip(), after.lstrip()
    if not before or not after or is_ended(before):
        return False
    if before.endswith(_GOES_ON) or after.startswith(_GOES_ON):
        return True
    if has_han(before[-1] + after[0]):
        return _goes_on_in_chinese(before, after)
    return _goes_on_in_english(before, after)


def _goes_on_in_english(before: str, after: str) -> bool:
    if _edge_word(_LAST_WORD, before) in _words("no end"):
        return True
    if not after[0].islower():
        return False
    return before[0].isupper() or _edge_word(_FIRST_WORD, after) in _words("no beginning")


def _goes_on_in_chinese(before: str, after: str) -> bool:
    """Whether a word stands across both, or one at the edge ends or begins no sentence."""
    last, first = _LAST_HAN().search(before), _FIRST_HAN().search(after)
    ending, beginning = _cut(last[0] if last else ""), _cut(first[0] if first else "")
    if ending and not _words("no end").isdisjoint((ending[-1], ending[-1][-1])):
        return True
    if beginning and beginning[0] in _words("no beginning"):
        return True
    return bool(ending and beginning) and _stands_across("".join(ending), "".join(beginning))


def _stands_across(ending: str, beginning: str) -> bool:
    """Whether a word of the dictionary begins in one text and ends in the next."""
    place = 0
    for word in _cut(ending + beginning):
        if place < len(ending) < place + len(word):
            return _segmenter().knows(word)
        place += len(word)
    return False


def _cut(text: str) -> list[str]:
    return _segmenter().cut(simplified(text))


def _edge_word(pattern: Pattern, text: str) -> str:
    found = pattern().search(text)
    return found[1].casefold() if found else ""


@cache
def _words(heading: str) -> frozenset[str]:
    lines = resources.sections("injection/open_sentences")[heading]
    return frozenset(word for line in lines for word in line.split())


@cache
def _segmenter() -> Segmenter:
    return Segmenter()


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
