"""`python -m benchmarks.secrets [--held] [--seed N] [--misses] [--kind NAME] [--touched]`: how many
secrets are masked whole.

Each of the kinds in corpus/kinds.toml stands in 20 texts, and in 10 more with `--held`, whose
surroundings were held back from the writing of the rules. A secret is masked whole when no four
characters of it that stand together remain. Ordinary lines (1,333, held 667) must stay as they are.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipimem.text.secrets import redacted

from benchmarks.machine import heading, quantile
from benchmarks.secrets.generate import Case, cases, leaks, ordinary

_SHOWN, _HELD = (20, 1333), (10, 667)
_REPEATS = 5  # the fastest counts: others work on the machine
_TALKS = Path(__file__).parents[1] / "consolidation" / "talks"
# What hostile text is made of: beginnings that promise a secret and never keep it.
_HOSTILE = (
    "a", " ", "sk-", '"', "password=", "password: ", "密码是", "账号 ", "eyJaaaaaaaaaa.", "://a:", "1 ",
    "4111 ", "token:", "x1 is my ", "-----BEGIN PRIVATE KEY-----", "user / pass ", "curl -u ",
    "mysql -p", "AccountKey=", "Cookie: a=", "sig=", "[secret:", "AKIA", "password for the ", "\n",
    "A1b2", "AK ", "Private-Lines: 1\n", "$2b$12$", "abandon ",
)  # fmt: skip


def missed(found: Iterable[Case]) -> Iterator[tuple[Case, str]]:
    """The texts in which a piece of a secret remains, with what is left of them."""
    for case in found:
        masked = redacted(case.text)
        if leaks(case, masked):
            yield case, masked


def touched(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The ordinary lines that were changed, with what they became."""
    pairs = ((line, redacted(line)) for line in lines)
    return [(line, masked) for line, masked in pairs if masked != line]


def talks() -> list[str]:
    """The messages of another benchmark's recorded talks; in five a password or code is told."""
    found = []
    for path in sorted(_TALKS.glob("*.jsonl")):
        found += [json.loads(line)["content"] for line in path.read_text("utf-8").splitlines()]
    return found


def _speed(texts: list[str]) -> str:
    """The time of 4 KB of chat, of an ordinary kind and with secrets in it."""
    pieces, piece = [], ""
    for text in texts:
        piece += text + "\n"
        if len(piece.encode()) >= 4096:
            pieces.append(piece.encode()[:4096].decode("utf-8", "ignore"))
            piece = ""
    times = [1000 * min(_seconds(piece) for _ in range(_REPEATS)) for piece in pieces]
    return f"median {quantile(times, 0.5):.2f} ms, 95th of 100 {quantile(times, 0.95):.2f} ms"


def _seconds(text: str) -> float:
    began = time.perf_counter()
    redacted(text)
    return time.perf_counter() - began


def _hostile(size: int) -> Iterator[tuple[float, str]]:
    for piece in _HOSTILE:
        text = piece * (size // len(piece))
        yield _seconds(text), piece


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__)
    parser.add_argument("--held", action="store_true", help="the surroundings held back")
    parser.add_argument("--seed", type=int, default=15, help="the seed of what is drawn")
    parser.add_argument("--misses", action="store_true", help="show what was not masked whole")
    parser.add_argument("--touched", action="store_true", help="show ordinary lines that changed")
    parser.add_argument("--kind", help="show the misses of one kind")
    parser.add_argument("--hostile", action="store_true", help="100 KB and 1 MB of hostile texts")
    return parser.parse_args()


def _report(options: argparse.Namespace) -> None:
    each, count = _HELD if options.held else _SHOWN
    found = list(cases(options.seed, each, held=options.held))
    lines = ordinary(options.seed, count, held=options.held)
    misses, changed = list(missed(found)), touched(lines)
    said = talks()
    told = touched(said)
    by_kind = Counter(case.kind for case, _ in misses)
    kinds = len({case.kind for case in found})
    whole = len(found) - len(misses)
    print(f"{kinds} kinds, {len(found)} texts: {whole} masked whole, {whole / len(found):.1%}")
    print(
        f"ordinary lines touched: {len(changed)} of {len(lines)}, {len(changed) / len(lines):.2%}"
    )
    print(f"messages of recorded talks touched: {len(told)} of {len(said)}")
    print(f"4 KB of recorded talk: {_speed(said)}")
    print(f"4 KB of ordinary lines that look like secrets: {_speed(lines)}")
    print(f"4 KB of nothing but secrets: {_speed([case.text for case in found])}")
    print("missed: " + ", ".join(f"{kind} {number}" for kind, number in by_kind.most_common()))
    for case, masked in misses:
        if options.misses or case.kind == options.kind:
            print(f"  {case.kind}: {masked!r}  (secret: {', '.join(case.secrets)})")
    for line, masked in (*changed, *told):
        if options.touched:
            print(f"  touched: {line!r} -> {masked!r}")


def main() -> None:
    """Print the figures."""
    options = _options()
    print(heading("secrets masked"))
    _report(options)
    if options.hostile:
        for size in (100_000, 1_000_000):
            seconds, piece = max(_hostile(size))
            print(f"{size // 1000} KB of hostile text: at most {seconds:.2f} s ({piece!r})")


if __name__ == "__main__":
    main()
