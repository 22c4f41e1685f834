"""jieba's word list, cut into shards by first character and kept in a private cache file.

This is the one door to jieba, and the one module of `text/` that reads and writes a disk. jieba itself is never
imported: its import takes 70 ms or more, warns, adds log handlers, and trusts any `jieba.cache` that lies in the
shared temp folder. Two of its data files are read, `dict.txt` and `finalseg/prob_emit.py`, once, to build the cache.

The cache file is text:

    pipimem-words 1
    <total> <crc32 of all that follows> <size mtime_ns sha256 of dict.txt> <the same of prob_emit.py>
    <every first character, joined>
    <the length in bytes of each character's shard>
    <shards, joined; each is: 4 emissions (B M E S), then word, frequency, word, frequency …>

A frequency of 0 marks a prefix that is no word. The file is believed only when it is ours, closed to others, whole,
and built from the data files as they are now; otherwise it is built again. Where it cannot be written, the work is
done in memory.
"""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from importlib.machinery import PathFinder, SourceFileLoader
from itertools import accumulate, pairwise
from pathlib import Path
from types import ModuleType

CACHE_NAME = "jieba-words-1.txt"
MAGIC = b"pipimem-words 1"

# The log-probability jieba gives to a character it has never seen in a place of a word.
UNSEEN = -3.14e100


@dataclass(frozen=True, slots=True)
class Shard:
    """All that is known of one first character: its emissions, and its words and prefixes with their frequencies."""

    emissions: tuple[float, float, float, float]
    words: tuple[str, ...]
    frequencies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The shards where they lie in the cache, opened one at a time; `total` is the sum of all frequencies."""

    total: int
    spans: dict[str, tuple[int, int]]
    cache: bytes

    def shard(self, character: str) -> Shard | None:
        """What the dictionary holds under a first character, or None."""
        span = self.spans.get(character)
        if span is None:
            return None
        parts = self.cache[span[0] : span[1]].decode("utf-8").split(" ")
        begin, middle, end, single = map(float, parts[:4])
        return Shard((begin, middle, end, single), tuple(parts[4::2]), tuple(parts[5::2]))


@dataclass(frozen=True, slots=True)
class _Source:
    """One of jieba's data files, as a cache remembers it."""

    path: Path
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> _Source:
        found = path.stat()
        return cls(path, found.st_size, found.st_mtime_ns)

    def stamp(self) -> str:
        return f"{self.size} {self.mtime_ns} {_sha256(self.path)}"

    def is_as(self, size: str, mtime_ns: str, digest: str) -> bool:
        """Whether a cache with this stamp was built from the file; hashed only when the file was touched since."""
        if str(self.size) != size:
            return False
        return str(self.mtime_ns) == mtime_ns or _sha256(self.path) == digest


def _sha256(path: Path) -> str:
    import hashlib  # here: 3 to 13 ms, and a sound cache never needs it

    return hashlib.sha256(path.read_bytes()).hexdigest()


def opened(cache_dir: Path | None) -> Dictionary:
    """The dictionary, from the cache in `cache_dir` (None: the user's cache folder), else built and cached there."""
    folder = _jieba_folder()
    sources = (_Source.of(folder / "dict.txt"), _Source.of(folder / "finalseg" / "prob_emit.py"))
    cache_dir = cache_dir or _user_cache_dir()
    cached = _read_private(cache_dir / CACHE_NAME) if _is_private_folder(cache_dir) else None
    dictionary = _parsed(cached, sources) if cached is not None else None
    if dictionary is not None:
        return dictionary
    built = _built(sources)
    _write_private(cache_dir, built)
    dictionary = _parsed(built, sources)
    assert dictionary is not None, "a cache just built is believed"
    return dictionary


def _jieba_folder() -> Path:
    # Found, not imported: see the docstring of the module.
    spec = PathFinder.find_spec("jieba")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("jieba is not installed, Chinese cannot be cut into words: pip install jieba")
    return Path(spec.origin).parent


def _user_cache_dir() -> Path:
    from platformdirs import user_cache_path  # here: 5 ms that a handed-in folder saves

    return user_cache_path("pipimem", appauthor=False)


