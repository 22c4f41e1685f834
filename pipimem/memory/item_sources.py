"""The messages that a learnt item rests on, and whether it is no more than a copy of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pipimem.notes.message import Message
from pipimem.sidecar.tasks import Learned
from pipimem.text.markdown.lines import white_folded
from pipimem.text.quotes import read_quote

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
    from difflib import SequenceMatcher  # 6 ms that a start need not pay

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
