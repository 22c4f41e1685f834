"""What is only the beginning of the next sentence, and is quoted together with it."""

from __future__ import annotations

from pipimem.sidecar.rules.antecedents import follows_at_once, is_own
from pipimem.sidecar.rules.patterns import matches, names_a_value
from pipimem.sidecar.rules.sentences import Sentence, letters
from pipimem.text.dates import mentioned

# What opens a list is no longer.
_MOST_OF_A_HEAD = 45
# A subject alone, as people type it in front of what they say of it.
_MOST_OF_A_SUBJECT = 14


def begins(last: Sentence, one: Sentence) -> bool:
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
