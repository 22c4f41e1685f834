"""The mark that stands in the place of a secret: `[secret:github-token:4f1c]`."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from pipimem import resources
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.anchors import FILES

# A keyed hash of what can be guessed would tell it to whoever holds the channel's folder, where
# the key lies: of a code of six digits, all of it. Machines make longer ones.
_LEAST_TAGGED = 20
_FILES = (*FILES, "secrets/key_shapes")
_OTHER_KINDS = ("card-number", "identity-number", "iban", "phone-number", "listed", "hidden")


@cache
def kinds() -> frozenset[str]:
    """Every kind of secret that a mark may name."""
    headings = (heading for name in _FILES for heading in resources.sections(name))
    return frozenset((*_OTHER_KINDS, *(one.partition(":")[0] for one in headings if one)))


@cache
def mark_pattern() -> Pattern:
    """A mark, also one of a former version.

    Only known kinds: `[secret: my password]` that somebody types hides nothing.
    """
    known = "|".join(sorted(kinds(), key=len, reverse=True))
    former = "|".join(resources.sections("secrets/former_kinds")[""])
    return Pattern(rf"\[secret:(?:(?:{known})(?::[0-9a-f]{{4}})?| (?:{former}))\]")


def mark(kind: str, value: str, key: bytes) -> str:
    """The mark of a secret; a long one has a keyed tag, by which it is known when it comes again.

    Without a key, and for what can be guessed, there is no tag.
    """
    if not key or len(value) < _LEAST_TAGGED:
        return f"[secret:{kind}]"
    tag = blake2b(value.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=2)
    return f"[secret:{kind}:{tag.hexdigest()}]"


def holds_mark(text: str) -> bool:
    """Whether something was masked in a text."""
    return "[secret:" in text and mark_pattern()().search(text) is not None
