"""What of a message nobody said in it: cited, forwarded, copied, code, hidden, or a file's name.

What are left are its speaker's own words. `data/injection/copies.txt` has the lines that head a
copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pipimem import resources
from pipimem.text.characters import HAN_CHARACTER
from pipimem.text.injection import hidden
from pipimem.text.patterns import Pattern, replaced

# What a copy holds goes first: it may have code in it. What nobody sees goes before all, so that
# nobody agrees to it with the mail around it.
_SHOWN = (
    Pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL),
    Pattern(r"^[ \t]*[>＞].*$", re.MULTILINE),
    # A table, which nobody types into a chat.
    Pattern(
        r"^[ \t]*\|[^\n]*\n[ \t]*\|(?=[^\n]*-)[-:| \t]+$(?:\n[ \t]*\|[^\n]*)*",
        re.MULTILINE,
    ),
    # A quotation inside somebody's own sentence is theirs.
    Pattern(
        r"(?:^[ \t]*|[:：][ \t]{0,3}(?:\n\s{0,3})?)"
        r"(?:「[^」\n]{24,1000}」|『[^』\n]{24,1000}』|“[^”\n]{40,2000}”|\"[^\"\n]{40,2000}\")"
        r"[.。]?[ \t]*$",
        re.MULTILINE,
    ),
)
_COMMENT = Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A tag that is never closed reaches to the end of the text: no tag inside it is tried in turn.
_TAG = Pattern(r"<\w++([^>]*+)(?:>|\Z)")
_HIDES = Pattern(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
    r"|color\s*:\s*(?:white|#fff)|\bhidden\b",
    re.IGNORECASE,
)
_ELEMENT = Pattern(r"<(?P<tag>\w++)[^>]*+>.*?(?:</(?P=tag)>|\Z)", re.IGNORECASE | re.DOTALL)
_UNSEEN = Pattern(r"[\u200b\u2060\ufeff][^\u200b\u2060\ufeff]{8,}?[\u200b\u2060\ufeff]", re.DOTALL)
# What a word that is a file's name ends with, before closing signs.
_SUFFIX = Pattern(r"\.[A-Za-z]\w{1,4}(?=\W*\Z)")
_JOINTS = Pattern(r"(?<![_-])[_-]+(?=\w)")
_WORD = Pattern(r"\S+")
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
    text = _without(text, _COMMENT().finditer(text), unseen)
    text = _without(text, _hidden_elements(text), unseen)
    text = _without(text, _UNSEEN().finditer(text), unseen)
    own, copied = _split_at_copy(text)
    shown = [copied] if copied else []
    text = own
    for pattern in _SHOWN:
        text = _without(text, pattern().finditer(text), shown)
    names: list[str] = []
    text = _without(text, filter(_is_file_name, _WORD().finditer(text)), names)
    return MessageParts(text.strip(), (*shown, *names), tuple(unseen))


def own_words(text: str) -> str:
    """What of a message its speaker says."""
    return taken_apart(text).own


def _split_at_copy(text: str) -> tuple[str, str]:
    """Return the text before the first line that heads a copy, and all from there on."""
    found = (head().search(text) for head in _heads())
    start = min((match.start() for match in found if match), default=len(text))
    return text[:start], text[start:]


@cache
def _heads() -> tuple[Pattern, ...]:
    lines = resources.sections("injection/copies")["head"]
    flags = re.IGNORECASE | re.MULTILINE
    return tuple(Pattern(rf"^(?:{line.partition('  =>  ')[0]})", flags) for line in lines)


def _without(text: str, parts: Iterable[re.Match[str]], found: list[str]) -> str:
    """The text without these parts, each of which is a line end there, and is added to `found`."""
    taken = list(parts)
    found += [part[0] for part in taken]
    return replaced(text, ((part.start(), part.end(), "\n") for part in taken))


def _hidden_elements(text: str) -> Iterator[re.Match[str]]:
    """Yield the elements of HTML whose first tag says that they are not shown."""
    position = 0
    while tag := _TAG().search(text, position):
        position = tag.end()
        if not tag[0].endswith(">") or not _HIDES().search(text, *tag.span(1)):
            continue
        element = _ELEMENT().match(text, tag.start())
        if element:
            position = element.end()
            yield element


def _is_file_name(found: re.Match[str]) -> bool:
    """Whether a word is the name of a file that says something."""
    word = found[0]
    if "://" in word or not _SUFFIX().search(word[-_LONGEST_SUFFIX:]):
        return False
    if len(_JOINTS().findall(word)) >= _LEAST_JOINTS:
        return True
    return len(HAN_CHARACTER().findall(word)) >= _LEAST_HAN
