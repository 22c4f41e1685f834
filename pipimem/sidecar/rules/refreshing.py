"""SESSION.md from the newest talk: quotes by section, the newest first, what is over taken out."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.changes import is_over
from pipimem.sidecar.rules.choosing import Choice, choices
from pipimem.sidecar.rules.claims import Claim, claim_of, stated, statements
from pipimem.sidecar.rules.superseded import without_ended
from pipimem.sidecar.tasks import Refresh, Refreshed
from pipimem.text.markdown.parser import BlockKind, parsed
from pipimem.text.talk.context import is_taken_up, linked_to
from pipimem.text.talk.sentence_rules import matches, names_a_value
from pipimem.text.talk.sentences import Sentence
from pipimem.text.words.index_words import Words
from pipimem.text.words.similarity import Statement

# A sheet one takes in at a glance.
_MOST_ITEMS = 6
# Of older talk than the window none is kept: it was answered, or is not asked any more.
_WISHES = "User Intent"
_SECTIONS = {
    Kind.DECISION: "Decisions",
    Kind.CONSTRAINT: "Constraints",
    Kind.OPEN_LOOP: "Next Steps",
    Kind.LESSON: "Errors & Corrections",
}


def refreshed(task: Refresh, words: Words) -> Refreshed:
    """Sections with something new or something over; the others are left as they are."""
    linked, gone = linked_to(task.before, task.window)
    new = {message.id for message in task.window}
    said = [one for one in linked if one.role == "user" and not new.isdisjoint(one.sources)]
    fresh = _fresh_items(said, words)
    fresh[_WISHES] = _open_wishes([one for one in linked if not new.isdisjoint(one.sources)])
    later = [stated(one) for one in statements(said)]
    old = _items(task.session)
    changed: dict[str, tuple[str, ...]] = {}
    for section in dict.fromkeys((*fresh, *_SECTIONS.values())):
        before = old.get(section, [])
        items = [text for text in before if not is_taken_up(text, gone) and section != _WISHES]
        items = _standing(items, section, later, words)
        items = _with_new(items, fresh.get(section, ()))
        if items[:_MOST_ITEMS] != before:
            changed[section] = tuple(items[:_MOST_ITEMS])
    return Refreshed(changed)


def _with_new(items: Sequence[str], new: Sequence[str]) -> list[str]:
    """The items with the new ones in front, the last first, without what says the same as one."""
    said = {text: Statement.of(text) for text in (*items, *new)}
    found = list(items)
    for text in new:
        found = [text, *(one for one in found if not said[text].says_the_same(said[one]))]
    return found


def _fresh_items(said: Sequence[Sentence], words: Words) -> dict[str, list[str]]:
    """Quotes of the window by section; those worth keeping stand under Current State as well."""
    # A wish comes with its speaker's turns; the sheet need not repeat it.
    chosen = [one for one in choices(said, words) if one.kind is not Kind.WISH]
    chosen = without_ended(chosen, said, words)
    fresh = {"Current State": [choice.quote for choice in chosen]}
    for choice in chosen:
        fresh.setdefault(_section(choice), []).append(choice.quote)
    return fresh


def _open_wishes(said: Sequence[Sentence]) -> list[str]:
    """Quotes of what people ask for that nobody else, the bot included, has answered yet."""
    found: list[str] = []
    answering: set[str] = set()  # the speakers of what is said later and asks nothing
    for one in reversed(said):
        if one.role == "user" and answering <= {one.speaker} and _is_wish(one):
            found.append(one.quote())
        if not one.question:
            answering.add(one.speaker)
    return found[::-1]


def _is_wish(sentence: Sentence) -> bool:
    """Whether a question asks for something; one to "you" about nothing concrete is small talk."""
    if not sentence.question or not matches("left_out", "wish", sentence.text):
        return False
    return names_a_value(sentence.text) or not matches("left_out", "you", sentence.text)


def _section(choice: Choice) -> str:
    if matches("changes", "done", choice.sentence.text):
        return "Worklog"
    return _SECTIONS.get(choice.kind, "Current State")


def _standing(
    items: Sequence[str], section: str, later: Sequence[Claim], words: Words
) -> list[str]:
    """The items of a section that no later claim ends; sections without a kind keep all."""
    for kind, title in _SECTIONS.items():
        if title == section:
            return [text for text in items if not is_over(claim_of(text, kind), later, words)]
    return list(items)


def _items(session: str) -> dict[str, list[str]]:
    """The bullets of SESSION.md by section."""
    sections = parsed(session).sections
    return {
        one.title: [block.text for block in one.blocks if block.kind is BlockKind.ENTRY]
        for one in sections
    }
