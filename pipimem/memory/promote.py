"""Decides which learnt items are written, put on probation or dropped, and which prove good."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher

from msgspec import Struct, structs
from msgspec.structs import replace

from pipimem.memory.masked import SAYS_PRIVATE
from pipimem.memory.prompt_memory import targets
from pipimem.memory.remember import named_end
from pipimem.memory.second_voice import seconded_by
from pipimem.memory.wishes_and_health import older_wishes
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import AWAITING, Ledger, Record
from pipimem.notes.message import Message, newest_time
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Add,
    Author,
    Confirm,
    Decision,
    Evidence,
    LeftOut,
    Operation,
    Supersede,
    Target,
    Trust,
)
from pipimem.sidecar.tasks import Learned, is_day
from pipimem.text.dates.bounds import later
from pipimem.text.markdown.lines import white_folded
from pipimem.text.private import has_mark
from pipimem.text.quotes import quoted, read_quote
from pipimem.text.secrets import redacted
from pipimem.text.words.reversals import is_reversed, says_so
from pipimem.text.words.similarity import (
    SimilarTexts,
    same_script,
    same_subject,
    shares_new_words,
)

# A short sentence may well be the best wording of a fact; a longer one in the very same words is a
# transcript.
_MOST_COPIED = 80
# A title or a name, in bytes: four characters of Chinese, twelve of English.
_LEAST_TAKEN_OVER = 12


def sources_of(item: Learned, messages: Mapping[str, Message]) -> list[Message]:
    """The sources, and before each what the bot proposed there and the text takes over.

    Models are held to people's messages, and "thanks, I will read it" does not say the title.
    """
    text, sources = item.text, [messages[name] for name in item.sources if name in messages]
    found: list[Message] = []
    before: Message | None = None
    for message in messages.values():
        if message in sources:
            if before is not None and before not in sources and _takes_over(text, before, message):
                found.append(before)
            found.append(message)
        before = message if message.role == "assistant" else None
    return found


def with_lead_in(sources: Sequence[Message], messages: Mapping[str, Message]) -> list[str]:
    """Return the texts of the sources and of the message before each, which it may answer."""
    talk = list(messages.values())
    said: list[str] = []
    for before, message in zip([None, *talk], talk, strict=False):
        if message in sources:
            said += [one.content for one in (before, message) if one is not None]
    return said


def _takes_over(text: str, proposal: Message, accepted: Message) -> bool:
    """Whether a text has a stretch of a proposal that is not in the message that accepts it."""
    matcher = SequenceMatcher(None, text, proposal.content, autojunk=False)
    match = matcher.find_longest_match()
    stretch = text[match.a : match.a + match.size].strip()
    return len(stretch.encode()) >= _LEAST_TAKEN_OVER and stretch not in accepted.content


def is_copy(text: str, messages: Iterable[Message]) -> bool:
    """Whether a text is a stretch of a message word for word, as weak models return it.

    A quote with who and when is none: the rules bound how many they keep instead.
    """
    folded = white_folded(text)
    if read_quote(text).day or len(folded) <= _MOST_COPIED:
        return False
    return any(folded in white_folded(message.content) for message in messages)


# What is middling, or concluded, goes on probation: a careful model calls about every second fact
# so. For so many messages of people one; a model that calls all of it middling knows not what it
# keeps.
_PROBATION_DAYS = 30
_MESSAGES_A_PROBATION, _LEAST_PROBATIONS = 4, 8
_MOST_CHARS = 600
# What was forgotten for a year may be said to be overdue.
_MOST_DAYS_OVERDUE = 366


class Promotion(Struct, frozen=True):
    """Operations that write what was learnt, what was left out, and why entries stay."""

    operations: tuple[Operation, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


class _Candidate(Struct, frozen=True):
    """Something learnt, the text to write, and what it rests on."""

    item: Learned
    text: str
    evidence: Evidence
    is_from_user: bool

    @property
    def trust(self) -> Trust:
        """What it is written with."""
        if self.item.quote_reason:
            return Trust.QUOTED
        is_asked_for = self.item.explicit or self.item.kind is Kind.WISH
        return Trust.EXPLICIT if is_asked_for and self.is_from_user else Trust.INFERRED

    @property
    def is_durable(self) -> bool:
        """Whether it is written for good; what only the bot or a tool said never is at once."""
        is_said = self.item.necessity == "high" and not self.item.concluded
        return self.is_from_user and (self.is_certain or is_said)

    @property
    def is_certain(self) -> bool:
        """Whether it is kept whatever a model thinks of its necessity."""
        return self.item.explicit or self.item.kind in (Kind.WISH, Kind.HEALTH)

    @property
    def is_probable(self) -> bool:
        """Whether it may be written on probation."""
        return self.item.necessity in ("high", "medium")


def promoted(
    learned: tuple[Learned, ...],
    notes: Notes,
    messages: Mapping[str, Message],
    today: datetime,
) -> Promotion:
    """Return the operations that write what was learnt from `messages` (by id).

    A probation counts from `today`.
    """
    places, probations = targets(notes), _most_probations(messages)
    bullets = [entry for entry in notes.memory.entries if entry.bullet and learned]
    similar = SimilarTexts(entry.text for entry in bullets)
    operations, left_out, notices = list[Operation](), list[LeftOut](), list[str]()
    for item in learned:
        sources = sources_of(item, messages)
        candidate = _candidate(item, sources, today)
        refusal = _refusal(candidate, sources, probations)
        if refusal:
            left_out.append(_left_out(refusal, candidate))
            continue
        until = None
        if not candidate.is_durable:
            probations -= 1
            until = later(today, timedelta(days=_PROBATION_DAYS))
        same = _find_entries_that_say(candidate.text, bullets, similar)
        quotes = seconded_by(item, candidate.evidence.speaker, same, notes)
        if quotes:
            candidate = _as_rule(candidate, today)
        said = with_lead_in(sources, messages)
        replaced, kept = _replaced(candidate, notes, places, said)
        notices += kept
        ended = list(dict.fromkeys((*quotes, *replaced)))
        operation = _operation(candidate, same, ended, until)
        if isinstance(operation, Confirm):
            left_out.append(_left_out("an entry says it already", candidate))
        operations.append(operation)
    return Promotion(tuple(operations), tuple(left_out), tuple(notices))


def _find_entries_that_say(
    text: str, bullets: Sequence[Entry], similar: SimilarTexts
) -> list[Entry]:
    """Return the entries that say the same as a text; `similar` has the texts of `bullets`."""
    alike = (bullets[index] for index in similar.of(text))
    return [entry for entry in alike if not is_reversed((entry.text,), text)]


def _left_out(reason: str, candidate: _Candidate) -> LeftOut:
    """A candidate that is not written; without its words where these are private."""
    text = "" if reason == SAYS_PRIVATE else candidate.text
    evidence = candidate.evidence
    return LeftOut(
        reason,
        text,
        kind=candidate.item.kind,
        sources=evidence.sources,
        newest=evidence.newest,
        speaker=evidence.speaker,
        when=evidence.when,
    )


def _as_rule(candidate: _Candidate, today: datetime) -> _Candidate:
    """A candidate that is no quote: it has a second voice."""
    item = structs.replace(candidate.item, quote_reason="")
    return replace(candidate, item=item, text=_written(item, candidate.evidence, (), today))


def _refusal(candidate: _Candidate, sources: Sequence[Message], probations: int) -> str:
    """Why nothing is written of it; empty where it is, for good or in one of the `probations`."""
    item = candidate.item
    if has_mark(item.text):
        return SAYS_PRIVATE
    compared = [one for one in sources if one.role != "assistant"]
    if not candidate.is_certain and is_copy(item.text, compared):
        return "copies a message word for word"
    if candidate.is_durable or (candidate.is_probable and probations):
        return ""
    return f"below the bar ({item.necessity})"


def _most_probations(messages: Mapping[str, Message]) -> int:
    people = sum(message.role == "user" for message in messages.values())
    return max(_LEAST_PROBATIONS, people // _MESSAGES_A_PROBATION)


def _candidate(item: Learned, sources: list[Message], today: datetime) -> _Candidate:
    speakers = [message.speaker for message in sources if message.role == "user"]
    evidence = Evidence(
        sources=tuple(message.id for message in sources),
        newest=max((message.number for message in sources), default=0),
        speaker=redacted(item.speaker) or next(iter(speakers), ""),
        when=newest_time(sources),
        learnt=today,
    )
    return _Candidate(item, _written(item, evidence, sources, today), evidence, bool(speakers))


def _written(item: Learned, evidence: Evidence, sources: Sequence[Message], today: datetime) -> str:
    """The text to write; a quote has who and when, and quotation marks where it is verbatim."""
    text = redacted(white_folded(item.text))[:_MOST_CHARS]
    if not item.quote_reason or read_quote(text).day:
        return text
    if any(text in redacted(white_folded(message.content)) for message in sources):
        text = f"“{text}”"
    return quoted(evidence.speaker or "?", (evidence.when or today).date(), text)


def _replaced(
    candidate: _Candidate, notes: Notes, places: Mapping[str, Target], said: Sequence[str]
) -> tuple[list[Target], list[str]]:
    """Return the entries a candidate replaces by what was `said`, and why others stay."""
    replaced: list[Target] = []
    kept: list[str] = []
    for name in candidate.item.replaces:
        entry = notes.find(places[name]) if name in places else None
        record = notes.record(name)
        if entry is None or record is None or record.trust is Trust.HUMAN:
            continue
        reason = _why_kept(candidate, entry, record, said)
        if reason:
            kept.append(f"not replaced, {reason}: {redacted(entry.text)[:80]}")
        else:
            replaced.append(entry.target)
    if candidate.trust is Trust.EXPLICIT and candidate.item.kind is Kind.WISH:
        replaced += _ended_wishes(candidate, notes)
    return replaced, kept


def _ended_wishes(candidate: _Candidate, notes: Notes) -> list[Target]:
    """Return the wishes that a wish of the same person ends: none that was asked for later."""
    wishes = older_wishes(notes, candidate.text, candidate.evidence.speaker)
    records = ((wish, notes.record(wish.id)) for wish in wishes)
    return [wish for wish, record in records if record is None or not _is_older(candidate, record)]


def _why_kept(candidate: _Candidate, entry: Entry, record: Record, talk: Sequence[str]) -> str:
    """Why a candidate does not replace an entry; empty if it does."""
    # Models mix up ids: replacing an entry that has no word in common would be a silent loss.
    if not _is_same_subject(candidate.item, entry):
        return "it says something else"
    # A newer value is durable at once, and that no word of the bot or a tool is.
    if not candidate.is_from_user:
        return "only the bot or a tool says so"
    # A message about something else neither changes what was asked for nor turns an entry round.
    if _is_unsaid(candidate, entry, record, talk):
        return "no source says so"
    # Whoever speaks alone changes their own word, and what binds nobody.
    is_bound = record.trust is not Trust.QUOTED and record.speaker != candidate.evidence.speaker
    if candidate.item.quote_reason in AWAITING and is_bound:
        return "one member alone says so"
    return "it was asked for later" if _is_older(candidate, record) else ""


def _is_older(candidate: _Candidate, record: Record) -> bool:
    """Return whether a candidate was said before a command asked for an entry.

    What was learnt from talk has its place in the transcript, and windows come in its order; a
    command has only its time.
    """
    said = candidate.evidence.when
    if not record.when or record.sources or said is None:
        return False
    return datetime.fromisoformat(record.when) > said


def _is_unsaid(candidate: _Candidate, entry: Entry, record: Record, talk: Sequence[str]) -> bool:
    """Return whether the talk does not say what changes an entry, or turns it round.

    In the place of an explicit entry it has to have a word of any new text.
    """
    text = candidate.item.text
    if record.trust is Trust.EXPLICIT and not shares_new_words(entry.text, text, talk):
        return True
    return not says_so(entry.text, text, talk, candidate.evidence.speaker)


def _is_same_subject(item: Learned, entry: Entry) -> bool:
    """Whether both are about one thing; between two languages only the kind can tell."""
    if same_script(entry.text, item.text):
        return same_subject(entry.text, item.text)
    return kind_of(entry.section) is item.kind


def _operation(
    candidate: _Candidate,
    same: Sequence[Entry],
    replaced: Sequence[Target],
    until: datetime | None,
) -> Operation:
    """The operation that writes a candidate: in the place of others, confirmed, or added.

    `same` are the entries that say the same already.
    """
    item, text, evidence = candidate.item, candidate.text, candidate.evidence
    reason, trust = item.quote_reason, candidate.trust
    if reason and reason not in AWAITING:
        return Add(Kind.FACT, text, trust, evidence, until, quote_reason=reason)
    expires, due = named_end(text, evidence), due_day(item, evidence.when)
    if replaced:
        newer = Supersede(tuple(replaced), text, trust, evidence, "a newer value", item.kind)
        return replace(newer, expires=expires, quote_reason=reason, due=due)
    for entry in same:
        if entry.text != text:
            return Confirm(entry.target, evidence)
    # What a person typed stays beside its newer value: recall shows the newer first, and a person
    # decides.
    return Add(item.kind, text, trust, evidence, until, expires, reason, due)


def due_day(item: Learned, said: datetime | None) -> date | None:
    """Return the due day of an open loop, `None` for other kinds; a host may give no real day.

    A day more than a year before the loop was said is a slip of the model.
    """
    if item.kind is not Kind.OPEN_LOOP or not is_day(item.due):
        return None
    due = date.fromisoformat(item.due)
    is_slip = said is not None and (said.date() - due).days > _MOST_DAYS_OVERDUE
    return None if is_slip else due


def recalled_entries(notes: Notes, found: Iterable[str]) -> tuple[Entry, ...]:
    """The bullets of MEMORY.md among recalled ids (`memory:<id>`, `history:…`), in their order."""
    entries = {f"memory:{entry.ref}": entry for entry in notes.memory.entries if entry.bullet}
    return tuple(entries[name] for name in found if name in entries)


def confirmed(ledger: Ledger, recalled: Collection[Entry]) -> Decision | None:
    """The decision that ends the probations of recalled entries, `None` if there is none."""
    records = [(entry, ledger.records.get(entry.id)) for entry in recalled]
    ended = [entry for entry, record in records if record and record.probation_until]
    if not ended:
        return None
    return Decision(
        "recall",
        Author.RULE,
        tuple(Confirm(e.target) for e in ended),
        why="recalled while on probation",
    )
