"""SESSION.md brought up to date from the newest talk: new items first, what is done taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipimem.notes.kinds import Kind
from pipimem.sidecar.contracts import Refresh, Refreshed
from pipimem.sidecar.offline.closing import closes
from pipimem.sidecar.offline.cues import DONE, FAILED, WANTED, hit
from pipimem.sidecar.offline.learning import VAGUE
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.replacing import Statement, takes_the_place
from pipimem.sidecar.offline.sentences import Sentence, sentences
from pipimem.sidecar.offline.summarising import headline, summarised
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.similarity import SAID_AGAIN, alike, bigrams
from pipimem.text.words import Words

# A sheet one takes in at a glance.
_MOST_ITEMS = 6
_MOST_STATES = 3
# Current state is the last stretch of talk, not the whole window.
_LAST_SENTENCES = 24
_FILE = re.compile(
    r"https?://[^\s<>\"'，。；、）)]+|(?<![\w/.])(?:~?/)?(?:[\w.-]+/)+[\w.-]*\.\w{1,8}\b|(?<![\w/.])(?:~?/)?(?:[\w.-]+/){2,}[\w.-]*\w"
    r"|(?<![\w/.])/(?:[\w.-]+/)+[\w.-]*\w|\b(?:release|feature|feat|fix|hotfix|bugfix|chore)/[\w.-]*\w|(?<![\w.])[\w-]{2,}\.(?:py|ts|js|tsx|jsx|md|toml|json|ya?ml|sh|kts?"
    r"|gradle|java|go|rs|sql|css|html|txt|csv|pdf|docx?|xlsx?|cfg|ini|lock)\b",
    re.ASCII,
)
_SMALL_TALK = r"\bcan you (?:tell|show|share|imagine)\b|\bwant(?:s|ed)? to (?:tell|show|share)\b|[和跟]你|你(?:呢|最近|觉得|喜欢|有没有)|奶茶|午饭"
_LEAST_CHARS, _LEAST_CHARS_ZH = 16, 8
_HEADING = re.compile(r"^##\s+(.+?)\s*$")
_ITEM = re.compile(r"^[-*+]\s+(.+?)\s*$")
_BY_KIND = {
    Kind.DECISION: "Decisions",
    Kind.CONSTRAINT: "Constraints",
    Kind.OPEN_LOOP: "Next Steps",
}


def refreshed(task: Refresh, words: Words) -> Refreshed:
    """Sections with something new; the others are left as they are."""
    said = [sentence for sentence in sentences(task.window) if sentence.role == "user"]
    old = _items(task.session)
    fresh: dict[str, list[str]] = {}
    for sentence in said:
        for title in _places(sentence):
            if text := headline(sentence):
                fresh.setdefault(title, []).append(text)
    fresh["Active Files"] = [name for s in said for name in _FILE.findall(s.text)]
    title, bullets = summarised(task.window, words)
    weights = Weights(words, [text for items in (*fresh.values(), *old.values()) for text in items])
    sections = {name: _merged(items, old.get(name, ()), weights) for name, items in fresh.items() if items}
    if recent := _newest(said):
        sections["Current State"] = recent
    elif bullets:
        sections["Current State"] = tuple(bullet.text for bullet in bullets[-_MOST_STATES:])
    _log_what_is_done(sections, old, weights)
    if title:
        sections["Session Title"] = (title,)
    _take_out_done(sections, old, [s for s in said if not s.question and found(DONE, s.text)], words)
    return Refreshed(sections)


def _places(sentence: Sentence) -> list[str]:
    """The sections a sentence belongs to."""
    places: list[str] = []
    fits = hit(sentence.text)
    if fits and not sentence.question and fits.kind in _BY_KIND:
        places.append(_BY_KIND[fits.kind])
    if not sentence.question and found(DONE, sentence.text):
        places.append("Worklog")
    elif not sentence.question and not places and found(FAILED, sentence.text):
        places.append("Errors & Corrections")
    elif not places and (fits is None or fits.life) and _wanted(sentence):
        places.append("User Intent")
    return places


def _wanted(sentence: Sentence) -> bool:
    """A wish or a request that says what for, and is not small talk between people."""
    if (
        not found(WANTED, sentence.text)
        or found(_SMALL_TALK, sentence.text)
        or VAGUE.search(sentence.text)
        or "「…」" in sentence.text
    ):
        return False
    return len(sentence.text) >= (_LEAST_CHARS_ZH if sentence.chinese else _LEAST_CHARS)


def _newest(said: Sequence[Sentence]) -> tuple[str, ...]:
    """The last things said that something happened."""
    recent = [
        s
        for s in said[-_LAST_SENTENCES:]
        if not s.question and not VAGUE.search(s.text) and (found(DONE, s.text) or hit(s.text))
    ]
    texts = [text for sentence in recent if (text := headline(sentence))]
    return tuple(dict.fromkeys(texts[-_MOST_STATES:]))


def _merged(new: Sequence[str], old: Sequence[str], weights: Weights) -> tuple[str, ...]:
    """The newest first, each thing once and with its newest value."""
    kept: list[str] = []
    for text in [*reversed(new), *old]:
        if not any(_says_all(other, text, weights) for other in kept):
            kept.append(text)
    return tuple(kept[:_MOST_ITEMS])


def _says_all(newer: str, older: str, weights: Weights) -> bool:
    if alike(bigrams(newer), bigrams(older)) >= SAID_AGAIN:
        return True
    return takes_the_place(Statement(newer, Kind.DECISION), Statement(older, Kind.DECISION), weights, ())


def _log_what_is_done(sections: dict[str, tuple[str, ...]], old: dict[str, tuple[str, ...]], weights: Weights) -> None:
    """The log of work takes in what was the current state and is done; what is the state now stands there alone."""
    was = [text for text in old.get("Current State", ()) if "Current State" in sections and found(DONE, text)]
    now = [bigrams(text) for text in sections.get("Current State", ())]
    log = _merged([*reversed(was), *reversed(sections.get("Worklog", ()))], old.get("Worklog", ()), weights)
    left = tuple(text for text in log if not any(alike(bigrams(text), state) >= SAID_AGAIN for state in now))
    if left != old.get("Worklog", ()):
        sections["Worklog"] = left
    if not left and not old.get("Worklog"):
        sections.pop("Worklog", None)


def _take_out_done(
    sections: dict[str, tuple[str, ...]], old: dict[str, tuple[str, ...]], done: Sequence[Sentence], words: Words
) -> None:
    """A step that somebody says is done is no next step; what still stands keeps its place."""
    steps = sections.get("Next Steps", old.get("Next Steps", ()))
    weights = Weights(words, [*steps, *(sentence.text for sentence in done)])
    people = {sentence.speaker for sentence in done if sentence.speaker}
    left = tuple(step for step in steps if not any(closes(s, step, weights, people) for s in done))
    if left != old.get("Next Steps", ()):
        sections["Next Steps"] = left


def _items(session: str) -> dict[str, tuple[str, ...]]:
    """The bullets of SESSION.md by section."""
    items: dict[str, tuple[str, ...]] = {}
    title = ""
    for line in session.splitlines():
        if heading := _HEADING.match(line):
            title = heading[1]
        elif (item := _ITEM.match(line)) and title:
            items[title] = (*items.get(title, ()), item[1])
    return items
