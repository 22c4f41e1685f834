"""What a sentence needs beside it: corrections, moved dates and fragments with what they speak of.

What is taken back is left out, and so are secrets and what somebody does not want to be noted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from pipimem.text.characters import is_chinese
from pipimem.text.dates import dated, mentioned
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import holds_mark
from pipimem.text.talk.antecedents import (
    antecedent,
    follows_at_once,
    is_own,
    is_that_plan,
    taken_back,
)
from pipimem.text.talk.asking import private_messages
from pipimem.text.talk.personal import names_health
from pipimem.text.talk.sentence_rules import matches, names_a_value, rules, without_quotes
from pipimem.text.talk.sentences import MessageLike, Sentence, letters, sentences

# So much is quoted together; Chinese says as much in half the characters.
_MOST_QUOTED, _MOST_QUOTED_ZH = 280, 140
_ENDS = "。！？!?；…"
_NO_NEED = (
    "off the record",
    "what follows",
    "its reason",
    "of its speaker",
    "subject",
    "of that day",
    "detail",
)
_BEGINS = ("opening", "mere answer")
# What is kept only together with another sentence.
_NOT_ALONE = (*_BEGINS, "change", "fragment", "done", "answer")
# The words of others that a sentence quotes in front, and its own behind them.
_QUOTED_FIRST = re.compile(r"((?:「[^「」]*」|“[^“”]*” )+)(.+)", re.DOTALL)
# What opens a list is no longer.
_MOST_OF_A_HEAD = 45
# A subject alone, as people type it in front of what they say of it.
_MOST_OF_A_SUBJECT = 14
# A message without words stands for itself.
_MOST_OF_A_MESSAGE = 80


def in_context(said: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of a window, in their order, each with what belongs to it in one quote.

    A sentence that needs another one and has none in reach is marked as a fragment.
    """
    private = private_messages(said)
    kept: list[Sentence] = []
    for place, one in enumerate(said):
        if one.role != "user" or one.question:
            kept.append(one)
        elif private.isdisjoint(one.sources) and not _tells_a_secret(said, place):
            _add(kept, one)
    return [one for one in kept if private.isdisjoint(one.sources)]


