"""Lines of Markdown: cut with their endings, joined again, and what each can open by itself.

A bullet, a heading, a rule, a fence, a table, HTML.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipimem.text.patterns import replaced

_TICKS = re.compile(r"`+")
_OPEN, _CLOSE = "<!--", "-->"


class VisibleText(NamedTuple):
    """A line without its comments."""

    visible: str
    begins_hidden: bool
    """The line began inside a comment, or with one."""
    ends_hidden: bool
    """The line ended inside a comment."""


def cut(lines: Sequence[str], number: int, text: str, *, inside: bool, markup: bool) -> VisibleText:
    """`text`, which is line `number` of `lines` (perhaps without ending), without its comments.

    A comment that begins its line goes on to its "-->", or to the end of the file. One that begins
    later in the line must be closed before a blank line and before the next "<!--"; else "<!--" is
    just what somebody wrote, and must not hide the rest of the file. In a `code span` it is text as
    well. In `markup` (a block of HTML) a comment always goes on to its "-->", as a browser sees it.
    """
    pieces: list[str] = []
    visible, begins_hidden, position = False, inside, 0
    # Looked up once: a line of 10,000 "<!--" must not be searched to its end 10,000 times.
    last_close = text.rfind(_CLOSE)
    if inside:
        if last_close < 0:
            return VisibleText("", begins_hidden=True, ends_hidden=True)
        position = text.find(_CLOSE) + len(_CLOSE)
    for opened in _openings(text):
        if opened < position:
            continue
        visible |= bool(text[position:opened].strip())
        begins_hidden |= not visible
        if opened + 2 <= last_close:  # "<!-->" is a whole comment in HTML
            pieces.append(text[position:opened])
            position = text.find(_CLOSE, opened + 2) + len(_CLOSE)
        elif markup or not visible or _closed_below(lines, number, text, opened):
            return VisibleText(
                _joined([*pieces, text[position:opened]]).rstrip(), begins_hidden, ends_hidden=True
            )
    return VisibleText(_joined([*pieces, text[position:]]), begins_hidden, ends_hidden=False)


def _openings(text: str) -> Iterator[int]:
    """Where comments may begin in a line: each "<!--" that does not stand in a `code span`."""
    code = ((start, end, "`" * (end - start)) for start, end in _code_spans(text))
    blanked = replaced(text, code)
    opened = blanked.find(_OPEN)
    while opened >= 0:
        yield opened
        opened = blanked.find(_OPEN, opened + 1)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """The code spans of a line: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    reached = 0
    for index, (start, _) in enumerate(runs):
        closed = _closing_ticks(runs, index) if start >= reached else 0
        if closed:
            yield start, closed
            reached = closed


def _closing_ticks(runs: Sequence[tuple[int, int]], index: int) -> int:
    """Where the next run as long as that one ends; 0 if there is none.

    Of each length one run at most finds no other: even a long line is gone through few times.
    """
    start, end = runs[index]
    for place in range(index + 1, len(runs)):
        opened, closed = runs[place]
        if closed - opened == end - start:
            return closed
    return 0


def _closed_below(lines: Sequence[str], number: int, text: str, opened: int) -> bool:
    """Whether the comment is closed in a line below, before a blank line and the next "<!--"."""
    if text.find(_OPEN, opened + 1) >= 0:
        return False
    for below in range(number + 1, len(lines)):
        line = lines[below]
        before_close, close, _ = line.partition(_CLOSE)
        if close and _OPEN not in before_close:
            return True
        if _OPEN in line or not line.strip():
            return False
    return False


def _joined(pieces: list[str]) -> str:
    """What stood around the comments of a line, with one space where cutting left two."""
    kept = [""]
    for piece in filter(None, pieces):
        spaced = kept[-1].endswith((" ", "\t")) and piece.startswith((" ", "\t"))
        kept.append(piece.lstrip(" \t") if spaced else piece)
    return "".join(kept)


BOM = "\ufeff"
"""The byte order mark some Windows editors put at the beginning of a file; it is no text."""


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of `text`, each with its ending; joined they are `text` again.

    Only "\\n", "\\r\\n" and "\\r" end a line. `str.splitlines` also breaks at form feeds and
    U+2028, which no editor shows as a new line: line numbers would no longer agree with what people
    see.
    """
    # newline="" makes the reader break at all three endings and translate none; it runs in C.
    return tuple(io.StringIO(text, newline=""))


def without_ending(line: str) -> str:
    """`line` without its "\\n", "\\r\\n" or "\\r"."""
    return line.rstrip("\r\n")


def line_ending(lines: Iterable[str]) -> str:
    """The ending most of the lines have; "\\n" where there is none, or as many of each."""
    text = "".join(lines)
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda ending: counts[ending])


def white_folded(text: str) -> str:
    """The text on one line: every run of white space as one blank, and none at its ends."""
    return " ".join(text.split())


# Markdown counts indentation in columns, and a tab goes to the next fourth.
TAB = 4
# From this column on a line is code (CommonMark 4.4), unless something above it is still open.
CODE_COLUMN = 4

_YAML_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#\[{:-][^:]*):(\s|$)""")
_BULLET = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"[ \t]*(#{1,6})(?:[ \t]+|$)")
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
# One "-" alone is an empty bullet somebody is about to fill, so an underline needs two.
_UNDERLINE = re.compile(r"[ \t]*(=+|--+)[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)(?=[ \t>]|/>|$)")
_LONE_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:[ \t][^<>]*)?/?>[ \t]*$")
_VERBATIM_TAGS = frozenset({"pre", "script", "style", "textarea"})
# CommonMark 4.6, kind 6. A set, not a pattern: compiling these alternatives took 4 ms of every
# start.
_BLOCK_TAGS = frozenset(
    """address article aside base basefont blockquote body caption center col colgroup dd
    details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3
    h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol
    optgroup option p param search section summary table tbody td tfoot th thead title tr track
    ul""".split()  # noqa: SIM905 - reads better than 62 quoted words
)


