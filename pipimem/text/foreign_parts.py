"""What of a message nobody said in it: cited, forwarded, code, hidden, or a file's name.

What are left are its speaker's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from pipimem.text.han import HAN_CHARACTER
from pipimem.text.patterns import Pattern
from pipimem.text.plain_readings import hidden

# In the order in which they are taken out: a forwarded mail may hold code. What nobody
# sees goes first, so that nobody agrees to it with the mail around it.
_SHOWN = (
    # All behind the line that says so.
    Pattern(
        r"^[ \t>]*(?:-{2,}[^\n]*\b(?:forwarded|original)\b[^\n]*|(?:begin )?forwarded message:?"
        r"|-{2,}[^\n]*(?:转发|原始邮件)[^\n]*|(?:From|发件人)\s*[:：][^\n]*)$.*\Z",
        re.IGNORECASE | re.MULTILINE | re.DOTALL,
    ),
    Pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL),
    Pattern(r"^[ \t]*[>＞].*$", re.MULTILINE),
    Pattern(r"「[^」]{24,}」?|『[^』]{24,}』?|“[^”]{40,}”?|(?<!\w)\"[^\"]{40,}\""),
)
_HIDDEN = (
    Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL),
    Pattern(
        r"<(?P<tag>\w+)\b[^>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
        r"|color\s*:\s*(?:white|#fff)|\bhidden\b)[^>]*>.*?(?:</(?P=tag)>|\Z)",
        re.IGNORECASE | re.DOTALL,
    ),
    Pattern(r"[\u200b\u2060\ufeff][^\u200b\u2060\ufeff]{8,}?[\u200b\u2060\ufeff]", re.DOTALL),
)
# What a word that is a file's name ends with, before closing signs.
_SUFFIX = Pattern(r"\.[A-Za-z]\w{1,4}(?=\W*\Z)")
_JOINTS = Pattern(r"[_-]+(?=\w)")
# A name of at least four words, or of so many Chinese characters, says something.
_LEAST_JOINTS, _LEAST_HAN = 3, 6
_LONGEST_SUFFIX = 12


class MessageParts(NamedTuple):
    """A message taken apart: its speaker's own words, and the texts that stood among them.

    `foreign` are those that its readers see, `hidden` those that they do not.
    """

    own: str
    foreign: tuple[str, ...]
    hidden: tuple[str, ...] = ()


def taken_apart(text: str) -> MessageParts:
    """The own words of a message, and each foreign part."""
    unseen: list[str] = []
    spelled = hidden(text)
    if spelled:
        unseen.append(spelled)
        text = "".join(one for one in text if not "\U000e0000" <= one <= "\U000e007f")
    text = _without(text, _HIDDEN, unseen)
    shown: list[str] = []
    text = _without(text, _SHOWN, shown)
    names = [word for word in text.split() if _is_file_name(word)]
    for name in names:
        text = text.replace(name, "\n")
    return MessageParts(text.strip(), (*shown, *names), tuple(unseen))


def _without(text: str, parts: Iterable[Pattern], found: list[str]) -> str:
    """The text without these parts, which are added to `found`."""
    for pattern in parts:
        found += [one[0] for one in pattern().finditer(text)]
        text = pattern().sub("\n", text)
    return text


def _is_file_name(word: str) -> bool:
    """Whether a word is the name of a file that says something."""
    if "://" in word or not _SUFFIX().search(word[-_LONGEST_SUFFIX:]):
        return False
    if len(_JOINTS().findall(word)) >= _LEAST_JOINTS:
        return True
    return len(HAN_CHARACTER().findall(word)) >= _LEAST_HAN