def linked_to(
    before: Sequence[MessageLike], window: Sequence[MessageLike]
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences of a window in context, and those in front of it that stand alone no more.

    Those in front are read as well, for what comes now may correct them, or say that they are done.
    """
    said = in_context(sentences((*before, *window)))
    standing = {(one.speaker, one.text) for one in said if not one.closed}
    was = in_context(sentences(before))
    return said, [one for one in was if (one.speaker, one.text) not in standing]


def holds_a_statement(before: Sequence[MessageLike], window: Sequence[MessageLike]) -> bool:
    """Whether a person states anything in a window that may be noted.

    Questions and secrets are nothing, nor is what is laughed at or off the record. A message
    without words ("👍") counts where there are no others.
    """
    linked, _ = linked_to(before, window)
    new = {message.id for message in window}
    return bool(own_words(window, [one for one in linked if not new.isdisjoint(one.sources)]))


def own_words(window: Sequence[MessageLike], said: Sequence[Sentence]) -> list[Sentence]:
    """What people state and may be noted; where they use no words, their messages."""
    own = [sentence for sentence in said if sentence.role == "user"]
    if own:
        return [sentence for sentence in own if not sentence.question and not sentence.laughed]
    return [_whole(one) for one in window if one.role == "user" and _has_no_sentence(one)]


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
    text = _in_front(first, second, is_own=is_own) + second.mark + second.text
    if len(text) > (_MOST_QUOTED_ZH if is_chinese(text) else _MOST_QUOTED):
        return None
    if is_of_another_day(first, second):
        return None
    sources = tuple(dict.fromkeys((*first.sources, *second.sources)))
    # What somebody else asked to remember is theirs: a word behind it asks for nothing.
    asked = second.asked or (first.asked and is_own)
    return replace(
        second,
        text=text,
        sources=sources,
        asked=asked,
        fragment=False,
        begins=first.begins if first.place + 1 == second.begins else second.begins,
        answers=first.answers or not is_own,
    )


def is_of_another_day(first: Sentence, second: Sentence) -> bool:
    """Whether the first names a relative day and was not said on the day of the second."""
    if not first.when or not second.when or first.when.date() == second.when.date():
        return False
    return dated(first.text, first.when) != first.text


def _in_front(first: Sentence, second: Sentence, *, is_own: bool) -> str:
    """A sentence as it stands in front of another: of somebody else in quotation marks.

    What that one quotes stands in front of it in its own marks, for nested ones are hard to read.
    """
    if not is_own:
        found = _QUOTED_FIRST.match(first.text) if first.answers else None
        quoted, text = found.groups() if found else ("", first.text)
        return quoted + (f"「{text}」" if is_chinese(text) else f"“{text}” ")
    if second.mark:
        return f"{first.mark if first.begins == first.place else ''}{first.text} "
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
    if need == "told as a joke":
        return
    if need in ("joke", "taken back", "in earnest"):
        is_over = _take_back(kept, one, need) and need != "in earnest"
        if is_over or need == "joke":
            return
        need = "denial" if matches("context", "denial", one.text) else ""
    place = antecedent(kept, one, need)
    if place is None:
        kept.append(replace(one, fragment=need in _NOT_ALONE))
        return
    whole = together(kept[place], one)
    of_own = is_own(kept[place], one)
    never_alone = need in ("correction", "restriction", "denial", "done") and of_own
    never_alone = never_alone or (need == "backs out" and is_that_plan(kept[place], one))
    # Nobody else takes away what is to be remembered, and what they restrict still holds.
    stays = not of_own and (kept[place].asked or need == "restriction")
    if (whole or never_alone) and not stays:  # the wrong value
        del kept[place]
    kept.append(replace(whole or one, closed=need == "done"))


def _take_back(kept: list[Sentence], one: Sentence, need: str) -> bool:
    """Leaves out what a speaker takes back, of a joke the whole message; whether there was any."""
    place = taken_back(kept, one, need)
    if place is None:
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
        if section not in _NO_NEED and matches("context", section, plain):
            return section
    if _is_detail(plain):
        return "detail"
    return "reason" if _leans(plain) else ""


def _is_detail(text: str) -> bool:
    """Whether a few words without a verb say something concrete: "next check in 6 weeks"."""
    if not matches("context", "detail", text) or any(
        matches("worth", one, text) for one in rules("worth")
    ):
        return False
    return names_a_value(text) or names_health(text)


def _leans(text: str) -> bool:
    """Whether a sentence needs the one in front: a reason, or something concrete about "it"."""
    if not matches("left_out", "vague", text) and not matches("left_out", "points", text):
        return False
    if matches("left_out", "reason", text):
        return True
    return names_a_value(text) and not matches("left_out", "chatter", text)


def _tells_a_secret(said: Sequence[Sentence], place: int) -> bool:
    """Whether a password or a code stands in a sentence, or in an answer to a question about it."""
    text = said[place].text
    before = said[place - 1] if place else None
    if before and before.question:
        text = f"{before.text} {text}"
    return matches("left_out", "secret", text)


def _begins(last: Sentence, one: Sentence) -> bool:
    """Whether it begins the next one: "From now on", a mere yes, a list, the day of a deed."""
    if last.sources[-1:] == one.sources and matches("context", "mere answer", last.text):
        return True
    if last.sources == one.sources and _is_of_its_day(last, one):
        return True
    if one.mark and _leads_to_item(last, one):
        return True
    if last.sources != one.sources and _is_mere_subject(last) and names_a_value(one.text):
        return follows_at_once(last, one)
    return is_own(last, one) and matches("context", "opening", last.text)


def _is_of_its_day(last: Sentence, one: Sentence) -> bool:
    """Whether it tells what was done on the past day that only the sentence in front names.

    "Last night was great! We sang for three hours."
    """
    if last.question or not last.when or last.begins != last.place:
        return False
    if not matches("context", "of that day", one.text) or mentioned(one.text, last.when):
        return False
    today = last.when.date()
    return any(span.end < today for span in mentioned(last.text, last.when))


def _is_mere_subject(one: Sentence) -> bool:
    """Whether a message is a word that says what the next one is about: "rehearsals"."""
    if one.question or letters(one.text) > _MOST_OF_A_SUBJECT or names_a_value(one.text):
        return False
    answers = ("assent", "yes", "chatter", "joking")
    is_a_word = " " not in one.text and one.text[-1].isalnum()
    return is_a_word and not any(matches("left_out", is_it, one.text) for is_it in answers)


def _leads_to_item(last: Sentence, one: Sentence) -> bool:
    """Whether an item of a list follows the one in front, or the short sentence that opens it."""
    if not is_own(last, one) or last.question or last.place + 1 != one.place:
        return False
    return bool(last.mark) or letters(last.text) <= _MOST_OF_A_HEAD


def _has_no_sentence(message: MessageLike) -> bool:
    text = message.content
    if holds_mark(text) or matches("left_out", "secret", text):
        return False
    return not sentences([message])


def _whole(message: MessageLike) -> Sentence:
    """A message as one sentence."""
    text = " ".join(message.content.split())[:_MOST_OF_A_MESSAGE]
    return Sentence(text, (message.id,), message.speaker, "user", message.time, message.number)