def _parsed(cache: bytes, sources: tuple[_Source, _Source]) -> Dictionary | None:
    """The dictionary in a cache file, or None when it is damaged or built from other data."""
    begins = cache.find(b"\n", len(MAGIC) + 1) + 1
    head, _, stamp = cache[:begins].rstrip(b"\n").partition(b"\n")
    fields = stamp.decode("ascii", "replace").split(" ")
    # Looked at where it lies: a copy of 7 MB costs as much as all the rest.
    if head != MAGIC or len(fields) != 8 or fields[1] != str(zlib.crc32(memoryview(cache)[begins:])):
        return None
    if not (sources[0].is_as(*fields[2:5]) and sources[1].is_as(*fields[5:8])):
        return None
    characters = cache.index(b"\n", begins)
    shards = cache.index(b"\n", characters + 1) + 1
    ends = list(accumulate(map(int, cache[characters + 1 : shards].split()), initial=shards))
    spans = dict(zip(cache[begins:characters].decode("utf-8"), pairwise(ends), strict=True))
    return Dictionary(int(fields[0]), spans, cache)


def _built(sources: tuple[_Source, _Source]) -> bytes:
    """The bytes of a cache file, from jieba's own data (takes about a second)."""
    total, frequencies = _frequencies(sources[0].path)
    by_character: dict[str, list[str]] = {}
    for word, frequency in frequencies.items():
        by_character.setdefault(word[0], []).append(f"{word} {frequency}")
    emissions = _emissions(sources[1].path)
    characters = sorted(by_character.keys() | emissions.keys())
    unseen = (UNSEEN,) * 4
    shards = [
        " ".join([*map(repr, emissions.get(character, unseen)), *by_character.get(character, ())]).encode("utf-8")
        for character in characters
    ]
    lengths = " ".join(str(len(shard)) for shard in shards).encode("ascii")
    body = b"\n".join(["".join(characters).encode("utf-8"), lengths, b"".join(shards)])
    stamp = f"{total} {zlib.crc32(body)} {sources[0].stamp()} {sources[1].stamp()}"
    return b"\n".join([MAGIC, stamp.encode("ascii"), body])


def _frequencies(path: Path) -> tuple[int, dict[str, int]]:
    """The sum of all frequencies, and the frequency of every word and (as 0) of every prefix of a word."""
    total = 0
    frequencies: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            word, frequency = line.split(" ")[:2]
            frequencies[word] = int(frequency)
            total += int(frequency)
            for end in range(1, len(word)):
                frequencies.setdefault(word[:end], 0)
    return total, frequencies


def _emissions(path: Path) -> dict[str, tuple[float, float, float, float]]:
    """How likely each character begins (B), continues (M) or ends (E) a word, or is one (S), as logarithms."""
    loader = SourceFileLoader("pipimem_jieba_emissions", str(path))
    module = ModuleType(loader.name)  # not through the import system: that would import jieba first
    loader.exec_module(module)
    table: dict[str, dict[str, float]] = module.P
    begin, middle, end, single = (table[state] for state in "BMES")
    return {
        c: (begin.get(c, UNSEEN), middle.get(c, UNSEEN), end.get(c, UNSEEN), single.get(c, UNSEEN))
        for c in begin.keys() | middle.keys() | end.keys() | single.keys()
    }


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def _is_private_folder(folder: Path) -> bool:
    """Whether nobody else can put files into the folder."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_ours(found) and not found.st_mode & 0o022


def _read_private(path: Path) -> bytes | None:
    """The bytes of a plain file that is ours and closed to others, else None."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, opened without following links
        found = os.fstat(descriptor)
        private = stat.S_ISREG(found.st_mode) and _is_ours(found) and not found.st_mode & 0o077
        return file.read() if private else None


def _write_private(folder: Path, content: bytes) -> None:
    """Put the cache in place at once and whole; a folder that cannot be used is left alone."""
    draft = folder / f"{CACHE_NAME}.{os.getpid()}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private_folder(folder):
            return
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, opened exclusively
            file.write(content)
        draft.replace(folder / CACHE_NAME)
    except OSError:  # read-only or full: the next process builds it again, this one works from memory
        try:
            draft.unlink(missing_ok=True)
        except OSError:
            pass
