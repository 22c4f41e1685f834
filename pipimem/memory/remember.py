"""Remember: what a person asked to keep, word for word, as an entry of its own.

`as_quote` puts in front who said it and when, as in what the rules quote, where that is known.
A text that reads like an instruction to the bot is kept as what it is, somebody's words: in
quotation marks, with who and when, among the facts whatever kind was asked for, so that it never
comes with every turn. Where a group needs two voices for a rule, one member's is such a quote,
too, under the heading of its kind.
"""

from __future__ import annotations

from datetime import date, datetime

from msgspec.structs import replace

from pipimem.errors import PipimemError
from pipimem.memory.second_voice import binds
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import AWAITING, QuoteReason
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.text.dates import lasts_until
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import injection_kind
from pipimem.text.markdown.lines import white_folded
from pipimem.text.quotes import quoted, read_quote

# Characters that nothing shows, and that spell ASCII.
_TAGS = "\U000e0000", "\U000e007f"


def foreign_addition(add: Add, source: str) -> Add:
    """Return the addition with its last day, as a quote if it reads like an instruction to the bot.

    The quote is a fact and never comes with every turn; whose words it is: the speaker's, else
    those of the `source`.
    """
    add = replace(add, expires=add.expires or named_end(add.text, add.evidence))
    if not injection_kind(add.text):
        return add
    evidence = replace(add.evidence, speaker=add.evidence.speaker or source)
    return quoted_addition(replace(add, evidence=evidence), QuoteReason.INSTRUCTION)


def without_hidden(text: str) -> str:
    """The text without what its reader does not see: comments, invisible and tag characters."""
    text = "".join(one for one in text if not _TAGS[0] <= one <= _TAGS[1])
    for part in taken_apart(text).hidden:
        text = text.replace(part, " ")
    return text


def remembered(
    text: str,
    kind: Kind,
    now: datetime,
    *,
    speaker: str = "",
    until: date | None = None,
    as_quote: bool = False,
    needs_second_voice: bool = False,
    evidence: Evidence | None = None,
) -> Decision:
    """The decision to add `text`, as a quote where it reads like an instruction to the bot.

    `needs_second_voice` says that the speaker is one of several people of the channel and sets no
    rule alone: what would bind the others is then a quote, too. Without `until` it holds to the
    last day that it names itself, if it names one. `evidence` says where a text is from
    that was said before. Raises `PipimemError` where `until` is over on the day of `now`.
    """
    if until and until < now.date():
        raise PipimemError(
            f"{until} is over: today is {now.date()} in this workspace; "
            "give a last day that is to come"
        )
    evidence = _evidence_of(speaker, now, evidence)
    expires = until or named_end(text, evidence)
    add = Add(kind, text, Trust.EXPLICIT, evidence, expires=expires)
    attack = injection_kind(text)
    notes: tuple[str, ...] = ()
    if attack:
        add = quoted_addition(add, QuoteReason.INSTRUCTION)
        notes = (f"reads like an instruction to the bot ({attack}): kept as a quote",)
    elif needs_second_voice and binds(kind, text, speaker):
        add = quoted_addition(add, QuoteReason.ONE_MEMBER)
        notes = ("one member alone says it: kept as a quote",)
    elif as_quote and speaker and not read_quote(text).name:
        add = replace(add, text=quoted(speaker, now.date(), text))
    return Decision("remember", Author.PERSON, (add,), why="asked for", notes=notes)


def _evidence_of(speaker: str, now: datetime, evidence: Evidence | None) -> Evidence:
    """Return the evidence with its speaker; without any, the text is said now."""
    return replace(evidence or Evidence(when=now), speaker=speaker)


def quoted_addition(add: Add, reason: str) -> Add:
    """An addition as somebody's words, with who and when; a quote stays so.

    It is a fact, but for a rule that awaits a second voice.
    """
    evidence = add.evidence
    words = add.text
    if add.trust is not Trust.QUOTED:
        day = evidence.when.date() if evidence.when else None
        words = quoted(evidence.speaker or "?", day, f"“{white_folded(add.text)}”")
    kind = add.kind if reason in AWAITING else Kind.FACT
    return replace(add, kind=kind, text=words, trust=Trust.QUOTED, quote_reason=reason)


def named_end(text: str, evidence: Evidence) -> date | None:
    """The last day a text says that it holds, `None` if it was over when said or learnt."""
    end, said = lasts_until(text), evidence.learnt or evidence.when
    return end if end and said and end >= said.date() else None
