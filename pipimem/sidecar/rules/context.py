"""What a sentence needs beside it: corrections, moved dates and fragments with what they speak of.

What is taken back is left out, and so are secrets and what somebody does not want to be noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pipimem.notes.message import Message
from pipimem.sidecar.rules.patterns import matches, names_a_value, rules, without_quotes
from pipimem.sidecar.rules.sentences import Sentence, sentences
from pipimem.text.dates import dated
from pipimem.text.han import is_chinese
from pipimem.text.quotes import read_quote

# So much is quoted together; Chinese says as much in half the characters.
_MOST_QUOTED, _MOST_QUOTED_ZH = 280, 140
_ENDS = "。！？!?；…"
# How many sentences back the one may stand that another speaks of.
_REACH = {"joke": 8, "taken back": 6, "correction": 6, "change": 3, "fragment": 3, "done": 8}
_PRIVATE = ("off the record", "what follows")
_BEGINS = ("opening", "mere answer")
# What is kept only together with another sentence.
_NOT_ALONE = (*_BEGINS, "change", "fragment", "done")
# "This one please don't note" says nothing else: it speaks of the message in front.
_FEW_LETTERS, _FEW_LETTERS_ZH = 16, 5


def in_context(said: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of a window, in their order, each with what belongs to it in one quote.

    A sentence that needs another one and has none in reach is marked as a fragment.
    """
    private = _private_messages(said)
    kept: list[Sentence] = []
    for place, one in enumerate(said):
        if one.role != "user" or one.question:
            kept.append(one)
        elif private.isdisjoint(one.sources) and not _tells_a_secret(said, place):
            _add(kept, one)
    kept = [one for one in kept if private.isdisjoint(one.sources)]
    return [replace(one, place=place) for place, one in enumerate(kept)]