class BulletMark(NamedTuple):
    """A bullet at the beginning of a line.

    Its marker with indentation and spaces, its column, the rest.
    """

    marker: str
    column: int
    rest: str
    interrupts: bool
    """Whether it may end a paragraph.

    "1986. A year" must not: it is a sentence that wrapped at a number.
    """


def indentation(text: str) -> int:
    """The column where the text of a line begins.

    Only spaces and tabs indent, a full-width space is text.
    """
    bare = text.lstrip(" \t")
    lead = text[: len(text) - len(bare)]
    return len(lead.expandtabs(TAB)) if "\t" in lead else len(lead)


def dedented(text: str, columns: int) -> str:
    """`text` moved to the left by at most so many columns of indentation."""
    column = indentation(text)
    return " " * max(0, column - columns) + text.lstrip(" \t")


def bullet(text: str) -> BulletMark | None:
    """The bullet a line begins with."""
    match = _BULLET.match(text)
    if match is None:
        return None
    sign, rest = match[2], text[match.end() :]
    if rest.startswith(sign) and is_rule(text):  # "- - -"
        return None
    return BulletMark(match[0], indentation(match[1]), rest, sign in ("-", "*", "+", "1.", "1)"))


def heading(text: str) -> tuple[int, str, str] | None:
    """Level, marker and title of a `# heading`; "#tag" is none."""
    match = _HEADING.match(text)
    if match is None:
        return None
    title = text[match.end() :].strip()
    opened = title.rstrip("#")
    if opened == "" or opened[-1] in " \t":  # "# C#" keeps its "#", "# C #" is closed by one
        title = opened.rstrip()
    return len(match[1]), match[0], title


def underline(text: str) -> int:
    """The level a line of "=" or "-" gives to the paragraph above it; 0 if it is none."""
    match = _UNDERLINE.match(text)
    if match is None:
        return 0
    return 1 if match[1].startswith("=") else 2


def is_rule(text: str) -> bool:
    """Whether the line is a rule: three or more of one of "-", "*", "_"."""
    return _RULE.match(text) is not None


def is_quoted(text: str) -> bool:
    """Whether the line is one of a quote: behind its indentation stands a ">"."""
    return text.lstrip(" \t").startswith(">")


def fence(text: str) -> str:
    """The backticks or tildes that open a block of code on this line, also behind bullets.

    "" if none.
    """
    match = _FENCE.match(text)
    return "" if match is None else match[1]


def closes_fence(text: str, opened: str) -> bool:
    """Whether the line ends the block of code that `opened` began."""
    bare = text.strip(" \t")
    return len(bare) >= len(opened) and bare == opened[0] * len(bare)


def opens_table(text: str, following: str) -> bool:
    """Whether the line is the first row of a table: by the line below, or by its leading "|"."""
    if text.lstrip(" \t").startswith("|"):
        return True
    return "|" in text and "|" in following and _DELIMITER.match(following.strip()) is not None


def opens_html(text: str, *, in_paragraph: bool = False) -> str | None:
    """What ends the HTML the line opens: a closing tag, or "" for a blank line.

    None if it opens none.
    """
    bare = text.lstrip(" \t")
    if not bare.startswith("<"):
        return None
    tag = _tag_name(bare)
    if tag in _VERBATIM_TAGS and bare[1] != "/":
        return f"</{tag}>"
    if tag in _BLOCK_TAGS or bare.startswith(("<?", "<!")):
        return ""
    return "" if not in_paragraph and _LONE_TAG.match(bare) else None


def _tag_name(text: str) -> str:
    found = _TAG.match(text)
    return found[1].lower() if found else ""


def front_matter(lines: tuple[str, ...]) -> int:
    """How many lines of YAML stand at the very top, fences included.

    Two rules around some text look the same; it is front matter only if its first line is a key.
    """
    if not lines or lines[0].removeprefix(BOM).rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return number if _begins_with_key(lines[1 : number - 1]) else 0
    return 0


def _begins_with_key(lines: tuple[str, ...]) -> bool:
    """Whether the first line that is no comment is a key of YAML; also where there is none."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            return _YAML_KEY.match(line) is not None
    return True
