"""Sentences cut to what carries them: at clauses, never in the middle of one."""

from __future__ import annotations

import re

from pipimem.sidecar.offline.sentences import is_chinese
from pipimem.text.han import HAN

# Where a clause may end: a Chinese comma, an English one before a space, a dash, a conjunction.
_CLAUSE = re.compile(r"[，；]|[,;:](?=\s)|\s[-–—]+\s|\s+(?=(?:because|but|so that|which|although|while)\s)")
_FILLER_ZH = re.compile(
    rf"其实|真的是?(?=[{HAN}])|就是说|(?<![的种个])(?:我?感觉(?:自己)?|我觉得)(?=[{HAN}])|有点儿?|一下子?(?=[^{HAN}]|$)|非常地?"
    r"|特别(?!是)地?|十分(?![钟之])|总的来说|的话(?=，|$)|[呢吧啊呀哦啦嘛](?=[，。、；！]|$)|哈哈+|说实话|老实说|也就是|基本上"
)
_FILLER_EN = re.compile(
    r"(?<!what )(?<!some )(?<!any )(?<!this )(?<!that )\b(?:really|very|just|actually|basically|literally|totally|absolutely|definitely|super|pretty much|kind of|sort of"
    r"|honestly|you know|I mean|of course|quite)(?!-)\b ?",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?:\b[Oo]n )?(\d{4}-\d\d-\d\d) ?")
_CRAMPED = re.compile(rf"(?<=[{HAN}])(?=\d{{4}}-\d\d)|(?<=\d\d-\d\d)(?=[{HAN}])")
_QUOTED = re.compile(r"(「[^」]*」|『[^』]*』|“[^”]*”|《[^》]*》|\"[^\"]*\"|`[^`]*`)")
# Feelings and thanks around a fact are not the fact.
_FEELING_ZH = re.compile(
    r"^(?:谢谢|感谢|很高兴|真是|太|好想|希望|让(?:自己|我|人)(?:感到|觉得)?|(?:自己|我)?(?:感到|觉得|感觉)|我会|会去|听起来|你|您"
    r"|有没有|不知道|请问|想[和跟][你您]|(?:真|非常|很|好)(?:棒|美|好|不错|开心|有趣|舒服|漂亮|美丽|感人)|收获很多|心情)"
)
_DANGLING = re.compile(
    r"(?:\s+(?:and|or|but|because|so|that|which)|[，,、：:；;-]"
    rf"|(?<=[{HAN}])[吧呢啊呀哦啦嘛])+$",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:and|but|so|then|because)\s+|(?:所以|但是?|其实|而且|因此|然后|并且|因为|不过|而|就|也就)(?=[^，]{4})"
    rf"|那(?=[我就么]|[{HAN}]{{2,3}}\d)"
    r"|[，,、：:；;\s-]+)",
    re.IGNORECASE,
)


def clauses(text: str) -> list[tuple[int, str]]:
    """The clauses of a sentence with where each begins."""
    found: list[tuple[int, str]] = []
    start = 0
    masked = _QUOTED.sub(lambda quoted: "·" * len(quoted[0]), text)  # no clause ends inside a quotation
    for end in _CLAUSE.finditer(masked):
        found.append((start, text[start : end.start()]))
        start = end.end()
    found.append((start, text[start:]))
    return [(place, part) for place, part in found if part.strip()]


def core(text: str, at: int, limit: int) -> str:
    """Whole clauses around position `at`, at most `limit` characters; nothing if that clause alone is longer."""
    parts = [part for part in clauses(text) if not _FEELING_ZH.match(part[1]) or part[0] <= at < part[0] + len(part[1])]
    holder = max((n for n, (place, _) in enumerate(parts) if place <= at), default=0)
    first = last = holder
    if not parts or len(parts[holder][1]) > limit:
        return ""
    while True:
        if last + 1 < len(parts) and _size(parts, first, last + 1) <= limit:
            last += 1
        elif first > 0 and _size(parts, first - 1, last) <= limit:
            first -= 1
        else:
            break
    return trimmed(_joined(text, parts[first : last + 1]))


def _size(parts: list[tuple[int, str]], first: int, last: int) -> int:
    return sum(len(part) + 2 for _, part in parts[first : last + 1])


def _joined(text: str, parts: list[tuple[int, str]]) -> str:
    """The parts with the signs that stood behind them."""
    out: list[str] = []
    end = 0
    for place, part in parts:
        if out:
            between = text[end:place]
            comma = "，" if is_chinese(text) else ", "
            out.append(comma if any(map(str.isalnum, between)) else between)
        out.append(part)
        end = place + len(part)
    return "".join(out)


def trimmed(text: str) -> str:
    """Without a conjunction in front or words left hanging behind."""
    return _DANGLING.sub("", _LEADING.sub("", text.strip())).strip()


def dates_once(text: str) -> str:
    """Each date once, and apart from Chinese characters."""
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        date = found[1]
        if date in seen:
            return ""
        seen.add(date)
        return found[0]

    return _CRAMPED.sub(" ", _ISO.sub(first, text)).strip()


def tightened(text: str) -> str:
    """As a headline: without fillers."""
    pattern = _FILLER_ZH if is_chinese(text) else _FILLER_EN
    parts = _QUOTED.split(text)  # every second part is a title or somebody's own words
    parts[::2] = [pattern.sub("", part) for part in parts[::2]]
    return " ".join("".join(parts).split())
