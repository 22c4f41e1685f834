"""An answer of a model against what was said: whatever stands nowhere in the talk is left out.

A speaker is an author of the sources. Each number, link and name stands in the window, its lead-in
or the memory shown; days and years are free, for they are computed from the stamps of messages. A
text is in the language of its sources, and none of the prompt's own examples.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from unicodedata import name as unicode_name
from unicodedata import normalize

from msgspec.structs import replace

from pipimem import resources
from pipimem.notes.kinds import File
from pipimem.notes.message import Message, newest_time
from pipimem.notes.operations import LeftOut
from pipimem.sidecar.tasks import Consolidate, Consolidated, HistoryItem, Learned, Refresh
from pipimem.text.characters import is_chinese
from pipimem.text.secrets import redacted
from pipimem.text.word_lists import stop_words
from pipimem.text.words.numbers import clock_times, is_time_in, number_values, written_numbers
from pipimem.text.words.similarity import says_the_same

_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”，。；）)\]]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_LATIN = re.compile(r"[A-Za-z][A-Za-z'’]*")
_SENTENCE_END = re.compile(r"[.!?:;“\"(\[—–-]\s*$")
# A message of a person in an example of the prompt.
_EXAMPLE_LINE = re.compile(r"\[\w+\] \d{4}-\d\d-\d\d \w{3} \d\d:\d\d (?P<speaker>[^:：(]+)[:：]")
_POINTS = ".,;:!?'’/"
# Of the letters of its sources so many are enough for a text in their script: a sentence in Chinese
# may be about `useState` and little else.
_SCRIPT_SHARE = 0.25
# A name may be spelt another way: Canada, Canadian.
_COMMON_STEM, _LONGEST_ENDING = 4, 3


class _Shown:
    """What a model was shown, as far as an answer may take from it."""

    def __init__(self, task: Consolidate) -> None:
        self.messages = {one.id: one for one in (*task.before, *task.window)}
        said = [f"{one.speaker} {one.content}" for one in self.messages.values()]
        known = [*task.participants, *task.told, task.session or ""]
        known += [entry.text for entry in task.memory]
        self._of_people = [
            one.content for one in self.messages.values() if one.role != "assistant"
        ] + known
        self.text = normalize("NFKC", "\n".join([*said, *known])).casefold()
        self.minutes = {f"{one.time:%H:%M}" for one in self.messages.values() if one.time}

    @cached_property
    def numbers(self) -> frozenset[float]:
        return number_values(self.text)

    @cached_property
    def numbers_of_people(self) -> frozenset[float]:
        """The numbers that somebody else than the bot named, or that memory has."""
        return number_values(normalize("NFKC", "\n".join(self._of_people)).casefold())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_bare(word) for word in _LATIN.findall(self.text))

    @cached_property
    def scripts(self) -> Counter[str]:
        return _scripts(self.text)

    def sources(self, names: Iterable[str]) -> list[Message]:
        """The messages of these ids that were shown."""
        return [self.messages[name] for name in names if name in self.messages]


def checked(answer: Consolidated, task: Consolidate) -> tuple[Consolidated, tuple[LeftOut, ...]]:
    """Return an answer without what was not said, and that; a number of the bot's alone is marked.

    Facts, lines of history, lines of the sheet, the title.
    """
    shown = _Shown(task)
    left_out: list[LeftOut] = []
    learned = tuple(_keep_said_facts(answer.learned, shown, left_out))
    history = tuple(_keep_said_history(answer.history, shown, left_out))
    title = "" if _unsaid(answer.title, (), shown) else answer.title
    sheet = answer.sheet
    if sheet is not None:
        sheet = dict(_keep_said_lines(sheet, shown, left_out))
    return Consolidated(learned, answer.over, title, history, sheet), tuple(left_out)


def checked_sheet(
    sheet: Mapping[str, Sequence[str]], task: Refresh
) -> tuple[Mapping[str, Sequence[str]], tuple[LeftOut, ...]]:
    """Return the lines of a sheet without those that were not said, and these."""
    people = (one.speaker for one in task.window if one.role == "user" and one.speaker)
    shown = _Shown(
        Consolidate(
            task.now, tuple(dict.fromkeys(people)), (), task.window, task.session, (), task.before
        )
    )
    left_out: list[LeftOut] = []
    return dict(_keep_said_lines(sheet, shown, left_out)), tuple(left_out)


def _keep_said_facts(
    facts: Iterable[Learned], shown: _Shown, left_out: list[LeftOut]
) -> Iterator[Learned]:
    """Yield the facts that were said, and add the others to `left_out`."""
    for fact in facts:
        sources = shown.sources(fact.sources)
        reason = (
            _wrong_speaker(fact, sources)
            or _unsaid(fact.text, sources, shown)
            or _other_language(fact.text, sources, shown)
        )
        if reason:
            left_out.append(_left_out(reason, fact, sources))
        else:
            yield _with_assumed(fact, shown)


def _keep_said_history(
    lines: Iterable[HistoryItem], shown: _Shown, left_out: list[LeftOut]
) -> Iterator[HistoryItem]:
    """Yield the lines of history that were said, and add the others to `left_out`."""
    for line in lines:
        if line.weight:  # a quote of the rules
            yield line
            continue
        sources = shown.sources(line.sources)
        reason = _unsaid(line.text, sources, shown)
        # A line may sum up talk in two languages.
        if not reason and _other_language(line.text, sources, shown):
            reason = _other_language(line.text, (), shown)
        if reason:
            left_out.append(_left_out(reason, line, sources))
        else:
            yield line


def _keep_said_lines(
    sheet: Mapping[str, Sequence[str]], shown: _Shown, left_out: list[LeftOut]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for section, lines in sheet.items():
        kept: list[str] = []
        for line in lines:
            reason = _unsaid(line, (), shown)
            if reason:
                left_out.append(LeftOut(reason, redacted(line), File.SESSION))
            else:
                kept.append(line)
        yield section, tuple(kept)


def _left_out(reason: str, item: Learned | HistoryItem, sources: Sequence[Message]) -> LeftOut:
    of_history = isinstance(item, HistoryItem)
    return LeftOut(
        reason,
        redacted(item.text),
        File.HISTORY if of_history else File.MEMORY,
        None if isinstance(item, HistoryItem) else item.kind,
        tuple(one.id for one in sources),
        max((one.number for one in sources), default=0),
        next((one.speaker for one in sources if one.role == "user"), ""),
        newest_time(sources),
    )


def _wrong_speaker(item: Learned, sources: Sequence[Message]) -> str:
    """Why the speaker is not one of the authors of the sources; empty if it may be."""
    authors = [one.speaker.casefold().strip() for one in sources if one.role == "user"]
    if not item.speaker or not authors or not all(authors):
        return ""
    named = item.speaker.casefold().strip()
    for author in authors:
        if named == author or named in author.split() or author in named.split():
            return ""
    return f"{item.speaker} did not say its sources"


def _unsaid(text: str, sources: Sequence[Message], shown: _Shown) -> str:
    """Why a text is not what was said; empty if nothing is wrong with it."""
    text = normalize("NFKC", text)  # １２３ is 123
    if not text:
        return ""
    return (
        _of_an_example(text, sources)
        or _foreign_link(text, shown)
        or _foreign_number(text, shown)
        or _foreign_name(text, shown)
    )


def _of_an_example(text: str, sources: Sequence[Message]) -> str:
    if any(says_the_same(text, one.content) for one in sources):
        return ""
    is_example = any(says_the_same(text, example) for example in _examples())
    return "it is an example of the prompt" if is_example else ""


def _foreign_link(text: str, shown: _Shown) -> str:
    for found in _LINK.findall(text):
        if found.rstrip(_POINTS).casefold() not in shown.text:
            return f"the link {found} stands nowhere"
    return ""


def _foreign_number(text: str, shown: _Shown) -> str:
    bare = _LINK.sub(" ", text)
    for number in written_numbers(bare):
        if number.value not in shown.numbers and number.text.casefold() not in shown.text:
            return f"the number {number.text} stands nowhere"
    for written, hour, minute in clock_times(bare):
        is_stamp = f"{hour:02}:{minute:02}" in shown.minutes
        if not is_stamp and not is_time_in(hour, minute, shown.numbers):
            return f"the time {written} stands nowhere"
    return ""


def _foreign_name(text: str, shown: _Shown) -> str:
    """Why a text has a name that stands nowhere; the first word of a sentence may be any word."""
    bare = _LINK.sub(" ", text)
    words = list(_LATIN.finditer(bare))
    for index, found in enumerate(words):
        word = found[0]
        if not _is_unknown_name(word, shown):
            continue
        if (
            not _begins_sentence(bare[: found.start()])
            or _is_followed_by_name(bare, words[index : index + 2], shown)
            or _bare(word) in _example_names()
        ):
            return f"the name {word} stands nowhere"
    return ""


def _is_unknown_name(word: str, shown: _Shown) -> bool:
    return _is_name(word) and not _is_known(word, shown)


def _begins_sentence(before: str) -> bool:
    """Return whether the word after this text is the first of its sentence."""
    return not before.strip() or _SENTENCE_END.search(before) is not None


def _is_followed_by_name(text: str, words: Sequence[re.Match[str]], shown: _Shown) -> bool:
    """Return whether the second of two words is an unknown name right behind the first."""
    if len(words) < 2:
        return False
    first, second = words
    return text[first.end() : second.start()] == " " and _is_unknown_name(second[0], shown)


def _is_name(word: str) -> bool:
    bare = _bare(word)
    if not word[0].isupper() or len(bare) < 2:
        return False
    return bare not in stop_words() and bare not in _no_names()


def _is_known(word: str, shown: _Shown) -> bool:
    bare = _bare(word)
    if bare in shown.words:
        return True
    if word.isupper() and _is_acronym(bare, shown.text):
        return True
    least = max(_COMMON_STEM, len(bare) - _LONGEST_ENDING)
    return len(bare) >= least and any(known.startswith(bare[:least]) for known in shown.words)


def _is_acronym(letters: str, text: str) -> bool:
    """Return whether words in a row begin with these letters."""
    return re.search(r"\W+".join(rf"\b{letter}\w*" for letter in letters), text) is not None


def _other_language(text: str, sources: Sequence[Message], shown: _Shown) -> str:
    """Why a text is in another script than its sources; those of few letters say nothing."""
    script = next(iter(_scripts(text).most_common(1)), ("", 0))[0]
    if not script:
        return ""
    found = Counter[str]()
    for one in sources:
        found += _scripts(one.content)
    if sum(found.values()) < _COMMON_STEM:
        found = shown.scripts
    total = sum(found.values())
    if not total or found[script] >= _SCRIPT_SHARE * total:
        return ""
    return "it is in another language than what was said"


def _scripts(text: str) -> Counter[str]:
    """Count the letters of a text by script; a character of Chinese counts as two letters."""
    found = Counter[str]()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = "LATIN" if character.isascii() else unicode_name(character, "").split(" ")[0]
            found[script] += count * 2 if script == "CJK" else count
    return found


def _with_assumed(item: Learned, shown: _Shown) -> Learned:
    """Return a fact with a mark for the numbers that only the bot named."""
    numbers = written_numbers(_LINK.sub(" ", normalize("NFKC", item.text)))
    named = [one.text for one in numbers if one.value not in shown.numbers_of_people]
    words = resources.sections("words/answers")["tells whose it is"]
    if not named or any(word in item.text.casefold() for word in words):
        return item
    is_zh = is_chinese(item.text)
    (form,) = resources.sections("words/answers")["assumed zh" if is_zh else "assumed en"]
    mark = form.format(("、" if is_zh else ", ").join(dict.fromkeys(named)))
    return replace(item, text=f"{item.text}（{mark}）" if is_zh else f"{item.text} ({mark})")


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.casefold())


@cache
def _no_names() -> frozenset[str]:
    lines = resources.sections("words/answers")["no names"]
    return frozenset(word for line in lines for word in line.split())


@cache
def _examples() -> tuple[str, ...]:
    """The texts of the answers that our prompt has as examples."""
    return tuple(filter(None, _example_texts()))


@cache
def _example_names() -> frozenset[str]:
    """The speakers in the examples."""
    lines = resources.prompt("consolidate").splitlines()
    speakers = (_EXAMPLE_LINE.match(line) for line in lines)
    return frozenset(_bare(found["speaker"]) for found in speakers if found)


def _example_texts() -> Iterator[str]:
    for line in resources.prompt("consolidate").splitlines():
        start = line.find('{"learned"')
        if start < 0:
            continue
        try:
            answer = json.loads(line[start:])
        except ValueError:
            continue
        items = [*answer.get("learned", ()), *answer.get("history", ())]
        yield from (str(item.get("text", "")) for item in items)
