"""SESSION.md from the newest talk: quotes by section, the newest first, what is over taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipimem.notes.kinds import Kind
from pipimem.sidecar.contracts import Refresh, Refreshed
from pipimem.sidecar.offline.changes import Claim, claim_of, ends, is_done
from pipimem.sidecar.offline.choosing import Choice, choices
from pipimem.sidecar.offline.patterns import matches, names_a_value
from pipimem.sidecar.offline.sentences import Sentence, sentences
from pipimem.text.similarity import same_thought
from pipimem.text.words import Words

# A sheet one takes in at a glance.
_MOST_ITEMS = 6
_LINE = re.compile(r"^(?:##\s+(?P<heading>.+?)|[-*+]\s+(?P<item>.+?))\s*$", re.MULTILINE)
_BY_KIND = {
    Kind.DECISION: "Decisions",
    Kind.CONSTRAINT: "Constraints",
    Kind.OPEN_LOOP: "Next Steps",
    Kind.LESSON: "Errors & Corrections",
}


def refreshed(task: Refresh, words: Words) -> Refreshed:
    """Sections with something new or something over; the others are left as they are."""
    said = [sentence for sentence in sentences(task.window) if sentence.role == "user"]
    chosen = choices(said, words)
    fresh: dict[str, list[str]] = {"Current State": [choice.quote for choice in chosen]}
    for choice in chosen:
        fresh.setdefault(_section(choice), []).append(choice.quote)
    fresh.setdefault("User Intent", []).extend(one.quote() for one in said if _is_wish(one))
    old = _items(task.session)
    changed: dict[str, tuple[str, ...]] = {}
    for section in dict.fromkeys((*fresh, *_BY_KIND.values())):
        standing = old.get(section, [])
        items = [text for text in standing if not _is_over(text, section, said, words)]
        for text in fresh.get(section, ()):
            if not _is_over(text, section, said, words):
                items = [text, *(other for other in items if not same_thought(text, other))]
        if items[:_MOST_ITEMS] != standing:
            changed[section] = tuple(items[:_MOST_ITEMS])
    return Refreshed(changed)


def _is_wish(sentence: Sentence) -> bool:
    """Whether a question asks for something; one to "you" about nothing concrete is small talk."""
    if not sentence.question or not matches("left_out", "wish", sentence.text):
        return False
    return names_a_value(sentence.text) or not matches("left_out", "you", sentence.text)


def _section(choice: Choice) -> str:
    if matches("changes", "done", choice.sentence.text):
        return "Worklog"
    return _BY_KIND.get(choice.kind, "Current State")


def _is_over(text: str, section: str, said: Sequence[Sentence], words: Words) -> bool:
    """Whether a sentence behind a text, or any where it is not of this window, ends it or says that it is done."""
    kind = next((kind for kind, name in _BY_KIND.items() if name == section), None)
    if kind is None:
        return False
    mine = claim_of(text, kind)
    place = next((one.place for one in said if one.quote() == text), -1)
    later = [
        Claim(one.text, one.speaker, kind) for one in said if one.place > place and not one.question
    ]
    if kind is Kind.OPEN_LOOP and any(is_done(told, mine, words) for told in later):
        return True
    return any(ends(told, mine, words) for told in later)


def _items(session: str) -> dict[str, list[str]]:
    """The bullets of SESSION.md by section."""
    items: dict[str, list[str]] = {}
    title = ""
    for line in _LINE.finditer(session):
        title = line["heading"] or title
        if line["item"] and title:
            items.setdefault(title, []).append(line["item"])
    return items
