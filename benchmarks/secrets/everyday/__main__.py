"""`python -m benchmarks.secrets.everyday [--misses]`: measure masking on everyday sentences.

secrets.txt, secrets-2.txt: sentences with secrets between ⟦ and ⟧. ordinary.txt: messages without a secret, which
must stay as they are. kinds.tsv: formats of keys, one random key each in three surroundings. A
secret is masked whole when no four characters of it remain together outside the marks, or, if it is
shorter, when it does not remain.
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path

from pipimem.text.secrets import redacted

from benchmarks.machine import heading

_FOLDER = Path(__file__).parent
_SEED = 20261128
_SURROUNDINGS = ("here it is: {}", "{}", "把这个存一下 {} 谢谢")
_MARK = re.compile(r"\[secret:[^\]]*\]")
_SECRET = re.compile("⟦(.*?)⟧", re.DOTALL)
_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "a": string.ascii_lowercase,
    "A": string.ascii_uppercase,
    "b": string.ascii_letters + string.digits + "+/",
    "u": string.ascii_letters + string.digits + "-_",
    "B": string.ascii_uppercase + "234567",
}


def _lines(name: str) -> Iterator[str]:
    for line in (_FOLDER / name).read_text("utf-8").splitlines():
        if line and not line.startswith("# "):
            yield line.replace("\\n", "\n")


def remains(secret: str, masked: str, carrier: str) -> bool:
    """Return whether a piece of the secret that is no part of its carrier remains in the masked text."""
    rest = _MARK.sub("\0", masked)
    size = min(4, len(secret))
    pieces = {secret[at : at + size] for at in range(len(secret) - size + 1)}
    return any(piece in rest and piece not in carrier for piece in pieces)


def sentences(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each sentence with its secrets."""
    for line in _lines(name):
        yield _SECRET.sub(r"\1", line), _SECRET.findall(line)


def keys() -> Iterator[tuple[str, str, str]]:
    """Yield name, text and key for each format in each of the surroundings."""
    draw = random.Random(_SEED)
    for line in _lines("kinds.tsv"):
        name, template = line.split("\t")
        for around in _SURROUNDINGS:
            key = re.sub(
                r"\{(\w):(\d+)\}",
                lambda found: "".join(draw.choices(_ALPHABETS[found[1]], k=int(found[2]))),
                template,
            )
            yield name, around.format(key), key


def _leaking(text: str, secrets: list[str]) -> bool:
    masked, carrier = redacted(text), _carrier(text, secrets)
    return any(remains(secret, masked, carrier) for secret in secrets)


def _carrier(text: str, secrets: list[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "\0")
    return text


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets.everyday")
    parser.add_argument("--misses", action="store_true", help="show what is not masked or touched")
    options = parser.parse_args()
    print(heading("secrets in everyday sentences"))
    missed: list[str] = []
    for name in ("secrets.txt", "secrets-2.txt"):
        told = list(sentences(name))
        open_here = [text for text, secrets in told if _leaking(text, secrets)]
        masked = len(told) - len(open_here)
        print(f"{name}: masked whole {masked} of {len(told)}, {masked / len(told):.1%}")
        missed += open_here
    plain = list(_lines("ordinary.txt"))
    touched = [line for line in plain if redacted(line) != line]
    print(
        f"ordinary lines touched: {len(touched)} of {len(plain)}, {len(touched) / len(plain):.2%}"
    )
    drawn = list(keys())
    open_ = [(name, text) for name, text, key in drawn if _key_remains(text, key)]
    kinds, open_kinds = {name for name, _, _ in drawn}, sorted({name for name, _ in open_})
    print(
        f"keys masked: {len(drawn) - len(open_)} of {len(drawn)}; kinds always masked: {len(kinds) - len(open_kinds)} of {len(kinds)}"
    )
    if options.misses:
        for text in missed:
            print(f"  stays: {text!r} -> {redacted(text)!r}")
        for line in touched:
            print(f"  touched: {line!r} -> {redacted(line)!r}")
        for name, text in open_:
            print(f"  key: {name}: {redacted(text)!r}")


def _key_remains(text: str, key: str) -> bool:
    """Return whether twelve characters of the key's second half remain together."""
    rest = _MARK.sub("\0", redacted(text))
    size = min(12, len(key))
    secret = key[len(key) // 2 :]
    return any(secret[at : at + size] in rest for at in range(max(1, len(secret) - size + 1)))


if __name__ == "__main__":
    main()
