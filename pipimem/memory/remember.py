"""Remember: what a person asked to keep, word for word, as an entry of its own.

`as_quote` puts in front who said it and when, as in what the rules quote, where that is known.
A text that reads like an instruction to the bot is kept as what it is, somebody's words: in
quotation marks, with who and when, among the facts whatever kind was asked for, so that it never
stands in what comes with every turn. So is what a member of a group would have stand there and
that says how the bot is to treat others.
"""

from __future__ import annotations

from datetime import date, datetime

from msgspec.structs import replace

from pipimem.errors import PipimemError
from pipimem.memory.bot_conduct import BotConduct
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.notes.quote_reason import QuoteReason
from pipimem.text.dates import lasts_until
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import directs_conduct, injection_kind
from pipimem.text.markdown.lines import white_folded
from pipimem.text.quotes import quoted, read_quote

# Characters that nothing shows, and that spell ASCII.
_TAGS = "\U000e0000", "\U000e007f"


def foreign_addition(add: Add, source: str) -> Add | None:
    """The addition with its last day, and as a quote where it reads like an order to the bot.

    So does a wish on how the bot treats others; with a link, money or a secret in it it is nothing
    (`None`). A quote stands among the facts and never in what comes with every turn; whose words
    they are is the speaker, else the name of the `source`.
    """
    add = replace(add, expires=add.expires or named_end(add.text, add.evidence))
    conduct = BotConduct(()).verdict(add.text)
    if conduct == "risky":
        return None
    if not conduct and not injection_kind(add.text):
        return add
    evidence = replace(add.evidence, speaker=add.evidence.speaker or source)
    reason = QuoteReason.CONDUCT if conduct else QuoteReason.INSTRUCTION
    return quoted_addition(replace(add, evidence=evidence), reason)


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
    among_others: bool = False,
) -> Decision:
    """The decision to add `text`, with `Trust.QUOTED` where it reads like an instruction.

    `among_others` says that the speaker is one of several people of the channel: what would bind
    the others is then kept as a quote, too. Without `until` it holds to the last day that it names
    itself, if it names one. Raises `PipimemError` where `until` is over on the day of `now`.
    """
    if until and until < now.date():
        raise PipimemError(
            f"{until} is over: today is {now.date()} in this workspace; "
            "give a last day that is to come"
        )
    evidence = Evidence(speaker=speaker, when=now)
    expires = until or named_end(text, evidence)
    attack = _why_a_quote(text, kind, among_others=among_others)
    if not attack:
        if as_quote and speaker and not read_quote(text).name:
            text = quoted(speaker, now.date(), text)
        add = Add(kind, text, Trust.EXPLICIT, evidence, expires=expires)
        return Decision("remember", Author.PERSON, (add,), why="asked for")
    reason = QuoteReason.CONDUCT if attack == "conduct" else QuoteReason.INSTRUCTION
    add = Add(kind, text, Trust.EXPLICIT, evidence, expires=expires)
    add = quoted_addition(add, reason)
    note = f"reads like an instruction to the bot ({attack}): kept as a quote"
    return Decision("remember", Author.PERSON, (add,), why="asked for", notes=(note,))


def _why_a_quote(text: str, kind: Kind, *, among_others: bool) -> str:
    """The kind of attack that a text is, `conduct` for what would bind others of a group."""
    attack = injection_kind(text)
    if not attack and among_others and kind in STANDING and directs_conduct(text):
        return "conduct"
    return attack


def quoted_addition(add: Add, reason: str) -> Add:
    """An addition as somebody's words among the facts, with who and when; a quote stays so."""
    evidence = add.evidence
    words = add.text
    if add.trust is not Trust.QUOTED:
        day = evidence.when.date() if evidence.when else None
        words = quoted(evidence.speaker or "?", day, f"“{white_folded(add.text)}”")
    return replace(add, kind=Kind.FACT, text=words, trust=Trust.QUOTED, quote_reason=reason)


def named_end(text: str, evidence: Evidence) -> date | None:
    """The last day a text says that it holds, `None` if it was over when said or learnt."""
    end, said = lasts_until(text), evidence.learnt or evidence.when
    return end if end and said and end >= said.date() else None
