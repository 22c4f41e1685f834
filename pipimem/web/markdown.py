"""Markdown of a memory as HTML that can do nothing: no script, no foreign image, no odd link."""

from __future__ import annotations

import re
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

# Longer blocks are shown as they are, and cut: nobody reads a line of a megabyte.
_MOST_CHARS = 20_000
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}
# Signs that turn the order of what follows, or that nobody sees.
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)

_TICKED = re.compile("`([^`\n]+)`")


@cache  # it has no state of its own
def _parser() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False})
        .enable(["table", "strikethrough"])
        .disable("image")
    )


def rendered(text: str) -> Markup:
    """A block of Markdown as HTML."""
    if len(text) > _MOST_CHARS:
        return Markup("<pre>{}</pre>").format(plain(text))
    html = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes={"a": {"href", "title"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(_UNSEEN.sub(_visible, html))  # noqa: S704 - cleaned above


def plain(text: str, most: int = _MOST_CHARS) -> Markup:
    """A text as it is, cut where it is very long, with unseen signs made visible."""
    kept = text if len(text) <= most else f"{text[:most]} … (+{len(text) - most:,})"
    return Markup(_UNSEEN.sub(_visible, str(escape(kept))))  # noqa: S704 - escaped


def ticked(text: str, most: int = _MOST_CHARS) -> Markup:
    """A sentence of ours: what stands between backticks is to be typed as it is."""
    kept = str(plain(text, most))
    return Markup(_TICKED.sub(r"<code>\1</code>", kept))  # noqa: S704 - escaped by `plain`


def _visible(sign: re.Match[str]) -> str:
    return f"<code>U+{ord(sign[0]):04X}</code>"
