"""Kinds of characters: Chinese ones, emoji, and halves of surrogate pairs no text may hold."""

from __future__ import annotations

import json
import re

from pipimem.text.patterns import Pattern

# To stand between brackets: 々 and 〇, the unified ideographs with extension A, those for
# compatibility, and all beyond the basic plane.
HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"

HAN_CHARACTER = Pattern(rf"[{HAN}]")
# A name in code, a path and an address count as one word.
_LATIN_WORD = Pattern(r"[A-Za-z][A-Za-z0-9_./:@'’-]*")

# With what joins and varies them; alone these stand inside words of many scripts.
_EMOJI = re.compile(
    r"[\U0001f000-\U0001faff\u2600-\u27bf][\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]*"
    r"|[:;](?<!\w[:;])-?[)(DP](?!\w)"  # beginning with a character it is found faster
)


def has_han(text: str) -> bool:
    """Whether there is a Chinese character in a text."""
    return not text.isascii() and HAN_CHARACTER().search(text) is not None


def is_chinese(text: str) -> bool:
    """Whether a text reads as Chinese: at least one Han character for each Latin word."""
    return has_han(text) and len(HAN_CHARACTER().findall(text)) >= len(_LATIN_WORD().findall(text))


def without_emoji(text: str) -> str:
    """Return the text with blanks for emoji and for smileys such as `:-)`."""
    return _EMOJI.sub(" ", text)


def storable(text: str) -> str:
    """The text with two halves as the character they are, and a lone one as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable_json(data: bytes) -> str:
    """The same JSON without halves of characters: models cut emoji in half.

    Raises `ValueError` for what is no JSON, `RecursionError` where it is too deep.
    """
    return storable(json.dumps(json.loads(data), ensure_ascii=False))