def linked_to(
    before: Sequence[Message], window: Sequence[Message]
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences of a window in context, and those in front of it that stand alone no more.

    Those in front are read as well, for what comes now may correct them, or say that they are done.
    """
    said = in_context(sentences((*before, *window)))
    standing = {(one.speaker, one.text) for one in said if not one.closed}
    was = in_context(sentences(before))
    return said, [one for one in was if (one.speaker, one.text) not in standing]


def is_taken_up(text: str, gone: Sequence[Sentence]) -> bool:
    """Whether an entry quotes one of the sentences that stand alone no more."""
    quote = read_quote(text)
    return any(
        one.speaker == quote.name and quote.said.endswith(one.text.rstrip("。.;； "))
        for one in gone
    )


def together(first: Sentence, second: Sentence) -> Sentence | None:
    """Two sentences as one quote of the second's speaker; `None` if that would be too long.

    Nor where a relative day of the first would count from the day of the second.
    """
    is_own = first.speaker == second.speaker and first.role == second.role
    text = _in_front(first, second, is_own=is_own) + second.text
    if len(text) > (_MOST_QUOTED_ZH if is_chinese(text) else _MOST_QUOTED):
        return None
    if _is_of_another_day(first, second):
        return None
    sources = tuple(dict.fromkeys((*first.sources, *second.sources)))
    asked = first.asked or second.asked
    return replace(
        second, text=text, sources=sources, asked=asked, fragment=False, answers=not is_own
    )


def _is_of_another_day(first: Sentence, second: Sentence) -> bool:
    """Whether the first names a relative day and was not said on the day of the second."""
    if not first.when or not second.when or first.when.date() == second.when.date():
        return False
    return dated(first.text, first.when) != first.text


def _in_front(first: Sentence, second: Sentence, *, is_own: bool) -> str:
    """A sentence as it stands in front of another: of somebody else in quotation marks."""
    if not is_own:
        return f"「{first.text}」" if is_chinese(first.text) else f"“{first.text}” "
    if second.sources[0] not in first.sources:
        return f"{first.text} … "
    return first.text if is_chinese(first.text) and first.text[-1] in _ENDS else f"{first.text} "


def _add(kept: list[Sentence], one: Sentence) -> None:
    """Puts a sentence behind the others, or together with the one that it speaks of."""
    if kept and _begins(kept[-1], one):
        whole = together(kept[-1], one)
        if whole:
            kept.pop()
            one = whole
    need = _need(one)
    if need in ("joke", "taken back"):
        if _take_back(kept, one, need):
            return
        need = "denial"
    place = _antecedent(kept, one, need)
    if place is None:
        kept.append(replace(one, fragment=need in _NOT_ALONE))
        return
    whole = together(kept[place], one)
    if whole or need in ("correction", "denial", "done"):  # never the wrong value alone
        del kept[place]
    kept.append(replace(whole or one, closed=need == "done"))


def _take_back(kept: list[Sentence], one: Sentence, need: str) -> bool:
    """Leaves out what a speaker takes back, of a joke the whole message; whether there was any."""
    place = _last(kept, one, _REACH[need], _is_own if need == "joke" else _is_statement)
    if place is None or kept[place].speaker != one.speaker:
        return False
    message = kept[place].sources[-1]
    if need == "joke":
        kept[:] = [other for other in kept if message not in other.sources]
    else:
        del kept[place]
    return True


def _need(one: Sentence) -> str:
    """The first section of `context.txt` that fits, "reason" for a sentence about "it", or ""."""
    plain = without_quotes(one.text)
    for section in rules("context"):
        if section not in _PRIVATE and matches("context", section, plain):
            return section
    return "reason" if _leans(plain) else ""


def _leans(text: str) -> bool:
    """Whether a sentence needs the one in front: a reason, or something concrete about "it"."""
    if not matches("left_out", "vague", text) and not matches("left_out", "points", text):
        return False
    if matches("left_out", "reason", text):
        return True
    return names_a_value(text) and not matches("left_out", "chatter", text)


def _antecedent(kept: Sequence[Sentence], one: Sentence, need: str) -> int | None:
    """The place of the sentence that one speaks of, `None` if there is none."""
    if kept and need != "done" and _answers(kept[-1], one):
        return None
    reach = _reach_of_denial(kept, one) if need == "denial" else _REACH.get(need, 1)
    for fits in _FITS.get(need, ()):
        place = _last(kept, one, reach, fits)
        if place is not None:
            return place
    return None


def _last(kept: Sequence[Sentence], one: Sentence, reach: int, fits: Test) -> int | None:
    """The place of the last sentence in reach, by a person, that fits."""
    for place in reversed(range(max(0, len(kept) - reach), len(kept))):
        if kept[place].role == "user" and fits(kept[place], one):
            return place
    return None


def _reach_of_denial(kept: Sequence[Sentence], one: Sentence) -> int:
    """How far back the last message of a person is; behind the bot's words only one's own."""
    said = [place for place, other in enumerate(kept) if _is_said(other)]
    if not said or (kept[-1].role != "user" and not _is_own(kept[said[-1]], one)):
        return 0
    message = kept[said[-1]].sources[-1]
    return len(kept) - min(place for place in said if message in kept[place].sources)


def _is_said(one: Sentence) -> bool:
    return one.role == "user" and not matches("left_out", "chatter", one.text)


def _begins(last: Sentence, one: Sentence) -> bool:
    """Whether a sentence is only the beginning of the next: "From now on", or a mere yes."""
    if last.sources[-1:] == one.sources and matches("context", "mere answer", last.text):
        return True
    return _is_own(last, one) and matches("context", "opening", last.text)


def _answers(last: Sentence, one: Sentence) -> bool:
    """Whether a sentence answers the question in front rather than correcting something."""
    asked = last.question and not _is_own(last, one)
    return asked and matches("left_out", "yes", one.text)


def _is_own(before: Sentence, one: Sentence) -> bool:
    return before.speaker == one.speaker


def _is_statement(before: Sentence, one: Sentence) -> bool:  # noqa: ARG001 - one of several tests
    return not before.question and not matches("left_out", "chatter", before.text)


def _is_own_statement(before: Sentence, one: Sentence) -> bool:
    return _is_own(before, one) and _is_statement(before, one)


def _is_near(before: Sentence, one: Sentence) -> bool:
    return before.sources[-1:] == one.sources and _is_statement(before, one)


def _has_its_value(before: Sentence, one: Sentence) -> bool:
    """Whether a statement names a number or a day as the later one does."""
    if not _is_statement(before, one):
        return False
    return any(
        matches("concrete", kind, before.text) and matches("concrete", kind, one.text)
        for kind in ("number", "day")
    )


def _is_promise(before: Sentence, one: Sentence) -> bool:
    """Whether it promises something by the later one's speaker, or asks it of them or of all."""
    if before.speaker == one.speaker:
        return matches("worth", "open_loop", before.text)
    if matches("concrete", "person speaking", before.text):
        return False
    return one.speaker in before.text or matches("worth", "open_loop", before.text)


# Which sentences each need asks for, the best first.
Test = Callable[[Sentence, Sentence], bool]
_FITS: dict[str, tuple[Test, ...]] = {
    "correction": (_has_its_value, _is_statement),
    "denial": (_has_its_value, _is_statement),
    "change": (_is_near, _has_its_value, _is_statement),
    "fragment": (_is_near, _is_own_statement),
    "done": (_is_promise,),
    "reason": (_is_near,),
    "continued": (_is_near,),
}


def _private_messages(said: Sequence[Sentence]) -> set[str]:
    """The ids of messages that are not to be noted.

    What says nothing but this speaks of the last message in front, or behind it after a colon.
    """
    private: set[str] = set()
    for place, one in enumerate(said):
        if one.role == "user" and matches("context", "off the record", without_quotes(one.text)):
            private.update(one.sources)
            if _says_nothing_else(one.text) and said[place - 1].sources != one.sources:
                private.update(_spoken_of(said, place))
    return private


def _tells_a_secret(said: Sequence[Sentence], place: int) -> bool:
    """Whether a password or a code stands in a sentence, or in an answer to a question about it."""
    text = said[place].text
    before = said[place - 1] if place else None
    if before and before.question:
        text = f"{before.text} {text}"
    return matches("left_out", "secret", text)


def _says_nothing_else(text: str) -> bool:
    for rule in rules("context")["off the record"]:
        text = rule.pattern.sub("", text)
    return len(text) <= (_FEW_LETTERS_ZH if is_chinese(text) else _FEW_LETTERS)


def _spoken_of(said: Sequence[Sentence], place: int) -> tuple[str, ...]:
    """The sources of the sentence of a person in front of a place, or of the one behind."""
    others = reversed(said[:place])
    if matches("context", "what follows", said[place].text):
        others = iter(said[place + 1 :])
    for other in others:
        if other.role == "user":
            return other.sources
    return ()
