"""An entry of another program's memory as one of ours; nobody of the channel said it."""

from __future__ import annotations

from dataclasses import replace

from pipimem.memory.bot_conduct import BotConduct
from pipimem.memory.promote import named_end
from pipimem.memory.remember import quoted_addition
from pipimem.notes.operations import Add
from pipimem.notes.quote_reason import QuoteReason
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import injection_kind

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
